//! Changes of the values that one keyword allows.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Class, Given};
use crate::base::canonical::canonical;

/// The side that must keep to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spec) enum Side {
    /// The caller: allowing more is compatible.
    Input,
    /// The tool: allowing less is compatible.
    Output,
    /// Unknown, or both.
    Either,
}

/// A change of the values that a keyword allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The same ones, written differently.
    Same,
    Wider,
    Narrower,
    /// Others.
    Other,
}

impl Turn {
    pub(super) fn flipped(self) -> Turn {
        match self {
            Turn::Wider => Turn::Narrower,
            Turn::Narrower => Turn::Wider,
            other => other,
        }
    }

    /// Returns what the change means to the other side, and why.
    pub(super) fn class(self, side: Side) -> (Class, &'static str) {
        match (self, side) {
            (Turn::Same, _) => (Class::Text, "the same values are allowed"),
            (Turn::Wider, Side::Input) => (Class::Compatible, "all arguments that were accepted still are"),
            (Turn::Narrower, Side::Output) => (Class::Compatible, "all results are as promised before"),
            (Turn::Wider, _) | (Turn::Other, Side::Output) => {
                (Class::Breaking, "results may be what was not promised before")
            }
            (Turn::Narrower | Turn::Other, _) => {
                (Class::Breaking, "arguments that were accepted may be refused")
            }
        }
    }
}

/// The types of JSON Schema, an integer being a number as well.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Returns the change of a rule; `None` if the keyword is not known.
pub(super) fn rule(key: &str, given: Given<'_>, side: Side) -> Option<Turn> {
    let (old, new) = given;
    Some(match key {
        "type" => types(old, new),
        "required" => sets(texts_of(old, &[]), texts_of(new, &[])).map_or(Turn::Other, Turn::flipped),
        "x-aliases" => sets(texts_of(old, &[]), texts_of(new, &[])).unwrap_or(Turn::Other),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" | "minContains" => {
            bound(given, false)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" | "maxContains" => {
            bound(given, true)
        }
        "dependentRequired" | "dependentSchemas" | "unevaluatedProperties" | "unevaluatedItems" => {
            presence(given)
        }
        "uniqueItems" => flag(given).flipped(),
        "nullable" => flag(given),
        // What is only read is not an argument, and what is only written is in no result.
        "readOnly" if side == Side::Output => Turn::Same,
        "writeOnly" if side == Side::Input => Turn::Same,
        "readOnly" | "writeOnly" => Turn::Other,
        _ => return None,
    })
}

/// Compares switches that allow more, and are off if absent.
fn flag((old, new): Given<'_>) -> Turn {
    match (old.unwrap_or(&Value::Bool(false)), new.unwrap_or(&Value::Bool(false))) {
        (Value::Bool(old), Value::Bool(new)) if old == new => Turn::Same,
        (Value::Bool(_), Value::Bool(true)) => Turn::Wider,
        (Value::Bool(_), Value::Bool(false)) => Turn::Narrower,
        _ => Turn::Other,
    }
}

/// Returns a schema that allows everything or nothing as what it is.
pub(super) fn as_bool(schema: Option<&Value>) -> Option<bool> {
    match schema {
        Some(Value::Bool(all)) => Some(*all),
        Some(Value::Object(members)) if members.is_empty() => Some(true),
        _ => None,
    }
}

/// Compares sets of allowed values.
fn sets(old: Option<BTreeSet<String>>, new: Option<BTreeSet<String>>) -> Option<Turn> {
    let (old, new) = (old?, new?);
    Some(match (old.is_subset(&new), new.is_subset(&old)) {
        (true, true) => Turn::Same,
        (true, false) => Turn::Wider,
        (false, true) => Turn::Narrower,
        (false, false) => Turn::Other,
    })
}

/// Returns the texts of a list, or of one text. `None` if it has something else.
fn texts_of(value: Option<&Value>, default: &[&str]) -> Option<BTreeSet<String>> {
    match value {
        None => Some(default.iter().map(|text| (*text).to_owned()).collect()),
        Some(Value::String(text)) => Some(BTreeSet::from([text.clone()])),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    }
}

fn types(old: Option<&Value>, new: Option<&Value>) -> Turn {
    let all = |value: Option<&Value>| {
        let mut types = texts_of(value, &TYPES)?;
        if types.contains("number") {
            types.insert("integer".to_owned());
        }
        types.iter().all(|one| TYPES.contains(&one.as_str())).then_some(types)
    };
    sets(all(old), all(new)).unwrap_or(Turn::Other)
}

/// Compares lists of allowed values, or single ones. No list allows everything.
pub(super) fn listed((old, new): Given<'_>, single: bool) -> Turn {
    let values = |value: &Value| -> Option<BTreeSet<String>> {
        match value {
            _ if single => Some(BTreeSet::from([canonical(value)])),
            Value::Array(items) => Some(items.iter().map(canonical).collect()),
            _ => None,
        }
    };
    match (old, new) {
        (Some(old), Some(new)) => sets(values(old), values(new)).unwrap_or(Turn::Other),
        _ => presence((old, new)),
    }
}

/// Compares bounds; having none allows the most.
fn bound((old, new): Given<'_>, upper: bool) -> Turn {
    match (old.map(Value::as_f64), new.map(Value::as_f64)) {
        (Some(Some(old)), Some(Some(new))) if old < new => {
            if upper {
                Turn::Wider
            } else {
                Turn::Narrower
            }
        }
        (Some(Some(old)), Some(Some(new))) if old > new => {
            if upper {
                Turn::Narrower
            } else {
                Turn::Wider
            }
        }
        (Some(Some(_)), None) | (None, Some(Some(_))) => presence((old, new)),
        _ => Turn::Other,
    }
}

/// Compares rules of which it is only known that having none allows the most.
pub(super) fn presence((old, new): Given<'_>) -> Turn {
    match (old, new) {
        (None, Some(_)) => Turn::Narrower,
        (Some(_), None) => Turn::Wider,
        _ => Turn::Other,
    }
}
