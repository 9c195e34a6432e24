//! Secrets of one server, which no other server may receive: values of environment variables, and tokens of requests.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::secrets::Secrets;

/// Maximum number of remembered tokens: a server may also repeat an earlier one.
const MAX_TOKENS: usize = 4;

/// The credentials of a server. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Credentials(Arc<Mutex<SecretValues>>);

#[derive(Default)]
struct SecretValues {
    variables: Secrets,
    tokens: std::collections::VecDeque<String>,
    all: Secrets,
}

impl Credentials {
    /// Creates the credentials of a server that receives these variables.
    pub(super) fn new(variables: Secrets) -> Credentials {
        Credentials(Arc::new(Mutex::new(SecretValues {
            all: variables.clone(),
            variables,
            tokens: std::collections::VecDeque::new(),
        })))
    }

    /// Records a token that was sent to the server.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "child processes receive no tokens"))]
    pub(super) fn record_token(&self, token: &str) {
        let SecretValues { variables, tokens, all } = &mut *unpoisoned(self.0.lock());
        if tokens.iter().any(|known| known == token) {
            return;
        }
        tokens.push_back(token.to_owned());
        if tokens.len() > MAX_TOKENS {
            tokens.pop_front();
        }
        all.clone_from(variables);
        tokens.iter().for_each(|token| all.collect(&Value::from(token.as_str()), 1));
    }

    /// Returns all secrets that are known so far.
    pub(super) fn current(&self) -> Secrets {
        unpoisoned(self.0.lock()).all.clone()
    }
}

/// Redacts credentials in the strings of a tool descriptor, so that a lock contains none. Names are not changed: a
/// tool with another name would be another tool.
pub(super) fn hide_in_descriptor(secrets: &Secrets, descriptor: &mut Value) {
    let Value::Object(members) = descriptor else { return };
    members.iter_mut().filter(|(key, _)| *key != "name").for_each(|(_, value)| hide(secrets, value));
}

fn hide(secrets: &Secrets, value: &mut Value) {
    match value {
        Value::String(text) => secrets.hide_in_text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(secrets, item)),
        Value::Object(members) => {
            let is_name = |key: &str, value: &Value| match key {
                "$ref" | "type" => !value.is_object(),
                "required" => value.is_array(),
                _ => false,
            };
            let texts = members.iter_mut().filter(|(key, value)| !is_name(key, value));
            texts.for_each(|(_, value)| hide(secrets, value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets_of(texts: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        texts.iter().for_each(|text| secrets.collect(&json!(text), 1));
        secrets
    }

    #[test]
    fn credentials_are_removed_from_a_descriptor() {
        let mut descriptor = json!({
            "name": "test_connection", "description": "Connects by pg://admin:s3cr3t@db.",
            "inputSchema": {
                "type": "object", "required": ["test"],
                "properties": {
                    "test": {"$ref": "#/$defs/test", "default": "s3cr3t"},
                    "required": {"description": "s3cr3t", "enum": ["a", "s3cr3t"]},
                },
            },
        });
        hide_in_descriptor(&secrets_of(&["s3cr3t", "test"]), &mut descriptor);
        assert!(!descriptor.to_string().contains("s3cr3t"), "{descriptor}");
        assert_eq!(descriptor["description"], "Connects by pg://admin:[REDACTED]@db.");
        assert_eq!(descriptor["name"], "test_connection");
        let schema = &descriptor["inputSchema"];
        assert_eq!(schema["required"], json!(["test"]));
        assert_eq!(schema["properties"]["test"]["$ref"], "#/$defs/test");
    }

    #[test]
    fn recent_tokens_are_remembered() {
        let credentials = Credentials::new(secrets_of(&["variable"]));
        for number in 0..200 {
            credentials.record_token(&format!("token-{number}"));
            credentials.record_token(&format!("token-{number}"));
        }
        let mut text = "variable token-199 token-198 token-3 here".to_owned();
        credentials.current().hide_in_text(&mut text);
        assert_eq!(text, "[REDACTED] [REDACTED] [REDACTED] token-3 here");
    }
}
