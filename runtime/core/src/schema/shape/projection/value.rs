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
    let unmatched = paths.iter().filter(|path| !matches(value, path, true)).map(|path| (*path).to_owned());
    let has_parts = paths.iter().any(|path| matches(value, path, false));
    Projected { value: select(value, paths), unmatched: unmatched.collect(), has_parts }
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

/// Whether a path selects a part of a value. An empty array may have any parts, and `null` if `null_has_parts` is set.
fn matches(value: &Value, path: &str, null_has_parts: bool) -> bool {
    match value {
        Value::Null => null_has_parts,
        Value::Array(items) => {
            items.is_empty() || items.iter().any(|item| matches(item, path, null_has_parts))
        }
        Value::Object(members) => members.iter().any(|(name, member)| {
            name == path || rest_after(path, name).is_some_and(|rest| matches(member, rest, null_has_parts))
        }),
        _ => false,
    }
}
