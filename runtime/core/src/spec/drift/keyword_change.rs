//! Changes of the set of values that a keyword allows.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{BeforeAfter, ChangeClass};
use crate::base::canonical::canonical;

/// The side that must follow a schema.
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
pub(super) enum KeywordChange {
    /// The same values, in another notation.
    Same,
    Wider,
    Narrower,
    /// Other values.
    Other,
}

impl KeywordChange {
    pub(super) fn flipped(self) -> KeywordChange {
        match self {
            KeywordChange::Wider => KeywordChange::Narrower,
            KeywordChange::Narrower => KeywordChange::Wider,
            other => other,
        }
    }

    /// Returns the class of the change for the other side, and the reason.
    pub(super) fn class(self, side: Side) -> (ChangeClass, &'static str) {
        match (self, side) {
            (KeywordChange::Same, _) => (ChangeClass::Text, "the same values are allowed"),
            (KeywordChange::Wider, Side::Input) => {
                (ChangeClass::Compatible, "all arguments that were accepted still are")
            }
            (KeywordChange::Narrower, Side::Output) => {
                (ChangeClass::Compatible, "all results still match the old schema")
            }
            (KeywordChange::Wider, _) | (KeywordChange::Other, Side::Output) => {
                (ChangeClass::Breaking, "results may violate the old schema")
            }
            (KeywordChange::Narrower | KeywordChange::Other, _) => {
                (ChangeClass::Breaking, "arguments that were accepted may be rejected")
            }
        }
    }
}

/// The types of JSON Schema; an integer is also a number.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Returns the change of a rule; `None` if the keyword is unknown.
pub(super) fn rule(key: &str, given: BeforeAfter<'_>, side: Side) -> Option<KeywordChange> {
    let (old, new) = given;
    Some(match key {
        "type" => types(old, new),
        "required" => {
            sets(texts_of(old, &[]), texts_of(new, &[])).map_or(KeywordChange::Other, KeywordChange::flipped)
        }
        "x-aliases" => sets(texts_of(old, &[]), texts_of(new, &[])).unwrap_or(KeywordChange::Other),
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
        // A read-only field is not an argument, and a write-only field is not in a result.
        "readOnly" if side == Side::Output => KeywordChange::Same,
        "writeOnly" if side == Side::Input => KeywordChange::Same,
        "readOnly" | "writeOnly" => KeywordChange::Other,
        _ => return None,
    })
}

/// Compares booleans that allow more values if `true`, and are `false` by default.
fn flag((old, new): BeforeAfter<'_>) -> KeywordChange {
    match (old.unwrap_or(&Value::Bool(false)), new.unwrap_or(&Value::Bool(false))) {
        (Value::Bool(old), Value::Bool(new)) if old == new => KeywordChange::Same,
        (Value::Bool(_), Value::Bool(true)) => KeywordChange::Wider,
        (Value::Bool(_), Value::Bool(false)) => KeywordChange::Narrower,
        _ => KeywordChange::Other,
    }
}

/// Returns whether a schema allows everything or nothing; `None` for other schemas.
pub(super) fn as_bool(schema: Option<&Value>) -> Option<bool> {
    match schema {
        Some(Value::Bool(all)) => Some(*all),
        Some(Value::Object(members)) if members.is_empty() => Some(true),
        _ => None,
    }
}

/// Compares sets of allowed values.
fn sets(old: Option<BTreeSet<String>>, new: Option<BTreeSet<String>>) -> Option<KeywordChange> {
    let (old, new) = (old?, new?);
    Some(match (old.is_subset(&new), new.is_subset(&old)) {
        (true, true) => KeywordChange::Same,
        (true, false) => KeywordChange::Wider,
        (false, true) => KeywordChange::Narrower,
        (false, false) => KeywordChange::Other,
    })
}

/// Returns the strings of a list, or a single string. `None` if the value has another type.
fn texts_of(value: Option<&Value>, default: &[&str]) -> Option<BTreeSet<String>> {
    match value {
        None => Some(default.iter().map(|text| (*text).to_owned()).collect()),
        Some(Value::String(text)) => Some(BTreeSet::from([text.clone()])),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    }
}

fn types(old: Option<&Value>, new: Option<&Value>) -> KeywordChange {
    let all = |value: Option<&Value>| {
        let mut types = texts_of(value, &TYPES)?;
        if types.contains("number") {
            types.insert("integer".to_owned());
        }
        types.iter().all(|one| TYPES.contains(&one.as_str())).then_some(types)
    };
    sets(all(old), all(new)).unwrap_or(KeywordChange::Other)
}

/// Compares lists of allowed values, or single values. A missing list allows all values.
pub(super) fn listed((old, new): BeforeAfter<'_>, single: bool) -> KeywordChange {
    let values = |value: &Value| -> Option<BTreeSet<String>> {
        match value {
            _ if single => Some(BTreeSet::from([canonical(value)])),
            Value::Array(items) => Some(items.iter().map(canonical).collect()),
            _ => None,
        }
    };
    match (old, new) {
        (Some(old), Some(new)) => sets(values(old), values(new)).unwrap_or(KeywordChange::Other),
        _ => presence((old, new)),
    }
}

/// Compares bounds; a missing bound allows all values.
fn bound((old, new): BeforeAfter<'_>, upper: bool) -> KeywordChange {
    match (old.map(Value::as_f64), new.map(Value::as_f64)) {
        (Some(Some(old)), Some(Some(new))) if old < new => {
            if upper {
                KeywordChange::Wider
            } else {
                KeywordChange::Narrower
            }
        }
        (Some(Some(old)), Some(Some(new))) if old > new => {
            if upper {
                KeywordChange::Narrower
            } else {
                KeywordChange::Wider
            }
        }
        (Some(Some(_)), None) | (None, Some(Some(_))) => presence((old, new)),
        _ => KeywordChange::Other,
    }
}

/// Compares rules that are only known to restrict values: a missing rule allows all values.
pub(super) fn presence((old, new): BeforeAfter<'_>) -> KeywordChange {
    match (old, new) {
        (None, Some(_)) => KeywordChange::Narrower,
        (Some(_), None) => KeywordChange::Wider,
        _ => KeywordChange::Other,
    }
}
