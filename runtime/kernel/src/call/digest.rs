//! Digests of tool promises, and keyed digests that seal data leaving the program.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::base::frozen::Text;
use crate::base::sha256::{hex, sha256};
use crate::call::error::ToolError;
use crate::call::tool::AgentTool;

/// Returns the SHA-256 of a tool's promise, in hexadecimal.
#[doc(hidden)]
pub fn promise(tool: &dyn AgentTool) -> String {
    let spec = tool.spec();
    let mut promise = json!({
        "name": spec.name.as_str(),
        "description": spec.description.as_str(),
        "input_schema": tool.parameters_schema(),
        "effects": format!("{:?}", spec.effects),
        "scopes": spec.scopes.iter().map(Text::as_str).collect::<Vec<_>>(),
    });
    if let Some(action) = tool.action() {
        promise["action"] = action.into();
    }
    fingerprint(&promise.to_string())
}

/// Returns the SHA-256 of a string, in hexadecimal.
#[doc(hidden)]
pub fn fingerprint(text: &str) -> String {
    sha256(text.as_bytes())
}

/// The block size of SHA-256 in bytes, which is also the length of HMAC keys.
const BLOCK: usize = 64;

/// The key of seals. Without it, sealed data cannot be changed undetected.
#[derive(Clone)]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only for the crates of the workspace")]
pub struct SealKey([u8; BLOCK]);

impl SealKey {
    /// Creates a key from a secret of any length.
    pub(crate) fn new(secret: &[u8]) -> SealKey {
        let mut key = [0; BLOCK];
        let hashed;
        let secret = if secret.len() > BLOCK {
            hashed = Sha256::digest(secret);
            &hashed[..]
        } else {
            secret
        };
        key.iter_mut().zip(secret).for_each(|(byte, secret)| *byte = *secret);
        SealKey(key)
    }

    /// Creates a random key.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system provides no random numbers.
    #[doc(hidden)]
    pub fn random() -> Result<SealKey, ToolError> {
        Ok(SealKey::new(&random::<32>()?))
    }

    /// Creates a unique seal for data: a name of 32 digits, a period, and a digest of 64 digits.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system provides no random numbers.
    #[doc(hidden)]
    pub fn seal(&self, data: &Value) -> Result<Text, ToolError> {
        let name = hex(&random::<16>()?);
        let digest = hex(&self.digest(&name, data));
        Ok(format!("{name}.{digest}").into())
    }

    /// Whether the seal was made with this key for exactly this data. The order of object keys and the notation of
    /// numbers do not matter.
    #[doc(hidden)]
    pub fn holds(&self, seal: &str, data: &Value) -> bool {
        let Some((name, digest)) = seal.split_once('.') else { return false };
        let expected = hex(&self.digest(name, data));
        // The comparison takes constant time, wherever the first difference is.
        let differences = expected.bytes().zip(digest.bytes()).fold(0, |bits, (a, b)| bits | (a ^ b));
        differences == 0 && expected.len() == digest.len()
    }

    fn digest(&self, name: &str, data: &Value) -> [u8; 32] {
        let mut message = format!("{name}\n");
        canonical(data, &mut message);
        self.hmac(message.as_bytes())
    }

    /// Computes HMAC-SHA256 (RFC 2104).
    fn hmac(&self, message: &[u8]) -> [u8; 32] {
        let inner =
            Sha256::new().chain_update(self.0.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
        Sha256::new().chain_update(self.0.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().into()
    }
}

fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], ToolError> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| {
        let detail = format!("no random numbers: {error}");
        ToolError::failed("The call was not executed: it could not be sealed").with_operator_detail(detail)
    })?;
    Ok(bytes)
}

/// Writes canonical JSON, which is the same for equal values: keys in order, whole numbers as integers. Stores and
/// browsers change both.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in fields {
                let _ = write!(out, "{}:", Value::from(key.as_str()));
                canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Number(number) => {
            let _ = match number.as_f64().filter(|float| number.is_f64() && is_whole(*float)) {
                Some(integer) => write!(out, "{integer:.0}"),
                None => write!(out, "{number}"),
            };
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

/// Whether a float is an integer, and no other integer rounds to it.
fn is_whole(float: f64) -> bool {
    float.fract() == 0.0 && float.abs() <= 2f64.powi(53) && (float != 0.0 || float.is_sign_positive())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_matches_rfc_4231() {
        let short = SealKey::new(b"Jefe").hmac(b"what do ya want for nothing?");
        assert_eq!(hex(&short), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let long = SealKey::new(&[0xaa; 131]).hmac(b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(hex(&long), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }

    #[test]
    fn seal_matches_equal_data_only() {
        let key = SealKey::new(b"secret");
        let data = json!({"a": [1, 2.5, "x"], "b": {"c": null, "d": 3}});
        let seal = key.seal(&data).unwrap();
        assert!(key.holds(&seal, &data));
        assert!(key.holds(&seal, &json!({"b": {"d": 3.0, "c": null}, "a": [1.0, 2.5, "x"]})));
        for other in [
            json!({"a": [1, 2.5, "x"], "b": {"c": null, "d": 4}}),
            json!({"a": [1, 2.5, "x"], "b": {"c": null, "d": "3"}}),
            json!({"a": [1, 2.5], "b": {"c": null, "d": 3}}),
            json!({"a": [[1, 2.5, "x"]], "b": {"c": null, "d": 3}}),
        ] {
            assert!(!key.holds(&seal, &other), "{other}");
        }
        let (name, digest) = seal.split_once('.').unwrap();
        for broken in ["", ".", name, &seal[1..], &seal[..seal.len() - 1], &format!("x{name}.{digest}")] {
            assert!(!key.holds(broken, &data), "{broken}");
        }
        assert!(!SealKey::new(b"other").holds(&seal, &data));
        assert_ne!(key.seal(&data).unwrap(), seal);
    }
}
