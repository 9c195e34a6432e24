//! Finds integers that a [`Value`] cannot represent. The JSON parser rounds such an integer to the nearest float,
//! which is a different number. The arguments are rejected while their JSON text is still available.

use serde_json::Value;

use super::check::INTEGER_TOO_LARGE;
use super::{ArgumentProblem, ArgumentProblemKind};
use crate::schema::shape::pointer;

/// Minimum number of digits of an integer beyond 64 bits.
const MIN_DIGITS: usize = 19;

/// Returns a problem for each integer in a JSON text that was rounded when the value was parsed.
pub fn rounded_integers(text: &str, value: &Value) -> Vec<ArgumentProblem> {
    let mut problems = Vec::new();
    // A fast check: almost no text contains such an integer.
    if !text.as_bytes().split(|byte| !byte.is_ascii_digit()).any(|run| run.len() >= MIN_DIGITS) {
        return problems;
    }
    for token in large_integers(text) {
        let mut pointer = String::new();
        if let Ok(rounded) = token.parse() {
            locate(value, rounded, &mut pointer);
        }
        // Without the digits, which may be secret.
        let message = INTEGER_TOO_LARGE.to_owned();
        problems.push(ArgumentProblem { pointer, kind: ArgumentProblemKind::Value, message });
    }
    problems
}

/// Returns the integers beyond 64 bits, as written.
fn large_integers(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut remaining = text;
    while let Some(at) = remaining.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        remaining = &remaining[at..];
        if let Some(string) = remaining.strip_prefix('"') {
            remaining = after_string(string);
            continue;
        }
        let end = remaining
            .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
            .unwrap_or(remaining.len());
        let (token, after_token) = remaining.split_at(end);
        let is_integer = !token.contains(['.', 'e', 'E']);
        if is_integer && token.parse::<i64>().is_err() && token.parse::<u64>().is_err() {
            tokens.push(token);
        }
        remaining = after_token;
    }
    tokens
}

/// Returns what follows the end of a string.
fn after_string(text: &str) -> &str {
    let mut escaped = false;
    let end = text.find(|c| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    end.map_or("", |end| &text[end + 1..])
}

/// Finds the location of a number.
fn locate(value: &Value, target: f64, location: &mut String) -> bool {
    let length = location.len();
    let mut locate_in = |token: &str, inner: &Value| {
        pointer::push_truncated(location, token);
        let found = locate(inner, target, location);
        if !found {
            location.truncate(length);
        }
        found
    };
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64() == Some(target),
        Value::Array(items) => {
            items.iter().enumerate().any(|(index, item)| locate_in(&index.to_string(), item))
        }
        Value::Object(fields) => fields.iter().any(|(key, field)| locate_in(key, field)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_beyond_64_bits_are_located() {
        let text = r#"{"a": [1, 18446744073709551616], "b": {"c/d": -9223372036854775809}, "t": "\"12345678901234567890123"}"#;
        let value = serde_json::from_str(text).unwrap();
        let problems = rounded_integers(text, &value);
        let places: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(places, ["/a/1", "/b/c~1d"]);
        assert!(!problems[0].message.contains("18446744073709551616"), "{}", problems[0].message);
        for exact in
            ["[18446744073709551615, -9223372036854775808, 1e22, 0.12345678901234567890]", "[]", "\"1\\\\\""]
        {
            let value = serde_json::from_str(exact).unwrap();
            assert!(rounded_integers(exact, &value).is_empty(), "{exact}");
        }
    }
}
