//! Values of a call's context, and their provenance.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

/// Values that come with a call but not from the model, such as the caller's workspace or a session's key.
///
/// Each value has a [`Provenance`]. A value sent by a client never replaces a trusted value, in either order, so that
/// no caller can act for another by sending its ID. [`shadowed`](Self::shadowed) lists such attempts. Clones share the
/// values; an empty set allocates nothing.
///
/// ```
/// use toolgen_runtime::call::context_values::{ContextValues, Provenance};
///
/// let values = ContextValues::default().with_trusted("workspace_id", 7).with_client("workspace_id", 8);
/// assert_eq!(values.get("workspace_id"), Some(&7.into()));
/// assert_eq!(values.provenance("workspace_id"), Some(Provenance::Trusted));
/// assert_eq!(values.shadowed().collect::<Vec<_>>(), ["workspace_id"]);
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct ContextValues(Option<Arc<Inner>>);

#[derive(Clone, Default, PartialEq)]
struct Inner {
    values: BTreeMap<String, (Provenance, Value)>,
    shadowed: BTreeSet<String>,
}

/// The source of a context value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provenance {
    /// The caller sent it; it cannot be trusted.
    Client,
    /// The program set it, usually after it authenticated the caller.
    Trusted,
}

impl ContextValues {
    /// Adds a trusted value, replacing any value under this key.
    #[must_use]
    pub fn with_trusted(self, key: impl Into<String>, value: impl Into<Value>) -> ContextValues {
        self.with(key.into(), Provenance::Trusted, value.into())
    }

    /// Adds a value that the caller sent. If the key has a trusted value, the new value is dropped and the key is
    /// recorded, even if both values are equal.
    #[must_use]
    pub fn with_client(self, key: impl Into<String>, value: impl Into<Value>) -> ContextValues {
        self.with(key.into(), Provenance::Client, value.into())
    }

    /// Adds each field of an object that the caller sent, as [`with_client`](Self::with_client) does. A value that is
    /// not an object is ignored.
    #[must_use]
    pub fn with_client_object(self, object: Value) -> ContextValues {
        match object {
            Value::Object(fields) => {
                fields.into_iter().fold(self, |values, (key, value)| values.with_client(key, value))
            }
            _ => self,
        }
    }

    /// Merges two sets of values: `later` wins over these at equal provenance, and trusted always wins over client. A
    /// toolbox's values are merged with those of a call this way.
    #[must_use]
    pub fn merged(&self, later: &ContextValues) -> ContextValues {
        let (Some(base), Some(other)) = (&self.0, &later.0) else {
            return if later.0.is_none() { self.clone() } else { later.clone() };
        };
        let mut inner = (**base).clone();
        inner.shadowed.extend(other.shadowed.iter().cloned());
        for (key, (provenance, value)) in &other.values {
            inner.put(key.clone(), *provenance, value.clone());
        }
        ContextValues(Some(Arc::new(inner)))
    }

    /// Returns the value under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        Some(&self.0.as_ref()?.values.get(key)?.1)
    }

    /// Returns the value under a key if it is trusted.
    #[must_use]
    pub fn trusted(&self, key: &str) -> Option<&Value> {
        match self.0.as_ref()?.values.get(key)? {
            (Provenance::Trusted, value) => Some(value),
            (Provenance::Client, _) => None,
        }
    }

    /// Returns the provenance of the value under a key.
    #[must_use]
    pub fn provenance(&self, key: &str) -> Option<Provenance> {
        Some(self.0.as_ref()?.values.get(key)?.0)
    }

    /// The keys for which a client's value was dropped in favor of a trusted one, sorted. Each is an
    /// attempt to act for another caller, or the client repeats a value it received.
    pub fn shadowed(&self) -> impl Iterator<Item = &str> {
        self.inner().shadowed.iter().map(String::as_str)
    }

    /// Iterates over the values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Provenance, &Value)> {
        self.inner().values.iter().map(|(key, (provenance, value))| (key.as_str(), *provenance, value))
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner().values.is_empty()
    }

    fn with(mut self, key: String, provenance: Provenance, value: Value) -> ContextValues {
        Arc::make_mut(self.0.get_or_insert_default()).put(key, provenance, value);
        self
    }

    fn inner(&self) -> &Inner {
        static EMPTY: OnceLock<Inner> = OnceLock::new();
        match &self.0 {
            Some(inner) => inner,
            None => EMPTY.get_or_init(Inner::default),
        }
    }
}

impl Inner {
    fn put(&mut self, key: String, provenance: Provenance, value: Value) {
        let current = self.values.get(&key).map(|(provenance, _)| *provenance);
        if current.is_some_and(|current| current != provenance) {
            self.shadowed.insert(key.clone());
        }
        if current <= Some(provenance) {
            self.values.insert(key, (provenance, value));
        }
    }
}

/// Whether a value is present and not empty.
#[doc(hidden)]
pub fn is_given(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Prints the keys and provenances. Values are omitted, since some are secrets.
impl fmt::Debug for ContextValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(key, provenance, _)| (key, provenance))).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shadowed(values: &ContextValues) -> Vec<&str> {
        values.shadowed().collect()
    }

    #[test]
    fn client_cannot_shadow_a_trusted_value_in_any_order() {
        let empty = ContextValues::default();
        let after = empty.clone().with_trusted("workspace_id", 1).with_client("workspace_id", 2);
        let before = empty.with_client("workspace_id", 2).with_trusted("workspace_id", 1);
        for values in [after, before] {
            assert_eq!(values.get("workspace_id"), Some(&json!(1)));
            assert_eq!(values.trusted("workspace_id"), Some(&json!(1)));
            assert_eq!(shadowed(&values), ["workspace_id"]);
        }
    }

    #[test]
    fn merging_keeps_trusted_values_on_both_sides() {
        let toolbox = ContextValues::default().with_trusted("tenant", "a").with_client("session_id", "s");
        let call = ContextValues::default().with_client("tenant", "b").with_client("session_id", "t");
        let merged = toolbox.merged(&call);
        assert_eq!(merged.get("tenant"), Some(&json!("a")));
        assert_eq!(merged.get("session_id"), Some(&json!("t")));
        assert_eq!(shadowed(&merged), ["tenant"]);
        let reversed = call.merged(&toolbox);
        assert_eq!(reversed.get("tenant"), Some(&json!("a")));
        assert_eq!(shadowed(&reversed), ["tenant"]);
        assert_eq!(toolbox.get("session_id"), Some(&json!("s")), "the first set is unchanged");
    }

    #[test]
    fn later_value_of_equal_trust_wins() {
        let first = ContextValues::default().with_trusted("a", 1).with_client("b", 1);
        let values = first.merged(&ContextValues::default().with_trusted("a", 2).with_client("b", 2));
        assert_eq!((values.get("a"), values.get("b")), (Some(&json!(2)), Some(&json!(2))));
        assert_eq!(shadowed(&values), Vec::<&str>::new());
    }

    #[test]
    fn client_cannot_replace_a_trusted_null() {
        let values = ContextValues::default()
            .with_trusted("workspace_id", Value::Null)
            .with_client_object(json!({ "workspace_id": 9, "other": true }));
        assert_eq!(values.get("workspace_id"), Some(&Value::Null));
        assert_eq!(values.provenance("other"), Some(Provenance::Client));
        assert_eq!(values.trusted("other"), None);
    }

    #[test]
    fn shadowing_attempt_is_preserved_by_merge() {
        let values = ContextValues::default().with_trusted("a", 1).with_client("a", 2);
        assert_eq!(shadowed(&values.merged(&ContextValues::default())), ["a"]);
        assert_eq!(shadowed(&ContextValues::default().merged(&values)), ["a"]);
        assert_eq!(shadowed(&values.merged(&ContextValues::default().with_client("b", 1))), ["a"]);
    }

    #[test]
    fn values_are_not_shown_by_debug() {
        let values = ContextValues::default().with_trusted("token", "s3cret");
        assert_eq!(format!("{values:?}"), r#"{"token": Trusted}"#);
        assert!(ContextValues::default().is_empty());
    }
}
