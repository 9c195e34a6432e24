//! Responses that are a sequence of items: JSON texts, and server-sent events.

use memchr::memchr2;
use serde_json::{Value, json};
use toolgen_kernel::base::media_type::{essence, is_json, is_json_lines};
use toolgen_kernel::base::sse;
use toolgen_kernel::schema::shape::Kind;
use toolgen_kernel::spec::plan::Tool;

/// The media type of event streams (WHATWG HTML, section 9.2).
const EVENTS: &str = "text/event-stream";

/// The record separator of JSON text sequences (RFC 7464).
const SEPARATOR: u8 = 0x1e;

/// Maximum length of an incomplete JSON text that is parsed at each line end, in bytes: a text may have several
/// lines.
const MAX_PARTIAL_BYTES: usize = 64 * 1024;

/// The type of event data in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventData {
    /// A string, verbatim.
    Text,
    /// JSON, parsed.
    Json,
}

/// Returns the type of event data, if a tool declares events as its result. If the document also declares JSON, the
/// structured result is that of JSON.
pub(super) fn declared_events(tool: &Tool) -> Option<EventData> {
    let types = || tool.call.http().into_iter().flat_map(|plan| plan.accept.split(',').map(essence));
    if !types().any(|name| name == EVENTS)
        || types().any(|name| is_json(&name) || is_json_lines(&name) || name.contains('*'))
    {
        return None;
    }
    let Kind::Array(list) = &tool.spec.output.as_ref()?.shape().kind else { return None };
    let resolve =
        |name: &str| tool.spec.defs.iter().find(|def| def.name == *name).map(|def| def.schema.shape());
    let item = match &list.items.kind {
        Kind::Ref(name) => resolve(name)?,
        _ => &*list.items,
    };
    let Kind::Object(rules) = &item.kind else { return Some(EventData::Text) };
    let data = rules.fields.iter().find(|field| field.wire_name() == "data");
    let is_text =
        data.is_none_or(|data| matches!(data.shape.kind, Kind::String(_) | Kind::Enum(_) | Kind::Any));
    Some(if is_text { EventData::Text } else { EventData::Json })
}

/// Whether the service may return a sequence for this tool.
pub(super) fn may_be_sequence(tool: &Tool) -> bool {
    let mut types = tool.call.http().into_iter().flat_map(|plan| plan.accept.split(',').map(essence));
    types.any(|name| name == EVENTS || is_json_lines(&name))
}

/// Splits a sequence into items as it arrives.
#[derive(Debug)]
pub(super) enum Sequence {
    /// JSON texts.
    Texts {
        /// Whether each text starts with a separator, and may have several lines.
        has_separators: bool,
        /// The start of an incomplete text.
        pending: Vec<u8>,
        /// Number of pending bytes that are known to contain no end of a text.
        scanned: usize,
    },
    /// Events.
    Events(Box<sse::Reader>, EventData),
}

impl Sequence {
    /// Returns a reader for a body, if its media type is that of a sequence. An event has at most `limit` bytes.
    pub(super) fn of(content_type: &str, data: EventData, limit: usize) -> Option<Sequence> {
        let essence = essence(content_type);
        if essence == EVENTS {
            return Some(Sequence::Events(Box::new(sse::Reader::new(limit)), data));
        }
        let has_separators = essence.ends_with("json-seq");
        is_json_lines(&essence).then_some(Sequence::Texts { has_separators, pending: Vec::new(), scanned: 0 })
    }

    /// Parses the next bytes and appends the items that they complete.
    ///
    /// # Errors
    ///
    /// Returns a message if an item is invalid. The items before it are appended.
    pub(super) fn push(&mut self, bytes: &[u8], items: &mut Vec<Value>) -> Result<(), String> {
        match self {
            Sequence::Events(reader, data) => {
                let mut events = Vec::new();
                let read = reader.push(bytes, &mut events);
                items.extend(events.into_iter().filter_map(|event| event_item(event, *data)));
                read.map_err(|sse::TooLong(limit)| format!("an event has more than {limit} bytes"))
            }
            Sequence::Texts { has_separators, pending, scanned } => {
                pending.extend_from_slice(bytes);
                let mut start = 0;
                let mut next = *scanned;
                while let Some(offset) = memchr2(b'\n', SEPARATOR, &pending[next..]) {
                    let end = next + offset;
                    next = end + 1;
                    let part = &pending[start..end];
                    if *has_separators && pending[end] == b'\n' {
                        // Another line of the text may follow.
                        let candidate = Some(part).filter(|part| part.len() <= MAX_PARTIAL_BYTES);
                        let Some(value) = candidate.and_then(|part| serde_json::from_slice(part).ok()) else {
                            continue;
                        };
                        items.push(value);
                    } else {
                        push_text(part, items)?;
                    }
                    start = next;
                }
                pending.drain(..start);
                *scanned = pending.len();
                Ok(())
            }
        }
    }

    /// Returns the number of bytes of the incomplete text.
    pub(super) fn pending_bytes(&self) -> usize {
        match self {
            Sequence::Texts { pending, .. } => pending.len(),
            // The event reader has its own limit.
            Sequence::Events(..) => 0,
        }
    }

    /// Appends the item that the end of the body completes.
    ///
    /// # Errors
    ///
    /// Same as [`push`](Self::push).
    pub(super) fn end(&mut self, items: &mut Vec<Value>) -> Result<(), String> {
        match self {
            // Services omit the empty line after the last event.
            Sequence::Events(..) => self.push(b"\n\n", items),
            Sequence::Texts { pending, .. } => push_text(&std::mem::take(pending), items),
        }
    }
}

/// Appends a JSON text, unless it is empty.
fn push_text(bytes: &[u8], items: &mut Vec<Value>) -> Result<(), String> {
    if !bytes.iter().all(|byte| byte.is_ascii_whitespace()) {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        items.push(serde_json::from_slice(bytes).map_err(|error| error.to_string())?);
    }
    Ok(())
}

/// Returns an event as an item: an object of its fields, as in OpenAPI 3.2.
fn event_item(event: sse::Event, data: EventData) -> Option<Value> {
    let text = String::from_utf8_lossy(&event.data).into_owned();
    let value = match data {
        EventData::Text => Value::String(text),
        // Many services mark the end of the stream with this text.
        EventData::Json if text == "[DONE]" => return None,
        EventData::Json => serde_json::from_str(&text).unwrap_or(Value::String(text)),
    };
    let mut item = json!({ "data": value });
    if !event.kind.is_empty() {
        item["event"] = String::from_utf8_lossy(&event.kind).into();
    }
    if let Some(id) = event.id {
        item["id"] = id.into();
    }
    Some(item)
}

/// Returns the data of the events of a stream, one per line (WHATWG HTML, "Interpreting an event stream"). An event
/// that was cut off is omitted.
pub(super) fn event_data(stream: &str, truncated: bool) -> String {
    let (mut events, mut lines): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    let stream = stream.replace("\r\n", "\n").replace('\r', "\n");
    for line in stream.split('\n') {
        if line.is_empty() {
            if !lines.is_empty() {
                events.push(std::mem::take(&mut lines).join("\n"));
            }
        } else if let Some(data) = line.strip_prefix("data:") {
            lines.push(data.strip_prefix(' ').unwrap_or(data));
        }
    }
    // Servers omit the empty line at the end; the event is complete only if the end was seen.
    if !lines.is_empty() && !truncated {
        events.push(lines.join("\n"));
    }
    events.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_joined() {
        let stream = ": hello\r\nevent: a\r\ndata: 1\r\n\r\ndata:2\rdata: 3\r\rid: 4\n\ndata: {\"k\"";
        assert_eq!(event_data(stream, false), "1\n2\n3\n{\"k\"");
        assert_eq!(event_data(stream, true), "1\n2\n3");
        assert_eq!(event_data("data: a", true), "");
    }

    /// Reads a body in chunks of every size, and returns the items of each.
    fn read(content_type: &str, data: EventData, body: &str) -> Result<Vec<Value>, String> {
        let mut first: Option<Result<Vec<Value>, String>> = None;
        for size in 1..=body.len() {
            let mut sequence = Sequence::of(content_type, data, 1000).unwrap();
            let mut items = Vec::new();
            let mut chunks = body.as_bytes().chunks(size);
            let read = chunks.try_for_each(|chunk| sequence.push(chunk, &mut items));
            let read = read.and_then(|()| sequence.end(&mut items)).map(|()| items);
            assert!(first.is_none() || first.as_ref() == Some(&read), "{size}: {read:?} after {first:?}");
            first = Some(read);
        }
        first.unwrap()
    }

    #[test]
    fn lines_are_items() {
        let lines = read("application/x-ndjson", EventData::Text, "{\"a\": 1}\r\n\n[2]\n3").unwrap();
        assert_eq!(lines, [json!({"a": 1}), json!([2]), json!(3)]);
        assert!(read("application/jsonl", EventData::Text, "{\"a\":\n1}").is_err());
    }

    #[test]
    fn json_sequence_items_may_span_lines() {
        let body = "\u{1e}{\"a\":\n{\"b\": 1}\n}\n\u{1e}2\n\u{1e}\"x\"";
        let texts = read("application/geo+json-seq", EventData::Text, body).unwrap();
        assert_eq!(texts, [json!({"a": {"b": 1}}), json!(2), json!("x")]);
    }

    #[test]
    fn events_are_objects() {
        let body = ": hello\r\nevent: add\r\nid: 7\r\ndata: {\"n\":\ndata: 1}\r\n\r\nretry: 5\n\ndata: [DONE]\n\ndata: x";
        let events = read("text/event-stream; charset=utf-8", EventData::Json, body).unwrap();
        assert_eq!(events, [json!({"data": {"n": 1}, "event": "add", "id": "7"}), json!({"data": "x"})]);
        let events = read("text/event-stream", EventData::Text, "data: {}\n\ndata: [DONE]").unwrap();
        assert_eq!(events, [json!({"data": "{}"}), json!({"data": "[DONE]"})]);
        assert!(Sequence::of("application/json", EventData::Text, 1).is_none());
    }
}
