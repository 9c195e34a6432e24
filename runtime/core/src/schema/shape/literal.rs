//! Literal values in schemas.

use serde_json::Value;

use super::number::{Number, same_number};
use crate::base::frozen::Text;

/// A JSON value in a schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Text),
    /// An array or an object, as compact JSON text.
    Json(Text),
}

impl Literal {
    /// Converts a JSON value to a literal.
    #[must_use]
    pub fn of(value: &Value) -> Literal {
        match value {
            Value::Null => Literal::Null,
            Value::Bool(flag) => Literal::Bool(*flag),
            Value::Number(number) => Number::of(number).map_or(Literal::Null, Literal::Number),
            Value::String(text) => Literal::String(text.clone().into()),
            Value::Array(_) | Value::Object(_) => Literal::Json(value.to_string().into()),
        }
    }

    /// Converts the literal to JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Literal::Null => Value::Null,
            Literal::Bool(flag) => (*flag).into(),
            Literal::Number(number) => number.to_json(),
            Literal::String(text) => text.as_str().into(),
            Literal::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
        }
    }

    /// Returns the most specific JSON Schema type of the value.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Literal::Null => "null",
            Literal::Bool(_) => "boolean",
            Literal::Number(Number::Int(_)) => "integer",
            Literal::Number(Number::Float(_)) => "number",
            Literal::String(_) => "string",
            Literal::Json(text) if text.starts_with('[') => "array",
            Literal::Json(_) => "object",
        }
    }

    /// Whether two values are equal in JSON Schema: `1` and `1.0` are the same number.
    pub(crate) fn equals(&self, other: &Literal) -> bool {
        match (self, other) {
            (Literal::Number(a), Literal::Number(b)) => same_number(*a, *b),
            _ => self == other,
        }
    }
}

/// Copies the value in a constant.
#[must_use]
pub const fn copy_literal(literal: &Literal) -> Literal {
    match literal {
        Literal::Null => Literal::Null,
        Literal::Bool(value) => Literal::Bool(*value),
        Literal::Number(number) => Literal::Number(*number),
        Literal::String(text) => Literal::String(text.borrowed()),
        Literal::Json(text) => Literal::Json(text.borrowed()),
    }
}
