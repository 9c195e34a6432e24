//! Finds arguments whose schemas accept no value.

use super::{Findings, Lint, shape_walk};
use crate::schema::shape::never::Never;
use crate::schema::shape::{Field, Kind, object_in};

/// State that is shared by the checks of all tools.
#[derive(Default)]
pub(super) struct SharedState<'a> {
    visited: shape_walk::Visited,
    never: Option<Never<'a>>,
}

const HELP: &str =
    "correct the rules that contradict each other or require infinite nesting, or omit the tool";

impl<'a> Findings<'a> {
    /// Reports arguments that can never be passed, and a tool that can never be called.
    pub(super) fn check_values(&mut self, state: &mut SharedState<'a>) {
        let spec = self.spec;
        let SharedState { visited, never } = state;
        let mut never =
            never.take().filter(|never| never.is_among(&spec.defs)).unwrap_or_else(|| Never::new(&spec.defs));
        let mut reported: Vec<String> = Vec::new();
        if let Some(reason) = never.why(&spec.input) {
            let required = object_in(&spec.input, &spec.defs).into_iter().flat_map(|rules| &rules.fields);
            let required: Vec<&Field> = required.filter(|field| field.required).collect();
            let unsatisfiable = required.into_iter().filter(|field| never.why(&field.shape).is_some());
            reported.extend(unsatisfiable.map(|field| field.name.to_string()));
            let message = format!("the tool `{}` can never be called: {reason}", spec.name);
            self.add(Lint::NoValue, reported.get(..1).unwrap_or_default(), message, HELP);
        }
        for (location, shape, is_variant) in shape_walk::shapes(spec, visited) {
            let is_inside = |outer: &String| {
                location
                    .strip_prefix(outer.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            // `false` forbids a key on purpose, and other variants of a union may accept values.
            let is_intended = is_variant || shape.kind == Kind::Never;
            if location.is_empty() || is_intended || reported.iter().any(is_inside) {
                continue;
            }
            if let Some(reason) = never.why(shape) {
                let message = format!(
                    "the argument `{location}` of the tool `{}` accepts no value: {reason}",
                    spec.name
                );
                self.add(Lint::NoValue, std::slice::from_ref(&location), message, HELP);
                reported.push(location);
            }
        }
        state.never = Some(never);
    }
}
