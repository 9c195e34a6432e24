//! The response that is assembled from the events of a stream.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolgen_kernel::base::frozen::Text;

use super::StreamDelta;
use crate::layout::WireError;

/// A response that is being assembled from the events of a stream.
#[derive(Debug, Default)]
pub struct Assembly {
    /// The response so far. Null until the first event.
    pub response: Value,
    pub(super) deltas: Vec<StreamDelta>,
    pub(super) ended: bool,
    /// The IDs of the calls.
    ids: BTreeSet<String>,
    /// Strings that will be parsed as JSON: by key, their location and the string so far.
    open: BTreeMap<u64, (String, String)>,
    /// The locations of calls in the list of a format with numbered calls, by number.
    pub(super) call_positions: BTreeMap<u64, usize>,
}

impl Assembly {
    /// Records that the vendor has ended the turn.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Reports text for the user, unless it is empty.
    pub fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.deltas.push(StreamDelta::Text(text.to_owned()));
        }
    }

    /// Reports text of the model's reasoning, unless it is empty.
    pub fn thinking(&mut self, text: &str) {
        if !text.is_empty() {
            self.deltas.push(StreamDelta::Thinking(text.to_owned()));
        }
    }

    /// Reports the start of a call. An empty ID means that the call has no ID.
    ///
    /// # Errors
    ///
    /// Returns an error if an earlier call has the same ID: their results could not be distinguished.
    pub fn call(&mut self, id: &str, name: &str) -> Result<(), WireError> {
        if !id.is_empty() && !self.ids.insert(id.to_owned()) {
            return Err(WireError::new("", format!("begins a second call with the ID `{id}`")));
        }
        self.deltas.push(StreamDelta::Call { id: Text::copy_of(id), name: Text::copy_of(name) });
        Ok(())
    }

    /// Whether a call with this ID has begun.
    pub(super) fn has_call(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Opens a string under a key that the format chooses. When it is closed, it is parsed as JSON and stored at a
    /// location of the response, a JSON pointer.
    pub fn open(&mut self, key: u64, pointer: impl Into<String>) {
        self.open.insert(key, (pointer.into(), String::new()));
    }

    /// Appends to an open string.
    ///
    /// # Errors
    ///
    /// Returns an error if the string is not open.
    pub fn append(&mut self, key: u64, text: &str) -> Result<(), WireError> {
        match self.open.get_mut(&key) {
            Some((_, value)) => {
                value.push_str(text);
                Ok(())
            }
            None => {
                Err(WireError::new("", format!("adds to block {key}, which has no arguments or has ended")))
            }
        }
    }

    /// Closes a string and stores it as JSON, if it is open. An empty string does not change the response; a string
    /// that is not JSON is stored as a string.
    pub fn close(&mut self, key: u64) {
        let Some((pointer, text)) = self.open.remove(&key) else { return };
        if text.trim().is_empty() {
            return;
        }
        if let Some(target) = self.response.pointer_mut(&pointer) {
            *target = serde_json::from_str(&text).unwrap_or(Value::String(text));
        }
    }

    /// Returns the list of blocks at a location of the response, a JSON pointer.
    ///
    /// # Errors
    ///
    /// Returns an error if the response has not started, or the value at the location is not a list.
    pub fn list(&mut self, pointer: &str) -> Result<&mut Vec<Value>, WireError> {
        if self.response.is_null() {
            return Err(WireError::new("", "comes before the beginning of a reply"));
        }
        let list = self.response.pointer_mut(pointer).and_then(Value::as_array_mut);
        list.ok_or_else(|| {
            WireError::new("", format!("belongs to a list at {pointer}, which the reply does not have"))
        })
    }

    pub(super) fn finish(mut self) -> Value {
        for key in self.open.keys().copied().collect::<Vec<_>>() {
            self.close(key);
        }
        self.response
    }
}

/// Returns the index of the block that an event concerns.
pub(super) fn index(event: &Value, key: &str) -> Result<u64, WireError> {
    let number = event.get(key).and_then(Value::as_u64);
    number.ok_or_else(|| WireError::new(format!("/{key}"), "is not the number of a block"))
}

/// Returns the block with this index.
pub(super) fn block(blocks: &mut [Value], index: u64) -> Result<&mut Value, WireError> {
    let block = usize::try_from(index).ok().and_then(|index| blocks.get_mut(index));
    block.ok_or_else(|| WireError::new("", format!("is about block {index}, which has not begun")))
}

/// Checks that a new block has the next index.
pub(super) fn check_next(blocks: &[Value], index: u64) -> Result<(), WireError> {
    if u64::try_from(blocks.len()) == Ok(index) {
        return Ok(());
    }
    Err(WireError::new("", format!("begins block {index}, but the next one is {}", blocks.len())))
}

/// Appends to a string member of an object, or sets it.
pub(super) fn add_text(owner: &mut Value, key: &str, suffix: &str) {
    match owner.get_mut(key) {
        Some(Value::String(text)) => text.push_str(suffix),
        _ => set(owner, key, suffix.into()),
    }
}

/// Sets a member, if the owner is an object.
pub(super) fn set(owner: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = owner {
        fields.insert(key.to_owned(), value);
    }
}

/// Returns the object under a key of an object, replacing any value that is not an object.
pub(super) fn child<'v>(owner: &'v mut Value, key: &str) -> &'v mut Value {
    for key in [None, Some(key)] {
        let target = match key {
            None => &mut *owner,
            Some(key) => &mut owner[key],
        };
        if !target.is_object() {
            *target = json!({});
        }
    }
    &mut owner[key]
}

/// Returns the members of a value, or no members if it is not an object.
pub(super) fn fields(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

/// Sets members of the object under a key, and keeps its other members.
pub(super) fn update(owner: &mut Value, key: &str, members: Option<&Value>) {
    for (name, value) in fields(members).filter(|(_, value)| !value.is_null()) {
        set(child(owner, key), name, value.clone());
    }
}
