//! The source text of scalars that a value does not preserve: `1.10` is the number 1.1, `0x1F` is 31, `01234` is
//! 1234.
//!
//! Where a string is expected, the author meant these characters: a version, a code, a name. Code that converts a
//! scalar to a string looks them up here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Pointer;
use super::yaml::resolve;

/// The scalars of a document whose values print differently from their source, as a tree like the document's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    /// The source text of a scalar.
    Text(Box<str>),
    /// The members of an object by their keys, or the items of an array by their indices.
    Parts(BTreeMap<String, Written>),
}

impl Default for Written {
    fn default() -> Self {
        Written::Parts(BTreeMap::new())
    }
}

impl Written {
    /// Returns the source text of a scalar if its value is not a string and prints differently.
    pub(super) fn of(text: &str, value: &Value) -> Option<Written> {
        let differs = match value {
            Value::String(_) => false,
            // Most numbers are plain integers.
            Value::Number(_) if is_plain(text) => false,
            value => format!("{value}") != text,
        };
        differs.then(|| Written::Text(text.into()))
    }

    /// Returns parts as one value, unless there are none.
    pub(super) fn of_parts(parts: BTreeMap<String, Written>) -> Option<Written> {
        (!parts.is_empty()).then_some(Written::Parts(parts))
    }

    /// Adds a part at the end of a path.
    pub(super) fn add(&mut self, path: &[String], part: Written) {
        let mut node = self;
        for token in path {
            if let Written::Text(_) = node {
                *node = Written::default();
            }
            let Written::Parts(parts) = node else { return };
            node = parts.entry(token.clone()).or_default();
        }
        *node = part;
    }

    /// Returns the scalar at a location as the document writes it: a string unchanged, a number or a boolean by its
    /// own characters. `None` for anything else.
    pub(crate) fn text_of<'t>(&'t self, value: &'t Value, pointer: &Pointer) -> Option<Cow<'t, str>> {
        match value {
            Value::String(text) => Some(text.into()),
            Value::Number(_) | Value::Bool(_) => {
                Some(self.at(value, pointer).map_or_else(|| value.to_string().into(), Cow::from))
            }
            _ => None,
        }
    }

    /// Returns the source text of the scalar at a location, if its value prints differently. An overlay may have
    /// replaced the value.
    pub(crate) fn at(&self, value: &Value, pointer: &Pointer) -> Option<&str> {
        let Written::Text(text) = self.part(pointer)? else { return None };
        (resolve(text).split(text).0 == *value).then_some(text)
    }

    /// Returns the part of the tree at a location.
    pub(crate) fn part(&self, pointer: &Pointer) -> Option<&Written> {
        let mut node = self;
        for token in pointer.tokens() {
            let Written::Parts(parts) = node else { return None };
            node = parts.get(&*token)?;
        }
        Some(node)
    }
}

/// Whether a text is an integer that prints as in the document.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() < 19 && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}
