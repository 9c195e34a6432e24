//! Values of a document with their locations.

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolgen_core::schema::shape::read::plain_markdown;

use crate::source::Pointer;

/// A value of the document and its location. Members that are `null` count as absent: documents use `null` this way.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    /// The JSON value.
    pub(super) value: &'a Value,
    /// The location of the value.
    pub(super) pointer: Pointer,
}

impl<'a> Node<'a> {
    pub(super) fn new(value: &'a Value, pointer: Pointer) -> Node<'a> {
        Node { value, pointer }
    }

    pub(super) fn object(&self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    /// Returns the member with this key, unless it is absent or `null`.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let value = self.value.as_object()?.get(key).filter(|value| !value.is_null())?;
        Some(Node { value, pointer: self.pointer.child(key) })
    }

    /// Returns the member with this key if it is a string.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.as_object()?.get(key)?.as_str()
    }

    /// Returns the description with this key, as the model sees it; empty if there is none.
    pub(super) fn prose(&self, key: &str) -> Cow<'a, str> {
        self.text(key).map(plain_markdown).unwrap_or_default()
    }

    /// Whether the member with this key is `true` or an equivalent.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.boolean(key) == Some(true)
    }

    /// Returns the boolean with this key: `true` or `false`, also as a string or a boolean of YAML 1.1 (`yes`, `off`).
    /// `None` if the member is absent or has another value.
    pub(super) fn boolean(&self, key: &str) -> Option<bool> {
        match self.value.as_object()?.get(key)? {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "y" | "on" => Some(true),
                "false" | "no" | "n" | "off" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether this schema requires a property.
    pub(super) fn requires(&self, property: &str) -> bool {
        self.items("required").iter().any(|name| name.value.as_str() == Some(property))
    }

    /// Returns the members of the object with this key.
    pub(super) fn members(&self, key: &str) -> Vec<(&'a str, Node<'a>)> {
        self.get(key).map(|node| node.entries()).unwrap_or_default()
    }

    /// Returns the members of this object, except extensions (`x-…`) and `null`s.
    pub(super) fn entries(&self) -> Vec<(&'a str, Node<'a>)> {
        let Some(object) = self.value.as_object() else { return Vec::new() };
        object
            .iter()
            .filter(|(key, value)| !value.is_null() && !key.starts_with("x-"))
            .map(|(key, value)| (key.as_str(), Node { value, pointer: self.pointer.child(key) }))
            .collect()
    }

    /// Returns the items of the array with this key.
    pub(super) fn items(&self, key: &str) -> Vec<Node<'a>> {
        self.get(key).map(|array| array.array_items()).unwrap_or_default()
    }

    /// Returns the items of this array.
    pub(super) fn array_items(&self) -> Vec<Node<'a>> {
        let Some(items) = self.value.as_array() else { return Vec::new() };
        items
            .iter()
            .enumerate()
            .map(|(index, value)| Node { value, pointer: self.pointer.item(index) })
            .collect()
    }
}
