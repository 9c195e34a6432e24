//! Finds arguments whose schemas accept no value.

use super::{Findings, Lint, shape_walk};
use crate::schema::shape::never::Never;
use crate::schema::shape::{Field, Kind, object_in};

/// State that is shared by the checks of all tools.
#[derive(Default)]
pub(super) struct Values<'a> {
    seen: shape_walk::Visited,
    never: Option<Never<'a>>,
}

const HELP: &str =
    "correct the rules that contradict each other or require infinite nesting, or omit the tool";

impl<'a> Findings<'a> {
    /// Reports arguments that can never be passed, and a tool that can never be called.
    pub(super) fn of_values(&mut self, values: &mut Values<'a>) {
        let spec = self.spec;
        let Values { seen, never } = values;
        let mut never =
            never.take().filter(|never| never.is_among(&spec.defs)).unwrap_or_else(|| Never::new(&spec.defs));
        let mut messages: Vec<String> = Vec::new();
        if let Some(reason) = never.why(&spec.input) {
            let required = object_in(&spec.input, &spec.defs).into_iter().flat_map(|rules| &rules.fields);
            let required: Vec<&Field> = required.filter(|field| field.required).collect();
            let vain = required.into_iter().filter(|field| never.why(&field.shape).is_some());
            messages.extend(vain.map(|field| field.name.to_string()));
            let message = format!("the tool `{}` can never be called: {reason}", spec.name);
            self.add(Lint::NoValue, messages.get(..1).unwrap_or_default(), message, HELP);
        }
        for (location, shape, is_choice) in shape_walk::shapes(spec, seen) {
            let is_within = |outer: &String| {
                location
                    .strip_prefix(outer.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            // `false` forbids a key on purpose, and other variants of a union may accept values.
            let is_meant = is_choice || shape.kind == Kind::Never;
            if location.is_empty() || is_meant || messages.iter().any(is_within) {
                continue;
            }
            if let Some(reason) = never.why(shape) {
                let message = format!(
                    "the argument `{location}` of the tool `{}` accepts no value: {reason}",
                    spec.name
                );
                self.add(Lint::NoValue, std::slice::from_ref(&location), message, HELP);
                messages.push(location);
            }
        }
        values.never = Some(never);
    }
}
