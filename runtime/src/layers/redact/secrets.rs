//! The secrets of a call, to be found again in other texts.

use std::fmt;

use serde_json::Value;

use super::REDACTED;

/// Shorter texts occur by chance.
const SHORTEST: usize = 4;
/// Messages quote the start of long texts, so a start of this length counts as the secret.
const START: usize = 16;
/// With more secrets than this they are not searched for one by one: then no text of the call is shown.
const MOST: usize = 64;

/// The secrets in the arguments of a call. Its debug output contains none of them.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first, so that a secret that contains another is replaced as a whole.
    known: Vec<String>,
    count: usize,
    too_many: bool,
}

impl Secrets {
    /// Returns secrets that cover everything: no text of the call is shown.
    #[cfg(feature = "audit")]
    pub(crate) fn all() -> Secrets {
        Secrets { too_many: true, ..Secrets::default() }
    }

    /// Collects every text and every number in a value.
    pub(super) fn collect(&mut self, value: &Value, depth: usize) {
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

    pub(super) fn extend(&mut self, other: &Secrets) {
        self.too_many |= other.too_many;
        self.known.extend(other.known.iter().cloned());
    }

    /// Completes the collection. Called once all secrets are known.
    pub(super) fn seal(&mut self) {
        self.known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.known.dedup();
    }

    pub(super) fn is_one(&self, text: &str) -> bool {
        self.too_many || self.known.iter().any(|known| known == text)
    }

    /// Returns the text without the secrets. `None`: it contains none.
    pub(super) fn replace(&self, text: &str) -> Option<String> {
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
