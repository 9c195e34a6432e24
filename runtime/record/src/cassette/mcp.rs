//! Messages of the Model Context Protocol on a cassette.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::entry::Entry;

/// The state of the playback of a connection.
#[derive(Default)]
pub(super) struct Playback {
    /// The current IDs of requests, by their recorded IDs.
    ids: BTreeMap<u64, Value>,
    received: BTreeSet<usize>,
}

/// Returns a message without the parts that differ in each run: its ID, and the version of the program that sends it.
pub(super) fn stable_parts(message: &Value) -> Value {
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

impl Playback {
    /// Records that a recorded request was made, with its current ID.
    pub(super) fn record_request(&mut self, recorded: &Value, request: &Value) {
        if let (Some(id), Some(current_id), true) =
            (recorded.get("id").and_then(Value::as_u64), request.get("id"), recorded.get("method").is_some())
        {
            self.ids.insert(id, current_id.clone());
        }
    }

    /// Returns the messages of the server that are due now, from the entries of the connection, and marks them as
    /// received.
    pub(super) fn take_due_messages<'e>(
        &mut self,
        entries: impl Iterator<Item = (usize, &'e Entry)>,
        played: &BTreeSet<usize>,
    ) -> Vec<Value> {
        let mut messages = Vec::new();
        // Whether all earlier messages, and all earlier responses to requests of the server, were sent again.
        let (mut all_sent, mut all_responses_sent) = (true, true);
        for (index, entry) in entries {
            let Entry::Mcp { is_sent, message, .. } = entry else { continue };
            if *is_sent {
                let is_played = played.contains(&index);
                all_sent &= is_played;
                all_responses_sent &= is_played || message.get("method").is_some();
            } else if !self.received.contains(&index)
                && let Some(message) = self.due_message(message, all_sent, all_responses_sent)
            {
                self.received.insert(index);
                messages.push(message);
            }
        }
        messages
    }

    /// Returns a message of the server with the current IDs, if it is due.
    fn due_message(&self, message: &Value, all_sent: bool, all_responses_sent: bool) -> Option<Value> {
        let mut message = message.clone();
        let location = match message.get("method").and_then(Value::as_str) {
            None => "/id",
            Some("notifications/progress") => "/params/progressToken",
            Some(_) => return all_sent.then_some(message),
        };
        let id = message.pointer_mut(location).filter(|_| all_responses_sent)?;
        *id = self.ids.get(&id.as_u64()?)?.clone();
        Some(message)
    }
}
