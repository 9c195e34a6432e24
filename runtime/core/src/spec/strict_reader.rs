//! Strict parsing of lock files: unknown keys are errors, and every error is reported.

use serde_json::Value;

use crate::base::frozen::{List, Text};
use crate::schema::shape::pointer::child;

/// An error in a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockProblem {
    /// The location, as a JSON pointer.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: &'static str,
}

/// Parses a value and collects its errors.
pub(super) struct Reader {
    pub(super) problems: Vec<LockProblem>,
    /// The help of most errors.
    help: &'static str,
}

impl Reader {
    pub(super) fn new(help: &'static str) -> Reader {
        Reader { problems: Vec::new(), help }
    }

    pub(super) fn fail(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.fail_with(pointer, message, self.help);
    }

    pub(super) fn fail_with(
        &mut self,
        pointer: impl Into<String>,
        message: impl Into<String>,
        help: &'static str,
    ) {
        self.problems.push(LockProblem { pointer: pointer.into(), message: message.into(), help });
    }

    /// Returns a required string.
    pub(super) fn text(&mut self, object: &Value, pointer: &str, key: &str) -> String {
        match object.get(key) {
            Some(Value::String(text)) => text.clone(),
            _ => {
                self.fail(child(pointer, key), format!("`{key}` is not a string"));
                String::new()
            }
        }
    }

    /// Returns a required list of strings.
    pub(super) fn texts(&mut self, object: &Value, pointer: &str, key: &str) -> List<Text> {
        let items = object.get(key).and_then(Value::as_array);
        let texts: Option<Vec<Text>> =
            items.and_then(|items| items.iter().map(|item| item.as_str().map(Text::copy_of)).collect());
        texts.map_or_else(
            || {
                self.fail(child(pointer, key), format!("`{key}` is not an array of strings"));
                List::EMPTY
            },
            List::from,
        )
    }

    /// Reports unknown keys, or a value that is not an object.
    pub(super) fn keys(&mut self, object: &Value, pointer: &str, known_keys: &[&str]) {
        let Some(members) = object.as_object() else {
            return self.fail(pointer, "this is not an object");
        };
        for key in members.keys().filter(|key| !known_keys.contains(&key.as_str())) {
            self.fail(child(pointer, key), format!("unknown key `{key}`"));
        }
    }
}
