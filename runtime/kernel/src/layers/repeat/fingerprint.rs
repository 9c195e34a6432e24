//! Short values that identify calls and errors.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};

use serde_json::{Number, Value};

/// Hashes with a random key, so that no client can construct two calls with the same fingerprint.
#[derive(Clone, Debug)]
pub(super) struct Fingerprints(RandomState);

impl Fingerprints {
    pub(super) fn new() -> Fingerprints {
        Fingerprints(RandomState::new())
    }

    /// Returns the fingerprint of an owner, a tool and its arguments.
    pub(super) fn of_call(&self, owner: impl Hash, tool: &str, params: &Value) -> u64 {
        let params = match params {
            Value::Null => self.of_value(&Value::Object(serde_json::Map::new())),
            params => self.of_value(params),
        };
        self.0.hash_one((owner, tool, params))
    }

    /// Returns the fingerprint of a string.
    pub(super) fn of_text(&self, text: &str) -> u64 {
        self.0.hash_one(text)
    }

    fn of_value(&self, value: &Value) -> u64 {
        let mut hasher = self.0.build_hasher();
        match value {
            Value::Null => 0u8.hash(&mut hasher),
            Value::Bool(flag) => (1u8, flag).hash(&mut hasher),
            Value::Number(number) => match to_i128(number) {
                Some(integer) => (2u8, integer).hash(&mut hasher),
                None => (3u8, number).hash(&mut hasher),
            },
            Value::String(text) => (4u8, text).hash(&mut hasher),
            Value::Array(items) => {
                (5u8, items.len()).hash(&mut hasher);
                for item in items {
                    self.of_value(item).hash(&mut hasher);
                }
            }
            Value::Object(fields) => (6u8, self.of_object(fields)).hash(&mut hasher),
        }
        hasher.finish()
    }

    /// Combines the fields with a sum, so that their order does not matter.
    fn of_object(&self, fields: &serde_json::Map<String, Value>) -> u64 {
        let hashes = fields.iter().map(|(name, value)| self.0.hash_one((name, self.of_value(value))));
        self.0.hash_one((fields.len(), hashes.fold(0u64, u64::wrapping_add)))
    }
}

/// Returns the value of a number as an integer, in any notation; `None` if it is not an integer.
fn to_i128(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i64() {
        return Some(number.into());
    }
    if let Some(number) = number.as_u64() {
        return Some(number.into());
    }
    // Floats represent every integer up to this one exactly; above it, two integers may have the same float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = number.as_f64()?;
    #[allow(clippy::cast_possible_truncation, reason = "it is an integer within the range")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i128)
}
