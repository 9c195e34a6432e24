//! The secrets of a call, to be found again in other texts.

use std::fmt;

use serde_json::Value;

use crate::call::result::{Content, ResourceData, ToolResult};

/// Replaces a secret.
pub const REDACTED: &str = "[REDACTED]";

/// Shorter texts occur by chance.
const SHORTEST: usize = 4;
/// Messages quote the start of long texts, so a start of this length counts as the secret.
const START: usize = 16;
/// With more secrets than this they are not searched for one by one: then no text of the call is shown.
const MOST: usize = 64;

/// How deeply values are searched; deeper ones are hidden.
const DEPTH: usize = 64;

/// The secrets of a call: those in its arguments, in the answers to its questions, and of the calls above it. Its
/// debug output contains none of them.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first, so that a secret that contains another is replaced as a whole.
    known: Vec<String>,
    count: usize,
    too_many: bool,
}

impl Secrets {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && !self.too_many
    }

    /// Returns secrets that cover everything: no text of the call is shown.
    #[cfg(feature = "audit")]
    pub(crate) fn all() -> Secrets {
        Secrets { too_many: true, ..Secrets::default() }
    }

    /// Collects every text and every number in a value.
    pub(crate) fn collect(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => self.add(text),
            Value::Number(number) => self.add(&number.to_string()),
            Value::Array(_) | Value::Object(_) if depth == 0 => self.too_many = true,
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, depth - 1)),
            Value::Object(fields) => fields.values().for_each(|value| self.collect(value, depth - 1)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn add(&mut self, text: &str) {
        let trimmed = text.trim();
        if trimmed.chars().count() < SHORTEST || trimmed == REDACTED {
            return;
        }
        self.count += 1;
        self.too_many |= self.count > MOST;
        let escaped = Value::from(trimmed).to_string();
        // Without the surrounding quotes.
        let escaped = escaped.get(1..escaped.len() - 1).unwrap_or(trimmed);
        for form in [trimmed, escaped, &percent_encoded(trimmed)] {
            if !self.too_many && !self.known.iter().any(|known| known == form) {
                self.known.push(form.to_owned());
            }
        }
    }

    /// Adds other secrets. [`seal`](Self::seal) must follow.
    pub(crate) fn extend(&mut self, other: &Secrets) {
        self.too_many |= other.too_many;
        self.known.extend(other.known.iter().cloned());
    }

    /// Returns both these and other secrets.
    pub(crate) fn and(&self, other: &Secrets) -> Secrets {
        let mut all = self.clone();
        all.extend(other);
        all.seal();
        all
    }

    /// Completes the collection. Called once all secrets are known.
    pub(crate) fn seal(&mut self) {
        self.known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.known.dedup();
    }

    pub(crate) fn is_one(&self, text: &str) -> bool {
        self.too_many || self.known.iter().any(|known| known == text)
    }

    /// Returns the text without the secrets. `None`: it contains none.
    pub(crate) fn replace(&self, text: &str) -> Option<String> {
        if self.too_many {
            return Some(REDACTED.to_owned());
        }
        let mut out: Option<String> = None;
        for secret in &self.known {
            if let Some(without) = without(out.as_deref().unwrap_or(text), secret) {
                out = Some(without);
            }
        }
        out
    }
}

impl Secrets {
    /// Hides these secrets in what people see of a result.
    pub(crate) fn hide_in(&self, result: &mut ToolResult) {
        for content in &mut result.content {
            if let Content::Text(text) | Content::Resource { data: ResourceData::Text(text), .. } = content {
                self.hide_in_text(text);
            }
        }
        self.hide_in_value(&mut result.details, DEPTH);
    }

    /// Hides these secrets in a text.
    pub(crate) fn hide_in_text(&self, text: &mut String) {
        if let Some(clean) = self.replace(text) {
            *text = clean;
        }
    }

    fn hide_in_value(&self, value: &mut Value, depth: usize) {
        match value {
            Value::String(text) => self.hide_in_text(text),
            Value::Number(number) if self.is_one(&number.to_string()) => *value = Value::from(REDACTED),
            Value::Array(_) | Value::Object(_) if depth == 0 => *value = Value::from(REDACTED),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in_value(item, depth - 1)),
            Value::Object(fields) => {
                for (mut key, mut value) in std::mem::take(fields) {
                    self.hide_in_text(&mut key);
                    self.hide_in_value(&mut value, depth - 1);
                    fields.insert(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Replaces a secret, and any text that starts like a long secret, for as long as it matches.
fn without(text: &str, secret: &str) -> Option<String> {
    let start = secret.char_indices().nth(START).map_or(secret, |(end, _)| &secret[..end]);
    let (mut out, mut kept): (Option<String>, usize) = (None, 0);
    while let Some(found) = text.get(kept..).and_then(|rest| rest.find(start)) {
        let at = kept + found;
        let out = out.get_or_insert_default();
        out.push_str(&text[kept..at]);
        out.push_str(REDACTED);
        let same = text[at..].chars().zip(secret.chars()).take_while(|(a, b)| a == b);
        kept = at + same.map(|(c, _)| c.len_utf8()).sum::<usize>();
    }
    let mut out = out?;
    out.push_str(&text[kept..]);
    Some(out)
}

/// Returns the text in percent-encoding, as in a URL.
fn percent_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(****)")
    }
}
