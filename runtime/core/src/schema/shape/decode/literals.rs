//! Compares values with the enumerated values of a schema.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::schema::shape::number::same_number;
use crate::schema::shape::{Literal, Number};

/// The small steps for parsing a byte of an enumerated array or object.
const STEPS_PER_BYTE: usize = 16;

/// Whether a value is one of the enumerated values.
pub(super) fn is_one_of(value: &Value, values: &[Literal]) -> bool {
    if !matches!(value, Value::Array(_) | Value::Object(_)) {
        return values.iter().any(|literal| equals(value, literal));
    }
    let comparable_value = comparable(value);
    values.iter().any(|literal| {
        matches!(literal, Literal::Json(_)) && comparable(&literal.to_json()) == comparable_value
    })
}

/// Returns how many small steps it takes to compare a value with the enumerated values.
pub(super) fn comparisons(value: &Value, values: &[Literal]) -> u64 {
    let cost = |literal: &Literal| match literal {
        Literal::Json(text) => text.len().saturating_mul(STEPS_PER_BYTE),
        _ => 1,
    };
    let steps = match value {
        Value::Array(_) | Value::Object(_) => values.iter().map(cost).fold(0, usize::saturating_add),
        _ => values.len(),
    };
    u64::try_from(steps).unwrap_or(u64::MAX)
}

/// Whether a value equals a literal; `1` and `1.0` are the same number.
pub(super) fn equals(value: &Value, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Null, Literal::Null) => true,
        (Value::Bool(a), Literal::Bool(b)) => a == b,
        (Value::Number(a), Literal::Number(b)) => Number::of(a).is_some_and(|a| same_number(a, *b)),
        (Value::String(a), Literal::String(b)) => *a == **b,
        (Value::Array(_) | Value::Object(_), Literal::Json(_)) => {
            comparable(value) == comparable(&literal.to_json())
        }
        _ => false,
    }
}

/// Returns a string that is equal for equal values: numbers by value, keys sorted.
pub(super) fn comparable(value: &Value) -> String {
    match value {
        Value::Number(number) => match Number::of(number) {
            Some(Number::Float(float)) if float.fract() == 0.0 => format!("{float:.0}").replace("-0", "0"),
            _ => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(comparable).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, String> =
                fields.iter().map(|(key, field)| (key, comparable(field))).collect();
            let fields: Vec<String> =
                sorted.iter().map(|(key, field)| format!("{}:{field}", Value::from(key.as_str()))).collect();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}
