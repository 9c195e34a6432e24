//! Hides secrets in recorded traffic.

use std::collections::BTreeSet;

use serde_json::Value;

use toolgen_kernel::base::needle::{self, SecretPattern};
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::layers::redact::{REDACTED, Redactor};

/// Minimum length of a credential that is searched for, in bytes: shorter strings also occur by chance, and the engine
/// that sends a credential hides it in its own messages.
const MIN_SECRET_BYTES: usize = 4;

/// The known secrets.
#[derive(Default)]
pub(super) struct KnownSecrets {
    texts: BTreeSet<String>,
    secrets: Vec<Secrets>,
}

/// The secrets to hide, ready to be searched for.
pub(super) struct SecretFilter<'a> {
    redactor: &'a Redactor,
    secrets: &'a [Secrets],
    /// The longest first, so that a secret is not split by another one that is part of it.
    needles: Vec<SecretPattern>,
}

impl KnownSecrets {
    /// Adds a credential, which is searched for in any encoding.
    pub(super) fn add(&mut self, text: &str) {
        if text.len() >= MIN_SECRET_BYTES && !self.texts.contains(text) {
            self.texts.insert(text.to_owned());
        }
    }

    /// Adds the secrets of a call or of a server.
    pub(super) fn add_all(&mut self, secrets: &Secrets) {
        let old_count = self.texts.len();
        secrets.texts().for_each(|text| self.add(text));
        if self.texts.len() > old_count || secrets.are_too_many() {
            self.secrets.push(secrets.clone());
        }
    }

    pub(super) fn filter_with<'a>(&'a self, redactor: &'a Redactor) -> SecretFilter<'a> {
        let mut texts: Vec<&String> = self.texts.iter().collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let needles = texts.into_iter().map(|text| SecretPattern::new(text, usize::MAX)).collect();
        SecretFilter { redactor, secrets: &self.secrets, needles }
    }
}

impl SecretFilter<'_> {
    /// Returns the value without secrets: known credentials in any encoding, values that the rules of the redactor
    /// hide, and the secrets of calls.
    pub(super) fn value(&self, value: Value) -> Value {
        let mut value = self.redactor.value(value);
        for secrets in self.secrets {
            secrets.hide_in_value(&mut value);
        }
        self.redact(&mut value);
        value
    }

    fn redact(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(redacted) = needle::replace(text, &self.needles, REDACTED) {
                    *text = redacted;
                }
            }
            Value::Number(number) => {
                if self.contains_secret(&number.to_string()) {
                    *value = REDACTED.into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact(item)),
            Value::Object(members) => {
                for (key, mut value) in std::mem::take(members) {
                    self.redact(&mut value);
                    let key = needle::replace(&key, &self.needles, REDACTED).unwrap_or(key);
                    members.insert(key, value);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Whether a string contains a known credential.
    pub(super) fn contains_secret(&self, text: &str) -> bool {
        needle::replace(text, &self.needles, REDACTED).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use serde_json::json;

    #[test]
    fn credential_is_found_at_any_base64_offset() {
        let mut known = KnownSecrets::default();
        known.add("s3cr3t?of>the-api");
        let redactor = Redactor::new();
        let filter = known.filter_with(&redactor);
        for before in ["", "a", "ab", "abc", "user:"] {
            for after in ["", "x", "xy", ":more"] {
                let text = format!("{before}s3cr3t?of>the-api{after}");
                for encoded in [STANDARD.encode(&text), URL_SAFE.encode(&text)] {
                    let redacted = filter.value(json!({ "said": [encoded], encoded.clone(): 1 })).to_string();
                    assert_eq!(redacted.matches(REDACTED).count(), 2, "{before} {after}: {redacted}");
                    assert!(filter.contains_secret(&encoded) && !filter.contains_secret(&redacted));
                }
            }
        }
        let unchanged = json!({"a": STANDARD.encode("another text"), "n": 12});
        assert_eq!(filter.value(unchanged.clone()), unchanged);
    }
}
