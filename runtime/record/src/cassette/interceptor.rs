//! The interface of a cassette to engines.

use serde_json::Value;

use super::Cassette;
use super::entry::Entry;
use super::entry::is_aside;
use super::http;
use super::mcp;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::engine::interceptor::TrafficInterceptor;
use toolgen_kernel::engine::interceptor::{TapedAnswer, TapedRequest};

impl TrafficInterceptor for Cassette {
    fn plays(&self) -> bool {
        self.0.plays
    }

    fn hide(&self, credential: &str) {
        unpoisoned(self.0.state.lock()).hidden.add(credential);
    }

    fn hide_all(&self, secrets: &Secrets) {
        unpoisoned(self.0.state.lock()).hidden.add_all(secrets);
    }

    fn replay_response(&self, request: TapedRequest) -> Result<TapedAnswer, String> {
        let mut state = unpoisoned(self.0.state.lock());
        let index = self.find(&mut state, &http::request(&request), |entry| match entry {
            Entry::Http { request, .. } => Some(request.clone()),
            Entry::Mcp { .. } => None,
        })?;
        match state.entries.get(index) {
            Some(Entry::Http { answer: response, .. }) => http::read_answer(response)
                .map_err(|error| format!("request {} of the cassette: {error}", index + 1)),
            _ => Err("the request is not on the cassette".to_owned()),
        }
    }

    fn record_request(&self, request: TapedRequest) -> usize {
        let mut state = unpoisoned(self.0.state.lock());
        state.entries.push(Entry::Http { request: http::request(&request), answer: Value::Null });
        state.entries.len() - 1
    }

    fn answered(&self, number: usize, response: TapedAnswer) {
        let mut state = unpoisoned(self.0.state.lock());
        if let Some(Entry::Http { answer: place, .. }) = state.entries.get_mut(number) {
            *place = http::response_json(&response);
        }
    }

    fn connected(&self, server: &str) -> usize {
        let mut state = unpoisoned(self.0.state.lock());
        let count = state.connections.entry(server.to_owned()).or_default();
        *count += 1;
        *count
    }

    fn sent(&self, (server, connection): (&str, usize), message: Value) {
        let entry = Entry::Mcp { server: server.to_owned(), connection, sent: true, message };
        unpoisoned(self.0.state.lock()).entries.push(entry);
    }

    fn received(&self, (server, connection): (&str, usize), message: &Value) {
        let entry =
            Entry::Mcp { server: server.to_owned(), connection, sent: false, message: message.clone() };
        unpoisoned(self.0.state.lock()).entries.push(entry);
    }

    fn play(&self, (server, connection): (&str, usize), message: Value) -> Result<Vec<Value>, String> {
        let mut state = unpoisoned(self.0.state.lock());
        let is_its = |of: &str, number: usize| of == server && number == connection;
        let of_this = |entry: &Entry| matches!(entry, Entry::Mcp { server, connection, .. } if is_its(server, *connection));
        // In the recording, the connection may have ended before the message was sent.
        let is_recorded = |entry: &Entry| {
            of_this(entry) && matches!(entry, Entry::Mcp { message, .. } if is_aside(message))
        };
        if is_aside(&message) && !state.entries.iter().any(is_recorded) {
            return Ok(Vec::new());
        }
        let index = self.find(&mut state, &mcp::lasting(&message), |entry| match entry {
            Entry::Mcp { server, connection, sent: true, message } if is_its(server, *connection) => {
                Some(mcp::lasting(message))
            }
            _ => None,
        })?;
        let super::State { entries, played, playing, .. } = &mut *state;
        let playing = playing.entry((server.to_owned(), connection)).or_default();
        if let Some(Entry::Mcp { message: recorded, .. }) = entries.get(index) {
            playing.made(recorded, &message);
        }
        let own = entries.iter().enumerate().filter(|(_, entry)| of_this(entry));
        Ok(playing.recorded_messages(own, played))
    }
}
