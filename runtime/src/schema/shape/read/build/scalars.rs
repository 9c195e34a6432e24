//! The rules of numbers and texts.

use serde_json::Value;

use super::{Object, text};
use crate::schema::shape::{Number, NumberRules, StringRules};

/// Returns a JSON number as written: integers stay integers, all others are floats.
pub(in crate::schema::shape) fn number(number: &serde_json::Number) -> Option<Number> {
    if let Some(int) = number.as_i64() {
        return Some(Number::Int(int.into()));
    }
    if let Some(int) = number.as_u64() {
        return Some(Number::Int(int.into()));
    }
    number.as_f64().filter(|float| float.is_finite()).map(Number::Float)
}

/// Reads a bound: `3.0` and `1e3` are integers, exact up to 2^126.
fn bound(schema: &Object, keyword: &str) -> Option<Number> {
    let Value::Number(value) = schema.get(keyword)? else { return None };
    let read = number(value)?;
    let Number::Float(float) = read else { return Some(read) };
    // Within these limits the conversion of an integral float is exact.
    if float.fract() == 0.0 && float.abs() <= 2f64.powi(126) {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
        return Some(Number::Int(float as i128));
    }
    Some(read)
}

pub(super) fn number_rules(schema: &Object) -> NumberRules {
    NumberRules {
        minimum: bound(schema, "minimum"),
        maximum: bound(schema, "maximum"),
        exclusive_minimum: bound(schema, "exclusiveMinimum"),
        exclusive_maximum: bound(schema, "exclusiveMaximum"),
        multiple_of: bound(schema, "multipleOf"),
        format: text(schema, "format"),
    }
}

pub(super) fn string_rules(schema: &Object) -> StringRules {
    StringRules {
        deny: text(schema, "x-deny"),
        deny_message: text(schema, "x-deny-message"),
        min_length: schema.get("minLength").and_then(Value::as_u64),
        max_length: schema.get("maxLength").and_then(Value::as_u64),
        pattern: text(schema, "pattern"),
        format: text(schema, "format"),
        content_encoding: text(schema, "contentEncoding"),
        content_media_type: text(schema, "contentMediaType"),
    }
}
