//! Enumerated strings that a document repeats: they become one type.

use std::collections::BTreeMap;

use toolgen_core::schema::shape::{Kind, Literal, find_def};
use toolgen_core::{Def, List, Shape};

use super::model::TypeRequest;
use super::scalars::are_named_integers;
use super::usage::Usage;
use crate::shape_walk::parts;

/// The enumerations of strings of a document, by their values.
#[derive(Default)]
pub(super) struct RepeatLayer {
    /// The number of unnamed shapes that have the enumeration.
    counts: BTreeMap<String, usize>,
    /// The first named shape of the enumeration.
    by_key: BTreeMap<String, String>,
}

impl RepeatLayer {
    /// Finds the enumerations in the tools and in the named shapes that they reach.
    pub(super) fn of(
        tools: &[TypeRequest<'_>],
        defs: &List<Def>,
        usage: &BTreeMap<String, Usage>,
    ) -> RepeatLayer {
        let mut repeats = RepeatLayer::default();
        for TypeRequest { spec, .. } in tools {
            repeats.visit(&spec.input);
            if let Some(output) = &spec.output {
                repeats.visit(output);
            }
        }
        for name in usage.keys() {
            let Some(shape) = find_def(defs, name) else { continue };
            match key(shape) {
                Some(key) => {
                    repeats.by_key.entry(key).or_insert_with(|| name.clone());
                }
                None => repeats.visit(shape),
            }
        }
        repeats
    }

    fn visit(&mut self, shape: &Shape) {
        let mut pending = vec![shape];
        while let Some(shape) = pending.pop() {
            match key(shape) {
                Some(key) => *self.counts.entry(key).or_default() += 1,
                None => pending.extend(parts(shape).into_iter().map(|(_, part)| part)),
            }
        }
    }

    /// Whether several unnamed shapes have this enumeration with more than one value.
    pub(super) fn is_repeated(&self, key: &str) -> bool {
        key.matches('\0').count() > 1 && self.counts.get(key).is_some_and(|count| *count > 1)
    }

    /// Returns the named shape of this enumeration.
    pub(super) fn named(&self, key: &str) -> Option<&str> {
        self.by_key.get(key).map(String::as_str)
    }
}

/// Returns a key for an enumeration of strings, or of named integers: its values and their names.
pub(super) fn key(shape: &Shape) -> Option<String> {
    let Kind::Enum(values) = &shape.kind else { return None };
    let are_integers = are_named_integers(values, &shape.choices);
    let mut key = String::new();
    for value in values {
        match value {
            Literal::String(text) => key.push_str(text),
            value if are_integers => key += &value.to_json().to_string(),
            _ => return None,
        }
        key.push('\0');
    }
    if are_integers {
        key.push('#');
    }
    // Values with other names form another type.
    for choice in values.iter().filter_map(|value| shape.choices.of(value)) {
        key += &format!("{}\n", choice.name);
    }
    Some(key)
}
