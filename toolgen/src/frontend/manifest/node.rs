//! Values of a manifest with their locations.

use serde_json::Value;

use crate::source::Pointer;

/// A value of the manifest and its location.
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

    /// Returns the member with this key, even if it is `null`.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let value = self.value.as_object()?.get(key)?;
        Some(Node { value, pointer: self.pointer.child(key) })
    }

    /// Returns the members of this object, in the order of the document.
    pub(super) fn entries(&self) -> Vec<(&'a str, Node<'a>)> {
        let entry = |(key, value): (&'a String, &'a Value)| {
            (key.as_str(), Node { value, pointer: self.pointer.child(key) })
        };
        self.value.as_object().into_iter().flatten().map(entry).collect()
    }

    /// Returns the items of this array.
    pub(super) fn items(&self) -> Vec<Node<'a>> {
        let item = |(index, value)| Node { value, pointer: self.pointer.item(index) };
        self.value.as_array().into_iter().flatten().enumerate().map(item).collect()
    }
}
