//! Messages of the Model Context Protocol on a cassette.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::entry::Entry;

/// The part of a connection that was played back.
#[derive(Default)]
pub(super) struct Playing {
    /// The current IDs of recorded requests.
    ids: BTreeMap<u64, Value>,
    received: BTreeSet<usize>,
}

/// Returns a message without the parts that differ each time: its ID, and the version of the program that sends it.
pub(super) fn lasting(message: &Value) -> Value {
    let mut message = message.clone();
    let Some(members) = message.as_object_mut() else { return message };
    if members.contains_key("method") {
        members.shift_remove("id");
    }
    let Some(params) = members.get_mut("params").and_then(Value::as_object_mut) else { return message };
    params.shift_remove("clientInfo");
    if let Some(meta) = params.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.retain(|key, _| key != "progressToken" && !key.ends_with("/clientInfo"));
    }
    message
}

impl Playing {
    /// Records that a recorded request was made, with its current ID.
    pub(super) fn made(&mut self, recorded: &Value, now: &Value) {
        if let (Some(id), Some(now), true) =
            (recorded.get("id").and_then(Value::as_u64), now.get("id"), recorded.get("method").is_some())
        {
            self.ids.insert(id, now.clone());
        }
    }

    /// Returns the messages of the server that are due now, among the entries of the connection.
    pub(super) fn recorded_messages<'e>(
        &mut self,
        entries: impl Iterator<Item = (usize, &'e Entry)>,
        played: &BTreeSet<usize>,
    ) -> Vec<Value> {
        let mut messages = Vec::new();
        // Whether all earlier messages were sent again, and all responses to requests of the server.
        let (mut all, mut responses) = (true, true);
        for (index, entry) in entries {
            let Entry::Mcp { sent, message, .. } = entry else { continue };
            if *sent {
                let made = played.contains(&index);
                all &= made;
                responses &= made || message.get("method").is_some();
            } else if !self.received.contains(&index)
                && let Some(message) = self.now(message, all, responses)
            {
                self.received.insert(index);
                messages.push(message);
            }
        }
        messages
    }

    /// Returns a message of the server with the current IDs, if it is due.
    fn now(&self, message: &Value, all: bool, responses: bool) -> Option<Value> {
        let mut message = message.clone();
        let location = match message.get("method").and_then(Value::as_str) {
            None => "/id",
            Some("notifications/progress") => "/params/progressToken",
            Some(_) => return all.then_some(message),
        };
        let id = message.pointer_mut(location).filter(|_| responses)?;
        *id = self.ids.get(&id.as_u64()?)?.clone();
        Some(message)
    }
}
