//! The secrets of a call, which are redacted wherever they occur in other strings.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Number, Value};

use crate::base::frozen::Text;
use crate::base::needle::{self, SecretPattern};
use crate::base::secret_names::{Keys, url_passwords};
use crate::base::truncate::floor;
use crate::call::result::{Content, ResourceData, ToolResult};
use crate::call::structured::Structured;

/// The string that replaces a secret.
pub const REDACTED: &str = "[REDACTED]";

/// The minimum length of a secret that is searched for, in bytes: shorter strings occur by chance.
const MIN_SECRET_BYTES: usize = 4;
/// Messages quote the start of long strings, so the first characters of a secret, as many as this, count as the secret.
const MIN_MATCH_CHARS: usize = 16;
/// The maximum number of secrets that are searched for. If there are more, no text of the call is shown.
const MAX_SECRETS: usize = 64;

/// The maximum length of an error code that is shown, in bytes.
const MAX_CODE_BYTES: usize = 64;
/// The maximum length of an encoded byte of a secret, in bytes, in the usual encodings.
const MAX_ENCODED_EXPANSION: usize = 12;

/// The maximum depth to which values are searched; deeper values are redacted.
const MAX_DEPTH: usize = 64;

/// The secrets of a call: those in its arguments and inputs, and those of the calls that it is nested in. The debug
/// output contains none of them.
#[doc(hidden)]
#[derive(Clone, Default)]
pub struct Secrets {
    needles: Vec<Arc<SecretPattern>>,
    too_many: bool,
}

impl Secrets {
    /// Whether there are no secrets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty() && !self.too_many
    }

    /// Returns the secrets, or none if there are [too many](Self::are_too_many).
    #[doc(hidden)]
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.needles.iter().map(|needle| needle.text())
    }

    /// Returns the secrets that no string and no number in a value contains: the others are visible there, so they need
    /// not be redacted elsewhere.
    pub(crate) fn absent_from(&self, value: &Value) -> Secrets {
        let is_absent = |needle: &&Arc<SecretPattern>| !contains_text(value, needle.text());
        Secrets { needles: self.needles.iter().filter(is_absent).cloned().collect(), too_many: self.too_many }
    }

    /// Whether there are too many secrets to show any text.
    #[doc(hidden)]
    pub fn are_too_many(&self) -> bool {
        self.too_many
    }

    /// Returns secrets that cover everything: no text of the call is shown.
    #[doc(hidden)]
    pub fn all() -> Secrets {
        Secrets { too_many: true, ..Secrets::default() }
    }

    /// Collects every string and every number in a value.
    #[doc(hidden)]
    pub fn collect(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => self.add(text),
            Value::Number(number) => notations(number).for_each(|notation| self.add(&notation)),
            Value::Array(_) | Value::Object(_) if depth == 0 => self.too_many = true,
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, depth - 1)),
            Value::Object(fields) => fields.values().for_each(|value| self.collect(value, depth - 1)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Returns the secrets in environment variables: the values of variables whose name suggests a secret, and the
    /// passwords in variables that hold URLs.
    #[doc(hidden)]
    pub fn of_variables(variables: impl IntoIterator<Item = (String, String)>) -> Secrets {
        let (mut secrets, names) = (Secrets::default(), Keys::usual());
        for (name, value) in variables {
            url_passwords(&value).into_iter().for_each(|password| secrets.add(password));
            if names.holds(&name) {
                secrets.add(&value);
            }
        }
        secrets
    }

    fn add(&mut self, text: &str) {
        let trimmed = text.trim();
        if trimmed.chars().count() >= MIN_SECRET_BYTES && trimmed != REDACTED && !self.is_secret(trimmed) {
            self.push(Arc::new(SecretPattern::new(trimmed, MIN_MATCH_CHARS)));
        }
    }

    fn push(&mut self, secret: Arc<SecretPattern>) {
        self.too_many |= self.needles.len() >= MAX_SECRETS;
        if self.too_many {
            self.needles.clear();
        } else {
            self.needles.push(secret);
        }
    }

    /// Adds other secrets.
    pub(crate) fn extend(&mut self, other: &Secrets) {
        self.too_many |= other.too_many;
        for secret in &other.needles {
            if !self.is_secret(secret.text()) {
                self.push(Arc::clone(secret));
            }
        }
    }

    /// Returns these and other secrets.
    #[doc(hidden)]
    pub fn and(&self, other: &Secrets) -> Secrets {
        let mut merged = self.clone();
        merged.extend(other);
        merged
    }

    fn is_secret(&self, text: &str) -> bool {
        self.too_many || self.needles.iter().any(|needle| needle.text() == text)
    }

    /// Whether a number is a secret, in any notation.
    pub(crate) fn holds(&self, number: &Number) -> bool {
        !self.is_empty() && notations(number).any(|notation| self.is_secret(&notation))
    }

    /// Returns the text without the secrets, or `None` if it contains none.
    #[doc(hidden)]
    pub fn replace(&self, text: &str) -> Option<String> {
        if self.too_many {
            return Some(REDACTED.to_owned());
        }
        needle::replace(text, self.needles(), REDACTED)
    }

    /// Returns an error code if it may be shown, that is, if it is a short word without a secret.
    #[doc(hidden)]
    pub fn code<'c>(&self, code: &'c str) -> Option<&'c str> {
        let is_code_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        let is_code = (1..=MAX_CODE_BYTES).contains(&code.len()) && code.bytes().all(is_code_byte);
        (is_code && self.replace(code).is_none()).then_some(code)
    }

    /// Returns the parts of secrets that a part of a text contains because its boundaries split the secrets.
    pub(crate) fn cut_by(&self, part: Range<usize>, text: &str) -> Secrets {
        let mut cut = Secrets::default();
        let max_len = self.needles().map(|secret| secret.text().len()).max().unwrap_or(0);
        // The maximum length of a secret in any encoding.
        let reach = max_len.saturating_mul(MAX_ENCODED_EXPANSION);
        for edge in [part.start, part.end] {
            let from = floor(text, edge.saturating_sub(reach));
            let near = &text[from..floor(text, edge.saturating_add(reach))];
            for range in needle::find(near, self.needles()) {
                let (start, end) = (from + range.start, from + range.end);
                if start < edge && edge < end {
                    cut.add(&text[start.max(part.start)..end.min(part.end)]);
                }
            }
        }
        cut
    }

    /// Returns the earliest possible start of a secret whose end is missing from an incomplete text, or the length of
    /// the text.
    #[doc(hidden)]
    pub fn unfinished(&self, text: &str) -> usize {
        needle::unfinished(text, self.needles())
    }

    fn needles(&self) -> impl Iterator<Item = &SecretPattern> {
        self.needles.iter().map(|needle| &**needle)
    }
}

impl Secrets {
    /// Redacts these secrets in the parts of a result that people see.
    #[doc(hidden)]
    pub fn hide_in(&self, result: &mut ToolResult) {
        for content in &mut result.content {
            let base64 = match content {
                Content::Image { data, .. }
                | Content::Audio { data, .. }
                | Content::Resource { data: ResourceData::Base64(data), .. } => Some(&*data),
                _ => None,
            };
            // Redacting only the secret would make the Base64 invalid.
            if base64.is_some_and(|base64| self.replace(base64).is_some()) {
                *content = Content::Text(REDACTED.to_owned());
            }
            match content {
                Content::Text(text) => self.hide_in_text(text),
                Content::Image { mime_type, .. } | Content::Audio { mime_type, .. } => {
                    self.hide_in_text(mime_type);
                }
                Content::Resource { uri, mime_type, data } => {
                    self.hide_in_text(uri);
                    self.hide_in_text(mime_type);
                    if let ResourceData::Text(text) = data {
                        self.hide_in_text(text);
                    }
                }
                Content::Link { uri, name, mime_type, .. } => {
                    [uri, name, mime_type].into_iter().for_each(|text| self.hide_in_text(text));
                }
            }
        }
        self.hide_in_value(&mut result.details);
        if let Some(id) = &mut result.child_loop_id {
            self.hide_in_text(id);
        }
        match &mut result.structured {
            Structured::Details => {}
            Structured::DetailsWithout(names) => {
                names.iter_mut().for_each(|name| self.hide_in_text_field(name));
            }
            Structured::Json(text) | Structured::Missing(text) => self.hide_in_text_field(text),
        }
    }

    /// Redacts these secrets in a text.
    #[doc(hidden)]
    pub fn hide_in_text(&self, text: &mut String) {
        if let Some(clean) = self.replace(text) {
            *text = clean;
        }
    }

    fn hide_in_text_field(&self, text: &mut Text) {
        if let Some(clean) = self.replace(text) {
            *text = clean.into();
        }
    }

    /// Redacts these secrets in a value, and every part that is nested too deeply to be searched.
    #[doc(hidden)]
    pub fn hide_in_value(&self, value: &mut Value) {
        if !self.is_empty() {
            self.hide_in_nested(value, MAX_DEPTH);
        }
    }

    fn hide_in_nested(&self, value: &mut Value, depth: usize) {
        match value {
            Value::String(text) => self.hide_in_text(text),
            Value::Number(number) if self.holds(number) => *value = Value::from(REDACTED),
            Value::Array(_) | Value::Object(_) if depth == 0 => *value = Value::from(REDACTED),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in_nested(item, depth - 1)),
            Value::Object(fields) => {
                for (mut key, mut value) in std::mem::take(fields) {
                    self.hide_in_text(&mut key);
                    self.hide_in_nested(&mut value, depth - 1);
                    fields.insert(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether a string, a number or a key of a value contains a string. Must not be called for deeply nested values.
fn contains_text(value: &Value, part: &str) -> bool {
    match value {
        Value::String(text) => text.contains(part),
        Value::Number(number) => notations(number).any(|notation| notation.contains(part)),
        Value::Array(items) => items.iter().any(|item| contains_text(item, part)),
        Value::Object(fields) => {
            fields.iter().any(|(key, value)| key.contains(part) || contains_text(value, part))
        }
        Value::Null | Value::Bool(_) => false,
    }
}

/// Returns a number in the notations of JSON and of Rust: `1.0` and `1`.
fn notations(number: &Number) -> impl Iterator<Item = String> {
    let float = number.as_f64().filter(|_| number.is_f64());
    std::iter::once(number.to_string()).chain(float.map(|float| float.to_string()))
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(****)")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolgen_test_support::cpu_time;

    fn secrets(value: &Value) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.collect(value, MAX_DEPTH);
        secrets
    }

    #[test]
    fn secrets_of_many_calls_stay_bounded() {
        let mut merged = Secrets::default();
        let ((), spent) = cpu_time(|| {
            for call in 0..256 {
                let texts: Vec<String> = (0..60).map(|n| format!("secret-{call}-{n}")).collect();
                merged = merged.and(&secrets(&json!(texts)));
                assert!(merged.needles.len() <= MAX_SECRETS);
            }
        });
        assert!(merged.too_many && spent.as_secs() < 2, "{spent:?}");
        // Duplicates of the same secrets do not count.
        let few = secrets(&json!(["first", "second"]));
        assert_eq!((0..100).fold(few.clone(), |merged, _| merged.and(&few)).needles.len(), 2);
    }

    #[test]
    fn secret_numbers_are_redacted_in_every_notation() {
        let secrets = secrets(&json!({"token": 4_711_081.0, "pin": 123_456}));
        let mut result = ToolResult::text("it is 4711081 or 4711081.0, not 123456").with_details(json!([
            4_711_081,
            4_711_081.0,
            123_456.0,
            5
        ]));
        secrets.hide_in(&mut result);
        let r = REDACTED;
        assert_eq!(result.to_text(), format!("it is {r} or {r}, not {r}"));
        assert_eq!(result.details, json!([r, r, r, 5]));
    }

    #[test]
    fn every_part_of_a_result_is_redacted() {
        let pin = "4711-s3cr3t";
        let secrets = secrets(&json!(pin));
        for structured in [
            Structured::Json(format!("\"{pin}\"").into()),
            Structured::Missing(pin.into()),
            Structured::DetailsWithout(vec![pin.into()]),
        ] {
            let uri = format!("file:///{pin}");
            let data = ResourceData::Text(pin.to_owned());
            let mut result = ToolResult::text(pin)
                .with_content(Content::Resource { uri, mime_type: format!("x/{pin}"), data })
                .with_content(Content::Image { data: String::new(), mime_type: format!("x/{pin}") })
                .with_details(json!({ pin: [pin] }))
                .with_child_loop(pin);
            result.structured = structured;
            secrets.hide_in(&mut result);
            let displayed = format!("{} {}", serde_json::to_string(&result).unwrap(), result.details);
            assert!(!displayed.contains("s3cr3t"), "{displayed}");
            assert!(
                result.structured().map_or_else(|reason| reason.into_owned(), |value| value.to_string())
                    != pin
            );
        }
    }

    #[test]
    fn bytes_with_a_secret_are_replaced() {
        let secrets = secrets(&json!("4711-s3cr3t"));
        // `a 4711-s3cr3t b`, and another text.
        for (data, displayed) in
            [("YSA0NzExLXMzY3IzdCBi", REDACTED), ("YW5vdGhlciB0ZXh0", "YW5vdGhlciB0ZXh0")]
        {
            let (mime_type, data) = ("x/y".to_owned(), data.to_owned());
            let mut result = ToolResult::empty()
                .with_content(Content::Image { data: data.clone(), mime_type: mime_type.clone() })
                .with_content(Content::Resource {
                    uri: String::new(),
                    mime_type,
                    data: ResourceData::Base64(data),
                });
            secrets.hide_in(&mut result);
            let json = serde_json::to_string(&result).unwrap();
            assert_eq!(json.matches(displayed).count(), 2, "{json}");
        }
    }

    #[test]
    fn code_is_a_short_identifier() {
        let secrets = secrets(&json!("4711-s3cr3t"));
        for code in ["NOT_FOUND", "E.1-a"] {
            assert_eq!(secrets.code(code), Some(code));
        }
        for code in ["", "4711-s3cr3t", "two words", &"x".repeat(65)] {
            assert_eq!(secrets.code(code), None);
        }
    }

    #[test]
    fn partial_secrets_at_an_edge_are_redacted() {
        let secrets = secrets(&json!("4711-s3cr3t"));
        let text = "a 4711-s3cr3t b 4711%2Ds3cr3t c";
        assert_eq!(secrets.cut_by(7..20, text).replace("s3cr3t b 4711").unwrap(), "[REDACTED] b [REDACTED]");
        assert!(secrets.cut_by(0..14, text).is_empty() && secrets.cut_by(0..text.len(), text).is_empty());
    }
}
