//! Places in a document with their values.

use serde_json::{Map, Value};

use crate::source::Pointer;

/// A value of the document and where it stands. `null` counts as absent everywhere below it: documents use it so.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    /// The value.
    pub(super) value: &'a Value,
    /// Where it stands.
    pub(super) pointer: Pointer,
}

impl<'a> Node<'a> {
    pub(super) fn new(value: &'a Value, pointer: Pointer) -> Node<'a> {
        Node { value, pointer }
    }

    pub(super) fn object(&self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    /// The member of this key, unless it is absent or `null`.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let value = self.value.as_object()?.get(key).filter(|value| !value.is_null())?;
        Some(Node { value, pointer: self.pointer.child(key) })
    }

    /// The text of this key.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.as_object()?.get(key)?.as_str()
    }

    /// Whether the member of this key is `true`, or says so as a text.
    pub(super) fn flag(&self, key: &str) -> bool {
        match self.value.as_object().and_then(|object| object.get(key)) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// The members of the object of this key.
    pub(super) fn members(&self, key: &str) -> Vec<(&'a str, Node<'a>)> {
        self.get(key).map(|node| node.entries()).unwrap_or_default()
    }

    /// The members of this object, extensions (`x-…`) and `null`s aside.
    pub(super) fn entries(&self) -> Vec<(&'a str, Node<'a>)> {
        let Some(object) = self.value.as_object() else { return Vec::new() };
        object
            .iter()
            .filter(|(key, value)| !value.is_null() && !key.starts_with("x-"))
            .map(|(key, value)| (key.as_str(), Node { value, pointer: self.pointer.child(key) }))
            .collect()
    }

    /// The items of the list of this key.
    pub(super) fn items(&self, key: &str) -> Vec<Node<'a>> {
        let Some(list) = self.get(key) else { return Vec::new() };
        let Some(items) = list.value.as_array() else { return Vec::new() };
        items
            .iter()
            .enumerate()
            .map(|(index, value)| Node { value, pointer: list.pointer.item(index) })
            .collect()
    }
}
