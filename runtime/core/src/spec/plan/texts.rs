//! The arguments of a request that are sent as texts.

use std::collections::BTreeMap;

use super::{Body, BodySource, Codec, Encoding, Part, RequestPlan};
use crate::base::frozen::{List, Text};
use crate::spec::template::{Root, Template};

/// The arguments of a request, with whether each is a text everywhere.
#[derive(Default)]
struct Places<'p>(BTreeMap<&'p Text, bool>);

impl<'p> Places<'p> {
    fn add(&mut self, argument: &'p Text, is_text: bool) {
        let known = self.0.entry(argument).or_insert(true);
        *known &= is_text;
    }

    fn body(&mut self, body: &'p Body) {
        let parts = match &body.codec {
            Codec::Form(parts) | Codec::Multipart(parts) => Some(parts),
            _ => None,
        };
        match &body.source {
            BodySource::Fields(fields) => fields.iter().for_each(|field| {
                self.add(&field.argument, parts.is_some_and(|parts| is_text(Part::of(parts, &field.name))));
            }),
            BodySource::Argument(name) => {
                let form = parts.is_some_and(|parts| parts.iter().all(|part| is_text(Some(part))));
                self.add(name, form || body.codec == Codec::Text);
            }
        }
    }
}

/// Whether scalars of a field are sent as texts.
fn is_text(part: Option<&Part>) -> bool {
    let Some(part) = part else { return true };
    let kind = part.content_type.as_str();
    !part.file
        && (kind.is_empty() || kind.starts_with("text/plain"))
        && matches!(part.encoding, None | Some(Encoding::Style { .. }))
}

impl RequestPlan {
    /// Returns the arguments of a call that are sent as texts and nowhere as anything else: those of the path, the query,
    /// headers, cookies and forms.
    #[must_use]
    pub fn texts(&self) -> List<Text> {
        let mut places = Places::default();
        for parameter in &self.parameters {
            places.add(&parameter.argument, matches!(parameter.encoding, Encoding::Style { .. }));
        }
        if let Some(body) = &self.body {
            places.body(body);
        }
        for (name, template) in &self.derived {
            let whole = matches!(template, Template::Value(_) | Template::Text(_) | Template::With(..));
            let is_text = whole && places.0.get(name).copied().unwrap_or(false);
            template.references(&mut |reference| {
                if let Root::Argument(argument) = &reference.root {
                    places.add(argument, is_text && reference.path.is_empty());
                }
            });
        }
        let is_same = |template: &Template| matches!(template, Template::With(..));
        let is_given =
            |name: &Text| self.derived.iter().all(|(derived, made)| derived != name || is_same(made));
        places
            .0
            .into_iter()
            .filter(|(name, is_text)| *is_text && is_given(name))
            .map(|(name, _)| name.clone())
            .collect()
    }
}
