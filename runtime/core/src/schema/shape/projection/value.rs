//! The parts of a value that paths select.

use serde_json::{Map, Value};

use super::{Selection, rest_after};

/// A projected value.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    /// The selected parts.
    pub value: Value,
    /// The paths that select no part, in their order.
    pub unmatched: Vec<String>,
    /// Whether a path selects a part that is certainly present.
    pub has_parts: bool,
}

/// Returns the parts of a value that paths select. Objects keep their order, and arrays the number of their items.
#[must_use]
pub fn project(value: &Value, paths: &[&str]) -> Projected {
    let unmatched = paths.iter().filter(|path| !matches(value, path)).map(|path| (*path).to_owned());
    let has_parts = paths.iter().any(|path| has(value, path));
    Projected { value: select(value, paths), unmatched: unmatched.collect(), has_parts }
}

/// Whether a path selects a part of a value. An empty array has all parts of its items; `null` has none.
fn has(value: &Value, path: &str) -> bool {
    match value {
        Value::Array(items) => items.is_empty() || items.iter().any(|item| has(item, path)),
        Value::Object(members) => members.iter().any(|(name, member)| {
            name == path || rest_after(path, name).is_some_and(|rest| has(member, rest))
        }),
        _ => false,
    }
}

fn select(value: &Value, paths: &[&str]) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| select(item, paths)).collect(),
        Value::Object(members) => {
            let mut selected = Map::new();
            for (name, member) in members {
                match Selection::of(paths, name) {
                    Selection::Nothing => {}
                    Selection::Whole => {
                        selected.insert(name.clone(), member.clone());
                    }
                    Selection::Parts(parts) => {
                        selected.insert(name.clone(), select(member, &parts));
                    }
                }
            }
            Value::Object(selected)
        }
        scalar => scalar.clone(),
    }
}

/// Whether a path selects a part of a value, or might: `null` and an empty array may have any parts.
fn matches(value: &Value, path: &str) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty() || items.iter().any(|item| matches(item, path)),
        Value::Object(members) => members.iter().any(|(name, member)| {
            name == path || rest_after(path, name).is_some_and(|rest| matches(member, rest))
        }),
        _ => false,
    }
}
