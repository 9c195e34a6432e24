//! Numbers, however absurd.

use serde_json::{Number, Value};

use crate::problem::{Code, codes};

/// A number, and whether the document's own was given up for it.
#[derive(Debug, PartialEq)]
pub(super) enum Read {
    /// As the document says.
    Exact(Value),
    /// As near as 64 bits allow.
    Near(Value),
    /// Infinite or none; the largest number, or null.
    Absurd(Value),
}

impl Read {
    /// The value, and what to say about a number that is not the document's own.
    pub(super) fn split(self, text: &str) -> (Value, Option<(Code, String)>) {
        let text = super::quote(text);
        match self {
            Read::Exact(value) => (value, None),
            Read::Near(value) => {
                let message = format!("`{text}` does not fit 64 bits; it is read as {value}");
                (value, Some((codes::INEXACT_NUMBER, message)))
            }
            Read::Absurd(value) => {
                let message = format!("`{text}` is larger than any number; it is read as {value}");
                (value, Some((codes::INFINITE_NUMBER, message)))
            }
        }
    }
}

/// Reads a decimal number that is known to be well-formed. Integers that fit 64 bits are exact, other numbers are
/// the nearest floating point number, and what is too large for that is the largest one.
pub(super) fn decimal(text: &str) -> Read {
    let text = text.strip_prefix('+').unwrap_or(text);
    let is_integer = !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_integer && text != "-0" {
        if let Ok(value) = text.parse::<u64>() {
            return Read::Exact(value.into());
        }
        if let Ok(value) = text.parse::<i64>() {
            return Read::Exact(value.into());
        }
    }
    let Ok(value) = text.parse::<f64>() else {
        return Read::Exact(Value::String(text.to_owned()));
    };
    if value.is_infinite() {
        return Read::Absurd(float(value));
    }
    if is_integer && text != "-0" { Read::Near(float(value)) } else { Read::Exact(float(value)) }
}

/// Reads the digits of an integer of another base.
pub(super) fn radix(digits: &str, radix: u32) -> Read {
    if let Ok(value) = u64::from_str_radix(digits, radix) {
        return Read::Exact(value.into());
    }
    let value = digits
        .chars()
        .filter_map(|digit| digit.to_digit(radix))
        .fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit));
    if value.is_infinite() { Read::Absurd(float(value)) } else { Read::Near(float(value)) }
}

/// A floating point number as JSON has it: an infinite one becomes the largest.
pub(super) fn float(value: f64) -> Value {
    Number::from_f64(value.clamp(f64::MIN, f64::MAX)).map_or(Value::Null, Value::Number)
}
