//! Parses numbers of any size.

use serde_json::{Number, Value};

use crate::problem::codes::{self, Code};

/// A parsed number, and whether it differs from the document's.
#[derive(Debug, PartialEq)]
pub(super) enum ParsedNumber {
    /// Exactly the document's number.
    Exact(Value),
    /// The nearest number within 64 bits.
    Nearest(Value),
    /// An infinite or undefined number, as the largest number or null.
    NonFinite(Value),
}

impl ParsedNumber {
    /// Returns the value, and a problem if it differs from the document's.
    pub(super) fn split(self, text: &str) -> (Value, Option<(Code, String)>) {
        let text = super::quote(text);
        match self {
            ParsedNumber::Exact(value) => (value, None),
            ParsedNumber::Nearest(value) => {
                let message = format!("`{text}` does not fit in 64 bits; it is read as {value}");
                (value, Some((codes::INEXACT_NUMBER, message)))
            }
            ParsedNumber::NonFinite(value) => {
                let message = format!("`{text}` is not a finite number; it is read as {value}");
                (value, Some((codes::INFINITE_NUMBER, message)))
            }
        }
    }
}

/// Parses a decimal number that is known to be well-formed. Integers that fit in 64 bits are exact, other numbers
/// become the nearest floating point number, and too large ones the largest.
pub(super) fn decimal(text: &str) -> ParsedNumber {
    let text = text.strip_prefix('+').unwrap_or(text);
    let is_integer = !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_integer && text != "-0" {
        if let Ok(value) = text.parse::<u64>() {
            return ParsedNumber::Exact(value.into());
        }
        if let Ok(value) = text.parse::<i64>() {
            return ParsedNumber::Exact(value.into());
        }
    }
    let Ok(value) = text.parse::<f64>() else {
        return ParsedNumber::Exact(Value::String(text.to_owned()));
    };
    if value.is_infinite() {
        return ParsedNumber::NonFinite(float(value));
    }
    if is_integer && text != "-0" {
        ParsedNumber::Nearest(float(value))
    } else {
        ParsedNumber::Exact(float(value))
    }
}

/// Parses the digits of an integer in another base.
pub(super) fn radix(digits: &str, radix: u32) -> ParsedNumber {
    if let Ok(value) = u64::from_str_radix(digits, radix) {
        return ParsedNumber::Exact(value.into());
    }
    let value = digits
        .chars()
        .filter_map(|digit| digit.to_digit(radix))
        .fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit));
    if value.is_infinite() {
        ParsedNumber::NonFinite(float(value))
    } else {
        ParsedNumber::Nearest(float(value))
    }
}

/// Returns a floating point number as JSON; an infinite one becomes the largest.
pub(super) fn float(value: f64) -> Value {
    Number::from_f64(value.clamp(f64::MIN, f64::MAX)).map_or(Value::Null, Value::Number)
}
