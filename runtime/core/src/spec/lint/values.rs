//! Arguments whose schemas accept no value.

use super::{Findings, Lint, walk};
use crate::schema::shape::never::Never;
use crate::schema::shape::{Field, Kind, object_in};

/// What is known about the schemas of the tools before.
#[derive(Default)]
pub(super) struct Values<'a> {
    seen: walk::Visited,
    never: Option<Never<'a>>,
}

const HELP: &str = "correct the rules that exclude one another or require something within itself without end, or leave the tool out";

impl<'a> Findings<'a> {
    /// Reports arguments that can never be given, and a tool that can never be called.
    pub(super) fn of_values(&mut self, values: &mut Values<'a>) {
        let spec = self.spec;
        let Values { seen, never } = values;
        let mut never =
            never.take().filter(|never| never.is_among(&spec.defs)).unwrap_or_else(|| Never::new(&spec.defs));
        let mut told: Vec<String> = Vec::new();
        if let Some(why) = never.why(&spec.input) {
            let required = object_in(&spec.input, &spec.defs).into_iter().flat_map(|rules| &rules.fields);
            let required: Vec<&Field> = required.filter(|field| field.required).collect();
            let vain = required.into_iter().filter(|field| never.why(&field.shape).is_some());
            told.extend(vain.map(|field| field.name.to_string()));
            let message = format!("the tool `{}` can never be called: {why}", spec.name);
            self.add(Lint::NoValue, told.get(..1).unwrap_or_default(), message, HELP);
        }
        for (place, shape, is_choice) in walk::shapes(spec, seen) {
            let is_within = |outer: &String| {
                place
                    .strip_prefix(outer.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            // `false` says on purpose that there is no such key, and of several forms others may be given.
            let is_meant = is_choice || shape.kind == Kind::Never;
            if place.is_empty() || is_meant || told.iter().any(is_within) {
                continue;
            }
            if let Some(why) = never.why(shape) {
                let message = format!(
                    "the argument `{place}` of the tool `{}` can never be given, as no value fits it: {why}",
                    spec.name
                );
                self.add(Lint::NoValue, std::slice::from_ref(&place), message, HELP);
                told.push(place);
            }
        }
        values.never = Some(never);
    }
}
