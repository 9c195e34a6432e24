//! Compares recorded values with found values. A masked value matches anything, and a mask within a string matches one
//! secret.

use std::fmt;

use serde_json::Value;

use toolgen_kernel::layers::redact::{FAILED_MASK, REDACTED, TOO_DEEP_MASK};

/// Maximum length of a value in a difference, in characters.
const MAX_VALUE_SHOWN: usize = 200;

/// A location at which two values differ.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValueDifference {
    /// The location, as a JSON pointer; empty for the whole value.
    pub pointer: String,
    /// The recorded value; `None` if there is none.
    pub expected: Option<Value>,
    /// The found value; `None` if there is none.
    pub found: Option<Value>,
}

impl fmt::Display for ValueDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = if self.pointer.is_empty() { "the whole value" } else { &self.pointer };
        match (&self.expected, &self.found) {
            (Some(expected), Some(found)) => {
                write!(f, "{location}: expected {}, found {}", brief(expected), brief(found))?;
                match (expected, found) {
                    (Value::String(expected), Value::String(found)) => write_divergence(f, expected, found),
                    _ => Ok(()),
                }
            }
            (Some(expected), None) => write!(f, "{location}: expected {}, found nothing", brief(expected)),
            (None, Some(found)) => write!(f, "{location}: expected nothing, found {}", brief(found)),
            (None, None) => write!(f, "{location}: nothing"),
        }
    }
}

/// Writes where two strings diverge, if they are too long to see where.
fn write_divergence(f: &mut fmt::Formatter<'_>, expected: &str, found: &str) -> fmt::Result {
    if expected.len().max(found.len()) <= MAX_VALUE_SHOWN / 2 {
        return Ok(());
    }
    let common = expected.chars().zip(found.chars()).take_while(|(left, right)| left == right).count();
    let excerpt = |text: &str| brief(&Value::from(text.chars().skip(common).take(40).collect::<String>()));
    write!(f, "; they differ after {common} characters: {} and {}", excerpt(expected), excerpt(found))
}

/// Returns a value as JSON, truncated if it is long.
pub(crate) fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_VALUE_SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text,
    }
}

/// Returns the locations where a value differs from the recorded one. A masked value matches anything, and a string
/// with masks matches every string that a redactor turns into it: `masked` is the found value, without its secrets.
pub(crate) fn differences(expected: &Value, found: &Value, masked: &Value) -> Vec<ValueDifference> {
    let mut found_differences = Vec::new();
    compare(expected, (found, Some(masked)), &mut String::new(), &mut found_differences);
    // If a key is masked, or bytes are omitted, only the whole masked value can be equal.
    if !found_differences.is_empty() && found != masked {
        let mut masked_differences = Vec::new();
        compare(expected, (masked, None), &mut String::new(), &mut masked_differences);
        if masked_differences.is_empty() {
            return masked_differences;
        }
    }
    found_differences
}

/// A found value, and the same value without its secrets, if it is available.
type Match<'v> = (&'v Value, Option<&'v Value>);

fn compare(
    expected: &Value,
    (found, masked): Match<'_>,
    at: &mut String,
    differences: &mut Vec<ValueDifference>,
) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let masked = |key: &str| masked.and_then(|masked| masked.get(key));
            for (key, value) in expected {
                with_segment(at, key, |at| match found.get(key) {
                    Some(other) => compare(value, (other, masked(key)), at, differences),
                    None => differences.push(difference(at, Some(value), None)),
                });
            }
            for (key, value) in found.iter().filter(|(key, _)| !expected.contains_key(*key)) {
                with_segment(at, key, |at| differences.push(difference(at, None, Some(value))));
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            let masked = |index: usize| masked.and_then(|masked| masked.get(index));
            for index in 0..expected.len().max(found.len()) {
                with_segment(at, &index.to_string(), |at| match (expected.get(index), found.get(index)) {
                    (Some(value), Some(other)) => compare(value, (other, masked(index)), at, differences),
                    (value, other) => differences.push(difference(at, value, other)),
                });
            }
        }
        _ if leaf_matches(expected, found) || masked.is_some_and(|masked| leaf_matches(expected, masked)) => {
        }
        _ => differences.push(difference(at, Some(expected), Some(found))),
    }
}

fn difference(at: &str, expected: Option<&Value>, found: Option<&Value>) -> ValueDifference {
    ValueDifference { pointer: at.to_owned(), expected: expected.cloned(), found: found.cloned() }
}

fn with_segment(at: &mut String, key: &str, step: impl FnOnce(&mut String)) {
    let length = at.len();
    at.push('/');
    at.push_str(&key.replace('~', "~0").replace('/', "~1"));
    step(at);
    at.truncate(length);
}

/// Whether two values match. They are not both objects or both arrays.
fn leaf_matches(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::String(mask), _) if [REDACTED, FAILED_MASK, TOO_DEEP_MASK].contains(&mask.as_str()) => true,
        (Value::String(expected), Value::String(found)) => text_matches(expected, found),
        // Equal JSON numbers: a store may have turned 1 into 1.0.
        (Value::Number(expected), Value::Number(found)) => {
            expected == found || (expected.is_f64() || found.is_f64()) && expected.as_f64() == found.as_f64()
        }
        _ => expected == found,
    }
}

/// Whether a string matches the recorded one, where each mask stands for a mask or for characters of one secret. A
/// mask does not match a blank, a separator or a quote, which end a secret.
fn text_matches(expected: &str, found: &str) -> bool {
    let mut parts = expected.split(REDACTED);
    let mut previous = parts.next().unwrap_or_default();
    if !found.starts_with(previous) {
        return false;
    }
    let text = found.as_bytes();
    // The positions where the parts that are matched so far may end.
    let mut ends = vec![previous.len()];
    for part in parts {
        // In a URL, the secret is a segment of the path, or the user information before the host.
        let is_url_part = previous.ends_with('/') || part.starts_with(['/', '@', '?']);
        let mut next = Vec::new();
        let mut scanned_to = 0;
        for start in ends {
            let tail = text.get(start..).unwrap_or_default();
            if tail.starts_with(REDACTED.as_bytes()) {
                next.push(start + REDACTED.len());
            }
            if start >= scanned_to {
                let length = tail
                    .iter()
                    .position(|byte| !may_be_secret_byte(*byte, is_url_part))
                    .unwrap_or(tail.len());
                scanned_to = start + length;
                next.extend(start + 1..=scanned_to);
            }
        }
        next.retain(|at| text.get(*at..).is_some_and(|tail| tail.starts_with(part.as_bytes())));
        next.sort_unstable();
        next.dedup();
        ends = next.into_iter().map(|at| at + part.len()).collect();
        previous = part;
    }
    ends.contains(&text.len())
}

/// Whether a mask within a text may stand for this character.
fn may_be_secret_byte(byte: u8, is_url_part: bool) -> bool {
    let ends_secret =
        byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`&;|<>(){}[],$\\".contains(&byte);
    let ends_part = is_url_part && b"/?#@".contains(&byte);
    !ends_secret && !ends_part
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[allow(clippy::needless_pass_by_value, reason = "the values are written where they are compared")]
    fn messages(expected: Value, found: Value) -> Vec<String> {
        differences(&expected, &found, &found).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn mask_matches_any_value_in_its_location_only() {
        let masked = json!({"user": "me", "password": "[REDACTED]", "header": "Bearer [REDACTED]; v=1"});
        let matching = json!({"user": "me", "password": {"a": 1}, "header": "Bearer x.y; v=1"});
        assert_eq!(messages(masked.clone(), matching), [""; 0]);
        let other = json!({"user": "you", "password": 1, "header": "Basic x; v=1"});
        assert_eq!(
            messages(masked, other),
            [
                r#"/user: expected "me", found "you""#,
                r#"/header: expected "Bearer [REDACTED]; v=1", found "Basic x; v=1""#,
            ]
        );
        // A mask in the found value is not a wildcard.
        assert_eq!(messages(json!("a"), json!("[REDACTED]")).len(), 1);
        assert!(
            text_matches("[REDACTED]a[REDACTED]", "xay") && !text_matches("[REDACTED]a[REDACTED]b", "xac")
        );
        assert!(!text_matches("ab[REDACTED]ba", "aba"), "one text cannot be both ends");
        assert!(
            text_matches("[REDACTED]a[REDACTED]ab", "xaayab")
                && text_matches("", "")
                && !text_matches("a", "ab")
        );
    }

    #[test]
    fn mask_within_a_string_matches_exactly_one_secret() {
        for (recorded, found, is_match) in [
            ("deploy --password [REDACTED]", "deploy --password swordfish", true),
            ("deploy --password [REDACTED]", "deploy --password \"sword && fish\"", false),
            ("deploy --password [REDACTED]", "deploy --password x && rm -rf /srv --force", false),
            ("deploy --password [REDACTED]", "deploy --password x;rm", false),
            ("deploy --password [REDACTED]", "deploy --password [REDACTED] && rm", false),
            ("deploy --password [REDACTED]", "deploy --password ", false),
            ("http://h/p?limit=1&token=[REDACTED]", "http://h/p?limit=1&token=z%2Fy", true),
            ("http://h/p?limit=1&token=[REDACTED]", "http://h/p?limit=1&token=z&delete=all", false),
            ("http://[REDACTED]@h/d", "http://u:pw@h/d", true),
            ("http://[REDACTED]@h/d", "http://evil.example/x@h/d", false),
            ("http://h/[REDACTED]/d", "http://h/a/b/d", false),
        ] {
            assert_eq!(
                messages(json!({ "t": recorded }), json!({ "t": found })).is_empty(),
                is_match,
                "{found}"
            );
        }
        // A string that the rules hide is one secret, regardless of its characters.
        let redactor = toolgen_kernel::layers::redact::Redactor::new();
        for (recorded, found, is_match) in [
            ("Cookie: [REDACTED]", "Cookie: a=1; b=2", true),
            ("say token='[REDACTED]' now", "say token='a & b' now", true),
            ("say token='[REDACTED]' now", "say token='a & b' then", false),
            ("deploy --password [REDACTED]", "deploy --password x && rm", false),
        ] {
            let masked = redactor.value(json!(found));
            assert_eq!(differences(&json!(recorded), &json!(found), &masked).is_empty(), is_match, "{found}");
        }
        let (recorded, found) = (json!({"[REDACTED]": 1}), json!({"s3cr3t": 1}));
        assert!(differences(&recorded, &found, &recorded).is_empty());
    }

    #[test]
    fn differences_are_located_by_json_pointer() {
        let expected = json!({"a/b": [1, {"c": 2}], "gone": null, "n": 1.0});
        let found = json!({"a/b": [1, {"c": 3}, 4], "new": true, "n": 1});
        assert_eq!(
            messages(expected, found),
            [
                "/a~1b/1/c: expected 2, found 3",
                "/a~1b/2: expected nothing, found 4",
                "/gone: expected null, found nothing",
                "/new: expected nothing, found true",
            ]
        );
        assert_eq!(messages(json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)).len(), 1);
        let long = |end: &str| json!(format!("{}{end}", "x".repeat(300)));
        assert!(
            messages(long("a"), long("b"))[0].contains("they differ after 300 characters: \"a\" and \"b\"")
        );
    }
}
