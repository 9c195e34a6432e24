//! Applies the rules of a redactor.

use std::borrow::Cow;

use serde_json::Value;

use super::scan::{self, Prefix};
use super::{FAILED_MASK, REDACTED, Secrets, TOO_DEEP_MASK};
use crate::base::future::catch_panic;
use crate::base::secret_names::Keys;

/// A rule of the program: takes the key of a string (empty if there is no key) and the string, and returns the
/// replacement, or `None` to leave the string unchanged.
type Rule = Box<dyn Fn(&str, &str) -> Option<String> + Send + Sync>;

pub(super) struct RedactionRules {
    pub(super) keys: Keys,
    pub(super) prefixes: Vec<Prefix>,
    pub(super) rules: Vec<Rule>,
    pub(super) max_depth: usize,
}

impl RedactionRules {
    /// Hides the values under secret keys, and collects them.
    pub(super) fn hide_keys(&self, value: &mut Value, secrets: &mut Secrets, depth: usize) {
        match value {
            Value::Object(_) | Value::Array(_) if depth == 0 => *value = Value::from(TOO_DEEP_MASK),
            Value::Object(fields) => {
                for (key, value) in fields {
                    // The presence of a secret is not itself secret.
                    let may_reveal = !value.is_null() && !value.is_boolean();
                    if may_reveal && self.keys.holds(key) {
                        secrets.collect(value, depth);
                        *value = Value::from(REDACTED);
                    } else {
                        self.hide_keys(value, secrets, depth - 1);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_keys(item, secrets, depth - 1)),
            _ => {}
        }
    }

    /// Hides secrets in all strings of a value and in its keys, and numbers that are secrets.
    pub(super) fn redact_value(&self, key: &str, value: &mut Value, secrets: &Secrets, depth: usize) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact_text(key, text, secrets, depth) {
                    *text = redacted;
                }
            }
            Value::Number(number) => {
                if secrets.holds(number) {
                    *value = Value::from(REDACTED);
                }
            }
            Value::Array(items) => {
                items
                    .iter_mut()
                    .for_each(|item| self.redact_value(key, item, secrets, depth.saturating_sub(1)));
            }
            Value::Object(fields) => {
                let members = std::mem::take(fields);
                for (key, mut value) in members {
                    self.redact_value(&key, &mut value, secrets, depth.saturating_sub(1));
                    let redacted = self.redact_known(&key, secrets).map(Cow::into_owned).unwrap_or(key);
                    fields.insert(redacted, value);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    pub(super) fn redact_text<'t>(
        &self,
        key: &str,
        text: &'t str,
        secrets: &Secrets,
        depth: usize,
    ) -> Cow<'t, str> {
        if text == REDACTED {
            return Cow::Borrowed(text);
        }
        let mut redacted = match self.redact_json_text(text, secrets, depth) {
            Some(redacted) => Cow::Owned(redacted),
            None => self.redact_known(text, secrets).unwrap_or(Cow::Borrowed(text)),
        };
        for rule in &self.rules {
            match catch_panic(|| rule(key, &redacted)) {
                Some(Some(replacement)) => redacted = Cow::Owned(replacement),
                Some(None) => {}
                None => return Cow::Owned(FAILED_MASK.to_owned()),
            }
        }
        redacted
    }

    /// Redacts a string that is a JSON document. `None` if nothing in it must be hidden.
    fn redact_json_text(&self, text: &str, secrets: &Secrets, depth: usize) -> Option<String> {
        if depth == 0 || !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let value: Value = serde_json::from_str(text).ok()?;
        let mut redacted = value.clone();
        self.hide_keys(&mut redacted, &mut Secrets::default(), depth - 1);
        self.redact_value("", &mut redacted, secrets, depth - 1);
        (redacted != value).then(|| redacted.to_string())
    }

    /// Returns the string without known secrets and without parts that look like a secret.
    fn redact_known<'t>(&self, text: &'t str, secrets: &Secrets) -> Option<Cow<'t, str>> {
        let known_removed = secrets.replace(text);
        let assigned_removed =
            scan::redact_assignments(known_removed.as_deref().unwrap_or(text), &self.keys).or(known_removed);
        scan::redact_tokens(assigned_removed.as_deref().unwrap_or(text), &self.prefixes)
            .or(assigned_removed)
            .map(Cow::Owned)
    }
}

/// Hides every string and every number. Values that are nested too deeply were already dropped.
pub(super) fn hide_all(value: &mut Value) {
    match value {
        Value::String(_) | Value::Number(_) => *value = Value::from(REDACTED),
        Value::Array(items) => items.iter_mut().for_each(hide_all),
        Value::Object(fields) => fields.values_mut().for_each(hide_all),
        Value::Null | Value::Bool(_) => {}
    }
}
