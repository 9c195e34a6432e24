//! The secrets of a call, to be found again in other texts.

use std::fmt;
use std::sync::Arc;

use serde_json::{Number, Value};

use crate::base::frozen::Text;
use crate::base::needle::{self, Needle};
use crate::call::result::{Content, ResourceData, ToolResult};
use crate::call::structured::Structured;

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
    known: Vec<Arc<Needle>>,
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
            Value::Number(number) => forms(number).for_each(|form| self.add(&form)),
            Value::Array(_) | Value::Object(_) if depth == 0 => self.too_many = true,
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, depth - 1)),
            Value::Object(fields) => fields.values().for_each(|value| self.collect(value, depth - 1)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn add(&mut self, text: &str) {
        let trimmed = text.trim();
        if trimmed.chars().count() >= SHORTEST && trimmed != REDACTED && !self.is_one(trimmed) {
            self.push(Arc::new(Needle::new(trimmed, START)));
        }
    }

    fn push(&mut self, secret: Arc<Needle>) {
        self.too_many |= self.known.len() >= MOST;
        if self.too_many {
            self.known.clear();
        } else {
            self.known.push(secret);
        }
    }

    /// Adds other secrets.
    pub(crate) fn extend(&mut self, other: &Secrets) {
        self.too_many |= other.too_many;
        for secret in &other.known {
            if !self.is_one(secret.text()) {
                self.push(Arc::clone(secret));
            }
        }
    }

    /// Returns both these and other secrets.
    pub(crate) fn and(&self, other: &Secrets) -> Secrets {
        let mut all = self.clone();
        all.extend(other);
        all
    }

    fn is_one(&self, text: &str) -> bool {
        self.too_many || self.known.iter().any(|known| known.text() == text)
    }

    /// Returns whether a number is a secret, however it is written.
    pub(crate) fn holds(&self, number: &Number) -> bool {
        !self.is_empty() && forms(number).any(|form| self.is_one(&form))
    }

    /// Returns the text without the secrets. `None`: it contains none.
    pub(crate) fn replace(&self, text: &str) -> Option<String> {
        if self.too_many {
            return Some(REDACTED.to_owned());
        }
        needle::replace(text, self.needles(), REDACTED)
    }

    fn needles(&self) -> impl Iterator<Item = &Needle> {
        self.known.iter().map(|known| &**known)
    }
}

impl Secrets {
    /// Hides these secrets in what people see of a result.
    pub(crate) fn hide_in(&self, result: &mut ToolResult) {
        for content in &mut result.content {
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
            }
        }
        self.hide_in_value(&mut result.details, DEPTH);
        if let Some(id) = &mut result.child_loop_id {
            self.hide_in_text(id);
        }
        match &mut result.structured {
            Structured::Details => {}
            Structured::DetailsWithout(names) => names.iter_mut().for_each(|name| self.hide_in_frozen(name)),
            Structured::Json(text) | Structured::Missing(text) => self.hide_in_frozen(text),
        }
    }

    /// Hides these secrets in a text.
    pub(crate) fn hide_in_text(&self, text: &mut String) {
        if let Some(clean) = self.replace(text) {
            *text = clean;
        }
    }

    fn hide_in_frozen(&self, text: &mut Text) {
        if let Some(clean) = self.replace(text) {
            *text = clean.into();
        }
    }

    fn hide_in_value(&self, value: &mut Value, depth: usize) {
        match value {
            Value::String(text) => self.hide_in_text(text),
            Value::Number(number) if self.holds(number) => *value = Value::from(REDACTED),
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

/// Returns a number as JSON and as Rust write it: `1.0` and `1`.
fn forms(number: &Number) -> impl Iterator<Item = String> {
    let float = number.as_f64().filter(|_| number.is_f64());
    std::iter::once(number.to_string()).chain(float.map(|float| float.to_string()))
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(****)")
    }
}
