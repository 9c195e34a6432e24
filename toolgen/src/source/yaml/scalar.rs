//! Resolves scalars by the core schema of YAML 1.2 (section 10.3.2).

use serde_json::Value;

use super::super::number::{self, ParsedNumber};

/// Resolves an unquoted scalar.
pub(in crate::source) fn resolve(text: &str) -> ParsedNumber {
    let exact = |value| ParsedNumber::Exact(value);
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return exact(Value::Null),
        "true" | "True" | "TRUE" => return exact(Value::Bool(true)),
        "false" | "False" | "FALSE" => return exact(Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return ParsedNumber::NonFinite(Value::Null),
        _ => {}
    }
    // Most scalars are words, which need none of the following checks.
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | '-' | '+')) {
        return exact(Value::String(text.to_owned()));
    }
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return ParsedNumber::NonFinite(number::float(if negative { f64::MIN } else { f64::MAX }));
    }
    if is_decimal(unsigned) {
        return number::decimal(text);
    }
    let digits_of = |prefix, radix| {
        let digits = text.strip_prefix(prefix)?;
        (!digits.is_empty() && digits.chars().all(|digit: char| digit.is_digit(radix))).then_some(digits)
    };
    if let Some(digits) = digits_of("0o", 8) {
        return number::radix(digits, 8);
    }
    if let Some(digits) = digits_of("0x", 16) {
        return number::radix(digits, 16);
    }
    exact(Value::String(text.to_owned()))
}

/// `[0-9]+ ( \. [0-9]* )? ( [eE] [-+]? [0-9]+ )?`, or without digits before the point.
fn is_decimal(text: &str) -> bool {
    let count_digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let integer_digits = count_digits(text);
    let mut remaining = &text[integer_digits..];
    let mut fraction = 0;
    if let Some(after) = remaining.strip_prefix('.') {
        fraction = count_digits(after);
        remaining = &after[fraction..];
    }
    if integer_digits + fraction == 0 {
        return false;
    }
    if let Some(exponent) = remaining.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        return !exponent.is_empty() && count_digits(exponent) == exponent.len();
    }
    remaining.is_empty()
}

/// Resolves a scalar with a tag of the core schema, or returns `None` if the tag does not allow it.
pub(super) fn tagged(tag: &str, text: &str) -> Option<ParsedNumber> {
    let resolved = resolve(text);
    let value = match &resolved {
        ParsedNumber::Exact(value) | ParsedNumber::Nearest(value) | ParsedNumber::NonFinite(value) => value,
    };
    let matches_tag = match tag {
        "str" => return Some(ParsedNumber::Exact(Value::String(text.to_owned()))),
        "null" => value.is_null(),
        "bool" => value.is_boolean(),
        "int" => value.is_number() && !text.contains('.'),
        "float" => value.is_number() || matches!(text, ".nan" | ".NaN" | ".NAN"),
        _ => return None,
    };
    matches_tag.then_some(resolved)
}
