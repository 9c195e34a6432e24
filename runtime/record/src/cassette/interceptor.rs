//! The interface that a cassette offers to engines.

use serde_json::Value;

use super::Cassette;
use super::entry::Entry;
use super::entry::is_out_of_band;
use super::http;
use super::mcp;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::engine::interceptor::TrafficInterceptor;
use toolgen_kernel::engine::interceptor::{RecordedRequest, RecordedResponse};

impl TrafficInterceptor for Cassette {
    fn plays(&self) -> bool {
        self.0.is_playback
    }

    fn hide(&self, credential: &str) {
        unpoisoned(self.0.state.lock()).known_secrets.add(credential);
    }

    fn hide_all(&self, secrets: &Secrets) {
        unpoisoned(self.0.state.lock()).known_secrets.add_all(secrets);
    }

    fn replay_response(&self, request: RecordedRequest) -> Result<RecordedResponse, String> {
        let mut state = unpoisoned(self.0.state.lock());
        let index = self.find(&mut state, &http::request(&request), |entry| match entry {
            Entry::Http { request, .. } => Some(request.clone()),
            Entry::Mcp { .. } => None,
        })?;
        match state.entries.get(index) {
            Some(Entry::Http { response, .. }) => http::read_response(response)
                .map_err(|error| format!("request {} of the cassette: {error}", index + 1)),
            _ => Err("the request is not on the cassette".to_owned()),
        }
    }

    fn record_request(&self, request: RecordedRequest) -> usize {
        let mut state = unpoisoned(self.0.state.lock());
        state.entries.push(Entry::Http { request: http::request(&request), response: Value::Null });
        state.entries.len() - 1
    }

    fn answered(&self, number: usize, response: RecordedResponse) {
        let mut state = unpoisoned(self.0.state.lock());
        if let Some(Entry::Http { response: slot, .. }) = state.entries.get_mut(number) {
            *slot = http::response_json(&response);
        }
    }

    fn connected(&self, server: &str) -> usize {
        let mut state = unpoisoned(self.0.state.lock());
        let count = state.connections.entry(server.to_owned()).or_default();
        *count += 1;
        *count
    }

    fn sent(&self, (server, connection): (&str, usize), message: Value) {
        let entry = Entry::Mcp { server: server.to_owned(), connection, is_sent: true, message };
        unpoisoned(self.0.state.lock()).entries.push(entry);
    }

    fn received(&self, (server, connection): (&str, usize), message: &Value) {
        let entry =
            Entry::Mcp { server: server.to_owned(), connection, is_sent: false, message: message.clone() };
        unpoisoned(self.0.state.lock()).entries.push(entry);
    }

    fn play(&self, (server, connection): (&str, usize), message: Value) -> Result<Vec<Value>, String> {
        let mut state = unpoisoned(self.0.state.lock());
        let is_connection = |name: &str, number: usize| name == server && number == connection;
        let is_of_connection = |entry: &Entry| matches!(entry, Entry::Mcp { server, connection, .. } if is_connection(server, *connection));
        // In the recording, the connection may have ended before the message was sent.
        let is_recorded = |entry: &Entry| {
            is_of_connection(entry) && matches!(entry, Entry::Mcp { message, .. } if is_out_of_band(message))
        };
        if is_out_of_band(&message) && !state.entries.iter().any(is_recorded) {
            return Ok(Vec::new());
        }
        let index = self.find(&mut state, &mcp::stable_parts(&message), |entry| match entry {
            Entry::Mcp { server, connection, is_sent: true, message }
                if is_connection(server, *connection) =>
            {
                Some(mcp::stable_parts(message))
            }
            _ => None,
        })?;
        let super::State { entries, played, playbacks, .. } = &mut *state;
        let playback = playbacks.entry((server.to_owned(), connection)).or_default();
        if let Some(Entry::Mcp { message: recorded, .. }) = entries.get(index) {
            playback.record_request(recorded, &message);
        }
        let connection_entries = entries.iter().enumerate().filter(|(_, entry)| is_of_connection(entry));
        Ok(playback.take_due_messages(connection_entries, played))
    }
}
