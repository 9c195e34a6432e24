//! Compares recorded values with found ones. A masked value matches anything, and a mask within a string matches one
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
        let location = if self.pointer.is_empty() { "the whole" } else { &self.pointer };
        match (&self.expected, &self.found) {
            (Some(expected), Some(found)) => {
                write!(f, "{location}: expected {}, found {}", brief(expected), brief(found))?;
                match (expected, found) {
                    (Value::String(expected), Value::String(found)) => apart(f, expected, found),
                    _ => Ok(()),
                }
            }
            (Some(expected), None) => write!(f, "{location}: expected {}, found nothing", brief(expected)),
            (None, Some(found)) => write!(f, "{location}: expected nothing, found {}", brief(found)),
            (None, None) => write!(f, "{location}: nothing"),
        }
    }
}

/// Writes where two strings diverge, if they are too long to see it.
fn apart(f: &mut fmt::Formatter<'_>, expected: &str, found: &str) -> fmt::Result {
    if expected.len().max(found.len()) <= MAX_VALUE_SHOWN / 2 {
        return Ok(());
    }
    let same = expected.chars().zip(found.chars()).take_while(|(left, right)| left == right).count();
    let rest = |text: &str| brief(&Value::from(text.chars().skip(same).take(40).collect::<String>()));
    write!(f, "; they differ after {same} characters: {} and {}", rest(expected), rest(found))
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
    let mut all = Vec::new();
    compare(expected, (found, Some(masked)), &mut String::new(), &mut all);
    // If a key is masked, or bytes are omitted, only the whole value can be equal.
    if !all.is_empty() && found != masked {
        let mut visible = Vec::new();
        compare(expected, (masked, None), &mut String::new(), &mut visible);
        if visible.is_empty() {
            return visible;
        }
    }
    all
}

/// A found value, and the same value without its secrets, if it is available.
type Match<'v> = (&'v Value, Option<&'v Value>);

fn compare(expected: &Value, (found, masked): Match<'_>, at: &mut String, all: &mut Vec<ValueDifference>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let masked = |key: &str| masked.and_then(|masked| masked.get(key));
            for (key, value) in expected {
                within(at, key, |at| match found.get(key) {
                    Some(other) => compare(value, (other, masked(key)), at, all),
                    None => all.push(difference(at, Some(value), None)),
                });
            }
            for (key, value) in found.iter().filter(|(key, _)| !expected.contains_key(*key)) {
                within(at, key, |at| all.push(difference(at, None, Some(value))));
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            let masked = |index: usize| masked.and_then(|masked| masked.get(index));
            for index in 0..expected.len().max(found.len()) {
                within(at, &index.to_string(), |at| match (expected.get(index), found.get(index)) {
                    (Some(value), Some(other)) => compare(value, (other, masked(index)), at, all),
                    (value, other) => all.push(difference(at, value, other)),
                });
            }
        }
        _ if fits(expected, found) || masked.is_some_and(|masked| fits(expected, masked)) => {}
        _ => all.push(difference(at, Some(expected), Some(found))),
    }
}

fn difference(at: &str, expected: Option<&Value>, found: Option<&Value>) -> ValueDifference {
    ValueDifference { pointer: at.to_owned(), expected: expected.cloned(), found: found.cloned() }
}

fn within(at: &mut String, key: &str, run: impl FnOnce(&mut String)) {
    let length = at.len();
    at.push('/');
    at.push_str(&key.replace('~', "~0").replace('/', "~1"));
    run(at);
    at.truncate(length);
}

/// Whether values match that are not two objects or two arrays.
fn fits(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::String(mask), _) if [REDACTED, FAILED_MASK, TOO_DEEP_MASK].contains(&mask.as_str()) => true,
        (Value::String(expected), Value::String(found)) => text_fits(expected, found),
        // Equal JSON numbers: a store may have turned 1 into 1.0.
        (Value::Number(expected), Value::Number(found)) => {
            expected == found || (expected.is_f64() || found.is_f64()) && expected.as_f64() == found.as_f64()
        }
        _ => expected == found,
    }
}

/// Whether a string matches the recorded one, where each mask stands for a mask or for characters of one secret. A
/// mask does not match a blank, a separator or a quote, which end a secret.
fn text_fits(expected: &str, found: &str) -> bool {
    let mut parts = expected.split(REDACTED);
    let mut before = parts.next().unwrap_or_default();
    if !found.starts_with(before) {
        return false;
    }
    let text = found.as_bytes();
    // The positions where the parts so far may end.
    let mut ends = vec![before.len()];
    for part in parts {
        // A part of a path, or the text before a host.
        let narrow = before.ends_with('/') || part.starts_with(['/', '@', '?']);
        let mut next = Vec::new();
        let mut tried = 0;
        for start in ends {
            let rest = text.get(start..).unwrap_or_default();
            if rest.starts_with(REDACTED.as_bytes()) {
                next.push(start + REDACTED.len());
            }
            if start >= tried {
                let run = rest.iter().position(|byte| !of_secret(*byte, narrow)).unwrap_or(rest.len());
                tried = start + run;
                next.extend(start + 1..=tried);
            }
        }
        next.retain(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(part.as_bytes())));
        next.sort_unstable();
        next.dedup();
        ends = next.into_iter().map(|at| at + part.len()).collect();
        before = part;
    }
    ends.contains(&text.len())
}

/// Whether a mask within a text may stand for this character.
fn of_secret(byte: u8, narrow: bool) -> bool {
    let ends =
        byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`&;|<>(){}[],$\\".contains(&byte);
    let ends_part = narrow && b"/?#@".contains(&byte);
    !ends && !ends_part
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[allow(clippy::needless_pass_by_value, reason = "the values are written where they are compared")]
    fn told(expected: Value, found: Value) -> Vec<String> {
        differences(&expected, &found, &found).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn mask_matches_any_value_in_its_location_only() {
        let masked = json!({"user": "me", "password": "[REDACTED]", "header": "Bearer [REDACTED]; v=1"});
        let fits = json!({"user": "me", "password": {"a": 1}, "header": "Bearer x.y; v=1"});
        assert_eq!(told(masked.clone(), fits), [""; 0]);
        let other = json!({"user": "you", "password": 1, "header": "Basic x; v=1"});
        assert_eq!(
            told(masked, other),
            [
                r#"/user: expected "me", found "you""#,
                r#"/header: expected "Bearer [REDACTED]; v=1", found "Basic x; v=1""#,
            ]
        );
        // A mask in the found value is not a wildcard.
        assert_eq!(told(json!("a"), json!("[REDACTED]")).len(), 1);
        assert!(text_fits("[REDACTED]a[REDACTED]", "xay") && !text_fits("[REDACTED]a[REDACTED]b", "xac"));
        assert!(!text_fits("ab[REDACTED]ba", "aba"), "one text cannot be both ends");
        assert!(text_fits("[REDACTED]a[REDACTED]ab", "xaayab") && text_fits("", "") && !text_fits("a", "ab"));
    }

    #[test]
    fn mask_within_a_string_matches_exactly_one_secret() {
        for (recorded, found, same) in [
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
            assert_eq!(told(json!({ "t": recorded }), json!({ "t": found })).is_empty(), same, "{found}");
        }
        // A string that the rules hide is one secret, regardless of its characters.
        let redactor = toolgen_kernel::layers::redact::Redactor::new();
        for (recorded, found, same) in [
            ("Cookie: [REDACTED]", "Cookie: a=1; b=2", true),
            ("say token='[REDACTED]' now", "say token='a & b' now", true),
            ("say token='[REDACTED]' now", "say token='a & b' then", false),
            ("deploy --password [REDACTED]", "deploy --password x && rm", false),
        ] {
            let masked = redactor.value(json!(found));
            assert_eq!(differences(&json!(recorded), &json!(found), &masked).is_empty(), same, "{found}");
        }
        let (recorded, found) = (json!({"[REDACTED]": 1}), json!({"s3cr3t": 1}));
        assert!(differences(&recorded, &found, &recorded).is_empty());
    }

    #[test]
    fn differences_are_located_by_json_pointer() {
        let expected = json!({"a/b": [1, {"c": 2}], "gone": null, "n": 1.0});
        let found = json!({"a/b": [1, {"c": 3}, 4], "new": true, "n": 1});
        assert_eq!(
            told(expected, found),
            [
                "/a~1b/1/c: expected 2, found 3",
                "/a~1b/2: expected nothing, found 4",
                "/gone: expected null, found nothing",
                "/new: expected nothing, found true",
            ]
        );
        assert_eq!(told(json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)).len(), 1);
        let long = |end: &str| json!(format!("{}{end}", "x".repeat(300)));
        assert!(told(long("a"), long("b"))[0].contains("they differ after 300 characters: \"a\" and \"b\""));
    }
}
