//! The contents of a cassette, as a file.

use serde_json::{Map, Value, json};

/// The version of the file.
const VERSION: u64 = 1;
/// The member that holds the version.
const MARK: &str = "toolgen_cassette";

/// A piece of traffic.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// A request and its response, which is `null` if there was none.
    Http { request: Value, answer: Value },
    /// A message to or from a server.
    Mcp { server: String, connection: usize, sent: bool, message: Value },
}

impl Entry {
    /// Returns the entry as written to the file.
    fn written(&self) -> Value {
        match self {
            Entry::Http { request, answer: response } => json!({ "http": request, "answer": response }),
            Entry::Mcp { server, connection, sent, message } => {
                let mut out = Map::new();
                out.insert("mcp".to_owned(), json!({ "server": server, "connection": connection }));
                let way = if *sent { "sent" } else { "received" };
                out.insert(way.to_owned(), message.clone());
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
            return Ok(Entry::Http { request: request.clone(), answer: response });
        }
        let of = entry.get("mcp").ok_or(": `http` or `mcp` is missing")?;
        let server = of.get("server").and_then(Value::as_str).ok_or("/mcp/server: a string is missing")?;
        let connection =
            of.get("connection").and_then(Value::as_u64).and_then(|number| number.try_into().ok());
        let connection = connection.ok_or("/mcp/connection: a number from 1 is missing")?;
        let (sent, message) = match (entry.get("sent"), entry.get("received")) {
            (Some(message), None) => (true, message),
            (None, Some(message)) => (false, message),
            _ => return Err(": one of `sent` and `received` is expected".to_owned()),
        };
        Ok(Entry::Mcp { server: server.to_owned(), connection, sent, message: message.clone() })
    }

    /// Changes the traffic itself.
    pub(super) fn map(self, change: impl Fn(Value) -> Value) -> Entry {
        match self {
            Entry::Http { request, answer: response } => {
                Entry::Http { request: change(request), answer: change(response) }
            }
            Entry::Mcp { server, connection, sent, message } => {
                Entry::Mcp { server, connection, sent, message: change(message) }
            }
        }
    }

    /// Describes the entry in a few words.
    pub(super) fn summary(&self) -> String {
        match self {
            Entry::Http { request, .. } => {
                let text = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or_default();
                format!("{} {}", text("method"), text("url"))
            }
            Entry::Mcp { server, message, .. } => {
                let method = message.get("method").and_then(Value::as_str).unwrap_or("an answer");
                let tool = message.pointer("/params/name").and_then(Value::as_str);
                let tool = tool.map(|tool| format!(" {tool}")).unwrap_or_default();
                format!("{method}{tool} to {server}")
            }
        }
    }

    /// Whether it is a request of the program, which makes it each time it does the same.
    pub(super) fn is_request(&self) -> bool {
        match self {
            Entry::Http { .. } => true,
            Entry::Mcp { sent, message, .. } => {
                *sent && message.get("id").is_some() && message.get("method").is_some() && !is_aside(message)
            }
        }
    }
}

/// Whether a client sends a message independently of its program: earlier, later, or not before the connection ends.
pub(super) fn is_aside(message: &Value) -> bool {
    message.get("method").and_then(Value::as_str) == Some("subscriptions/listen")
}

/// Returns the text of a file.
pub(super) fn text(entries: &[Entry]) -> String {
    let entries: Vec<Value> = entries.iter().map(Entry::written).collect();
    format!("{:#}\n", json!({ MARK: VERSION, "traffic": entries }))
}

/// Reads the text of a file.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let whole: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    match whole.get(MARK).and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return Err(format!("/{MARK}: version {other} is not supported; record it again")),
        None => return Err(format!("it is not a cassette: `{MARK}` is missing")),
    }
    let all = whole.get("traffic").and_then(Value::as_array).ok_or("/traffic: an array is missing")?;
    let read = |(index, entry)| Entry::read(entry).map_err(|error| format!("/traffic/{index}{error}"));
    all.iter().enumerate().map(read).collect()
}
