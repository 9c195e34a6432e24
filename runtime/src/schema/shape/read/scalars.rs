//! The rules of numbers and texts.

use serde_json::Value;

use super::{Object, Reader};
use crate::schema::shape::{Number, NumberRules, StringRules};

/// A JSON number as it is written: integers stay integers, all others are floats.
pub(in crate::schema::shape) fn number(number: &serde_json::Number) -> Option<Number> {
    if let Some(int) = number.as_i64() {
        return Some(Number::Int(int.into()));
    }
    if let Some(int) = number.as_u64() {
        return Some(Number::Int(int.into()));
    }
    number.as_f64().filter(|float| float.is_finite()).map(Number::Float)
}

/// As a bound: `3.0` and `1e3` are integers, exact up to 2^126.
fn bound(value: &serde_json::Number) -> Option<Number> {
    let read = number(value)?;
    let Number::Float(float) = read else { return Some(read) };
    // Within these limits the conversion of an integral float is exact.
    if float.fract() == 0.0 && float.abs() <= 2f64.powi(126) {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
        return Some(Number::Int(float as i128));
    }
    Some(read)
}

impl Reader<'_> {
    pub(super) fn number_rules(&mut self, schema: &Object) -> NumberRules {
        let (minimum, exclusive_minimum) = self.lower(schema, "minimum", "exclusiveMinimum");
        let (maximum, exclusive_maximum) = self.lower(schema, "maximum", "exclusiveMaximum");
        let mut multiple_of = self.bound(schema, "multipleOf");
        let positive = match multiple_of {
            Some(Number::Int(step)) => step > 0,
            Some(Number::Float(step)) => step > 0.0,
            None => true,
        };
        if !positive {
            self.problem_at("multipleOf", "not larger than 0, so ignored");
            multiple_of = None;
        }
        let format = self.text(schema, "format").unwrap_or_default();
        NumberRules { minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of, format }
    }

    /// A bound and its exclusive form. In JSON Schema draft 4 and OpenAPI 3.0 the latter is a flag of the former.
    fn lower(&mut self, schema: &Object, keyword: &str, exclusive: &str) -> (Option<Number>, Option<Number>) {
        let limit = self.bound(schema, keyword);
        match schema.get(exclusive) {
            Some(Value::Bool(true)) => (None, limit),
            Some(Value::Bool(false)) => (limit, None),
            _ => (limit, self.bound(schema, exclusive)),
        }
    }

    fn bound(&mut self, schema: &Object, keyword: &str) -> Option<Number> {
        match schema.get(keyword)? {
            Value::Number(value) => bound(value),
            _ => {
                self.problem_at(keyword, "not a number, so ignored");
                None
            }
        }
    }

    pub(super) fn string_rules(&mut self, schema: &Object) -> StringRules {
        let own = |reader: &mut Self, keyword| {
            // Only the canonical text says it so.
            let text = if reader.canonical { reader.text(schema, keyword) } else { None };
            text.unwrap_or_default()
        };
        StringRules {
            deny: own(self, "x-deny"),
            deny_message: own(self, "x-deny-message"),
            min_length: self.count(schema, "minLength"),
            max_length: self.count(schema, "maxLength"),
            pattern: self.text(schema, "pattern").unwrap_or_default(),
            format: self.text(schema, "format").unwrap_or_default(),
            content_encoding: self.text(schema, "contentEncoding").unwrap_or_default(),
            content_media_type: self.text(schema, "contentMediaType").unwrap_or_default(),
        }
    }

    /// A number of things: not negative, no fraction.
    pub(super) fn count(&mut self, schema: &Object, keyword: &str) -> Option<u64> {
        let value = schema.get(keyword)?;
        let count = match value {
            Value::Number(number) => match bound(number) {
                Some(Number::Int(count)) => u64::try_from(count).ok(),
                _ => None,
            },
            _ => None,
        };
        if count.is_none() {
            self.problem_at(keyword, "not a count (a whole number from 0 on), so ignored");
        }
        count
    }
}
