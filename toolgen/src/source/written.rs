//! The texts of scalars that a value does not keep: `1.10` is the number 1.1, `0x1F` is 31, `01234` is 1234.
//!
//! Where a text belongs, the author meant these characters: a version, a code, a name. What takes a scalar as a text
//! asks for them here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Pointer;
use super::yaml::resolve;

/// The scalars of a document whose values print otherwise than they are written, as a tree like the document's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    /// The text of a scalar.
    Text(Box<str>),
    /// The members of an object by their keys, or the items of a list by their indices.
    Parts(BTreeMap<String, Written>),
}

impl Default for Written {
    fn default() -> Self {
        Written::Parts(BTreeMap::new())
    }
}

impl Written {
    /// Returns the text of a scalar if its value, which is no text, prints otherwise.
    pub(super) fn of(text: &str, value: &Value) -> Option<Written> {
        let differs = match value {
            Value::String(_) => false,
            // Most are plain whole numbers.
            Value::Number(_) if is_plain(text) => false,
            value => format!("{value}") != text,
        };
        differs.then(|| Written::Text(text.into()))
    }

    /// Returns parts as one, unless there are none.
    pub(super) fn of_parts(parts: BTreeMap<String, Written>) -> Option<Written> {
        (!parts.is_empty()).then_some(Written::Parts(parts))
    }

    /// Adds a part at the end of a path.
    pub(super) fn add(&mut self, path: &[String], part: Written) {
        let mut here = self;
        for token in path {
            if let Written::Text(_) = here {
                *here = Written::default();
            }
            let Written::Parts(parts) = here else { return };
            here = parts.entry(token.clone()).or_default();
        }
        *here = part;
    }

    /// Returns the text of a scalar at a place, as the document writes it: a text as it is, a number or a boolean by its
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

    /// Returns the text of a scalar at a place, if its value prints otherwise. An overlay may have put another value
    /// there.
    pub(crate) fn at(&self, value: &Value, pointer: &Pointer) -> Option<&str> {
        let Written::Text(text) = self.part(pointer)? else { return None };
        (resolve(text).split(text).0 == *value).then_some(text)
    }

    /// Returns what is known about a place and what is below it.
    pub(crate) fn part(&self, pointer: &Pointer) -> Option<&Written> {
        let mut here = self;
        for token in pointer.tokens() {
            let Written::Parts(parts) = here else { return None };
            here = parts.get(&*token)?;
        }
        Some(here)
    }
}

/// Whether a text is a whole number that prints as it is written.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() < 19 && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}
