//! Applies the rules of a redactor.

use std::borrow::Cow;

use serde_json::Value;

use super::scan::{self, Prefix};
use super::{FAILED_MASK, REDACTED, Secrets, TOO_DEEP_MASK};
use crate::base::future::contained;
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
    pub(super) fn hide_keys(&self, value: &mut Value, found: &mut Secrets, depth: usize) {
        match value {
            Value::Object(_) | Value::Array(_) if depth == 0 => *value = Value::from(TOO_DEEP_MASK),
            Value::Object(fields) => {
                for (key, value) in fields {
                    // The presence of a secret is not itself secret.
                    let tells = !value.is_null() && !value.is_boolean();
                    if tells && self.keys.holds(key) {
                        found.collect(value, depth);
                        *value = Value::from(REDACTED);
                    } else {
                        self.hide_keys(value, found, depth - 1);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_keys(item, found, depth - 1)),
            _ => {}
        }
    }

    /// Hides secrets in all strings of a value and in its keys, and numbers that are secrets.
    pub(super) fn clean(&self, key: &str, value: &mut Value, secrets: &Secrets, depth: usize) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(key, text, secrets, depth) {
                    *text = clean;
                }
            }
            Value::Number(number) => {
                if secrets.holds(number) {
                    *value = Value::from(REDACTED);
                }
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.clean(key, item, secrets, depth.saturating_sub(1)));
            }
            Value::Object(fields) => {
                let owned = std::mem::take(fields);
                for (key, mut value) in owned {
                    self.clean(&key, &mut value, secrets, depth.saturating_sub(1));
                    let clean = self.redact_known(&key, secrets).map(Cow::into_owned).unwrap_or(key);
                    fields.insert(clean, value);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    pub(super) fn text<'t>(&self, key: &str, text: &'t str, secrets: &Secrets, depth: usize) -> Cow<'t, str> {
        if text == REDACTED {
            return Cow::Borrowed(text);
        }
        let mut clean = match self.inner(text, secrets, depth) {
            Some(inner) => Cow::Owned(inner),
            None => self.redact_known(text, secrets).unwrap_or(Cow::Borrowed(text)),
        };
        for rule in &self.rules {
            match contained(|| rule(key, &clean)) {
                Some(Some(changed)) => clean = Cow::Owned(changed),
                Some(None) => {}
                None => return Cow::Owned(FAILED_MASK.to_owned()),
            }
        }
        clean
    }

    /// Redacts a string that is a JSON document. `None` if nothing in it has to be hidden.
    fn inner(&self, text: &str, secrets: &Secrets, depth: usize) -> Option<String> {
        if depth == 0 || !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let whole: Value = serde_json::from_str(text).ok()?;
        let mut clean = whole.clone();
        self.hide_keys(&mut clean, &mut Secrets::default(), depth - 1);
        self.clean("", &mut clean, secrets, depth - 1);
        (clean != whole).then(|| clean.to_string())
    }

    /// Returns the string without known secrets and without parts that look like a secret.
    fn redact_known<'t>(&self, text: &'t str, secrets: &Secrets) -> Option<Cow<'t, str>> {
        let without = secrets.replace(text);
        let named = scan::assignments(without.as_deref().unwrap_or(text), &self.keys).or(without);
        scan::tokens(named.as_deref().unwrap_or(text), &self.prefixes).or(named).map(Cow::Owned)
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
