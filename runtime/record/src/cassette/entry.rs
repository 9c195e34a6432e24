//! The contents of a cassette, as a file.

use serde_json::{Map, Value, json};

/// The version of the file.
const VERSION: u64 = 1;
/// The member that holds the version.
const VERSION_KEY: &str = "toolgen_cassette";

/// A piece of traffic.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// A request and its response, which is `null` if there was no response.
    Http { request: Value, response: Value },
    /// A message to or from a server.
    Mcp { server: String, connection: usize, is_sent: bool, message: Value },
}

impl Entry {
    /// Returns the entry as written to the file.
    fn to_json(&self) -> Value {
        match self {
            Entry::Http { request, response } => json!({ "http": request, "answer": response }),
            Entry::Mcp { server, connection, is_sent, message } => {
                let mut out = Map::new();
                out.insert("mcp".to_owned(), json!({ "server": server, "connection": connection }));
                let direction = if *is_sent { "sent" } else { "received" };
                out.insert(direction.to_owned(), message.clone());
                Value::Object(out)
            }
        }
    }

    fn read(entry: &Value) -> Result<Entry, String> {
        if let Some(request) = entry.get("http") {
            if !request.is_object() {
                return Err("/http: a request is an object".to_owned());
            }
            let response = entry.get("answer").cloned().unwrap_or_default();
            return Ok(Entry::Http { request: request.clone(), response });
        }
        let mcp = entry.get("mcp").ok_or(": `http` or `mcp` is missing")?;
        let server = mcp.get("server").and_then(Value::as_str).ok_or("/mcp/server: a string is missing")?;
        let connection =
            mcp.get("connection").and_then(Value::as_u64).and_then(|number| number.try_into().ok());
        let connection = connection.ok_or("/mcp/connection: a number from 1 is missing")?;
        let (is_sent, message) = match (entry.get("sent"), entry.get("received")) {
            (Some(message), None) => (true, message),
            (None, Some(message)) => (false, message),
            _ => return Err(": one of `sent` and `received` is expected".to_owned()),
        };
        Ok(Entry::Mcp { server: server.to_owned(), connection, is_sent, message: message.clone() })
    }

    /// Changes the traffic itself.
    pub(super) fn map(self, change: impl Fn(Value) -> Value) -> Entry {
        match self {
            Entry::Http { request, response } => {
                Entry::Http { request: change(request), response: change(response) }
            }
            Entry::Mcp { server, connection, is_sent, message } => {
                Entry::Mcp { server, connection, is_sent, message: change(message) }
            }
        }
    }

    /// Returns a short description of the entry.
    pub(super) fn summary(&self) -> String {
        match self {
            Entry::Http { request, .. } => {
                let text = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or_default();
                format!("{} {}", text("method"), text("url"))
            }
            Entry::Mcp { server, message, .. } => {
                let method = message.get("method").and_then(Value::as_str).unwrap_or("a response");
                let tool = message.pointer("/params/name").and_then(Value::as_str);
                let tool = tool.map(|tool| format!(" {tool}")).unwrap_or_default();
                format!("{method}{tool} to {server}")
            }
        }
    }

    /// Whether the entry is a request that the program makes in each run.
    pub(super) fn is_request(&self) -> bool {
        match self {
            Entry::Http { .. } => true,
            Entry::Mcp { is_sent, message, .. } => {
                *is_sent
                    && message.get("id").is_some()
                    && message.get("method").is_some()
                    && !is_out_of_band(message)
            }
        }
    }
}

/// Whether a client sends a message independently of its program, so that it may be sent earlier, later or not at all.
pub(super) fn is_out_of_band(message: &Value) -> bool {
    message.get("method").and_then(Value::as_str) == Some("subscriptions/listen")
}

/// Returns the text of a file.
pub(super) fn text(entries: &[Entry]) -> String {
    let entries: Vec<Value> = entries.iter().map(Entry::to_json).collect();
    format!("{:#}\n", json!({ VERSION_KEY: VERSION, "traffic": entries }))
}

/// Reads the text of a file.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    match document.get(VERSION_KEY).and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => {
            return Err(format!("/{VERSION_KEY}: version {other} is not supported; record it again"));
        }
        None => return Err(format!("it is not a cassette: `{VERSION_KEY}` is missing")),
    }
    let traffic = document.get("traffic").and_then(Value::as_array).ok_or("/traffic: an array is missing")?;
    let read = |(index, entry)| Entry::read(entry).map_err(|error| format!("/traffic/{index}{error}"));
    traffic.iter().enumerate().map(read).collect()
}
