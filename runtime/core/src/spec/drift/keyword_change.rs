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
pub(super) fn rule_change(key: &str, values: BeforeAfter<'_>, side: Side) -> Option<KeywordChange> {
    let (old, new) = values;
    Some(match key {
        "type" => type_change(old, new),
        "required" => compare_sets(string_set(old, &[]), string_set(new, &[]))
            .map_or(KeywordChange::Other, KeywordChange::flipped),
        "x-aliases" => {
            compare_sets(string_set(old, &[]), string_set(new, &[])).unwrap_or(KeywordChange::Other)
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" | "minContains" => {
            compare_bounds(values, false)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" | "maxContains" => {
            compare_bounds(values, true)
        }
        "dependentRequired" | "dependentSchemas" | "unevaluatedProperties" | "unevaluatedItems" => {
            compare_presence(values)
        }
        "uniqueItems" => compare_flags(values).flipped(),
        "nullable" => compare_flags(values),
        // A read-only field is not an argument, and a write-only field is not in a result.
        "readOnly" if side == Side::Output => KeywordChange::Same,
        "writeOnly" if side == Side::Input => KeywordChange::Same,
        "readOnly" | "writeOnly" => KeywordChange::Other,
        _ => return None,
    })
}

/// Compares booleans that allow more values if `true`, and are `false` by default.
fn compare_flags((old, new): BeforeAfter<'_>) -> KeywordChange {
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
        Some(Value::Bool(allows_all)) => Some(*allows_all),
        Some(Value::Object(members)) if members.is_empty() => Some(true),
        _ => None,
    }
}

/// Compares sets of allowed values.
fn compare_sets(old: Option<BTreeSet<String>>, new: Option<BTreeSet<String>>) -> Option<KeywordChange> {
    let (old, new) = (old?, new?);
    Some(match (old.is_subset(&new), new.is_subset(&old)) {
        (true, true) => KeywordChange::Same,
        (true, false) => KeywordChange::Wider,
        (false, true) => KeywordChange::Narrower,
        (false, false) => KeywordChange::Other,
    })
}

/// Returns the strings of a list, or a single string. `None` if the value has another type.
fn string_set(value: Option<&Value>, default: &[&str]) -> Option<BTreeSet<String>> {
    match value {
        None => Some(default.iter().map(|text| (*text).to_owned()).collect()),
        Some(Value::String(text)) => Some(BTreeSet::from([text.clone()])),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    }
}

fn type_change(old: Option<&Value>, new: Option<&Value>) -> KeywordChange {
    let known_types = |value: Option<&Value>| {
        let mut types = string_set(value, &TYPES)?;
        if types.contains("number") {
            types.insert("integer".to_owned());
        }
        types.iter().all(|name| TYPES.contains(&name.as_str())).then_some(types)
    };
    compare_sets(known_types(old), known_types(new)).unwrap_or(KeywordChange::Other)
}

/// Compares lists of allowed values, or single values. A missing list allows all values.
pub(super) fn compare_values((old, new): BeforeAfter<'_>, is_single: bool) -> KeywordChange {
    let values = |value: &Value| -> Option<BTreeSet<String>> {
        match value {
            _ if is_single => Some(BTreeSet::from([canonical(value)])),
            Value::Array(items) => Some(items.iter().map(canonical).collect()),
            _ => None,
        }
    };
    match (old, new) {
        (Some(old), Some(new)) => compare_sets(values(old), values(new)).unwrap_or(KeywordChange::Other),
        _ => compare_presence((old, new)),
    }
}

/// Compares bounds; a missing bound allows all values.
fn compare_bounds((old, new): BeforeAfter<'_>, is_upper: bool) -> KeywordChange {
    match (old.map(Value::as_f64), new.map(Value::as_f64)) {
        (Some(Some(old)), Some(Some(new))) if old < new => {
            if is_upper {
                KeywordChange::Wider
            } else {
                KeywordChange::Narrower
            }
        }
        (Some(Some(old)), Some(Some(new))) if old > new => {
            if is_upper {
                KeywordChange::Narrower
            } else {
                KeywordChange::Wider
            }
        }
        (Some(Some(_)), None) | (None, Some(Some(_))) => compare_presence((old, new)),
        _ => KeywordChange::Other,
    }
}

/// Compares rules that are only known to restrict values: a missing rule allows all values.
pub(super) fn compare_presence((old, new): BeforeAfter<'_>) -> KeywordChange {
    match (old, new) {
        (None, Some(_)) => KeywordChange::Narrower,
        (Some(_), None) => KeywordChange::Wider,
        _ => KeywordChange::Other,
    }
}
