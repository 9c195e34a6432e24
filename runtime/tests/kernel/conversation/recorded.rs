//! Streams in the format of each vendor, and the reply that the vendor would have sent without streaming: the files of
//! `recorded/`.
//!
//! They have the events of the vendors' own libraries (openai-python 3.57.0, anthropic-sdk-python 2.14.0, google-genai
//! 3.6.1, botocore 1.44.8). `tests/conversation/validate.py` checks them against the types of these libraries.

use std::fs;
use std::path::Path;

use crate::prelude::*;

/// How the events of a stream are encoded as bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Framing {
    Sse,
    /// Server-sent events with carriage returns, kinds and comments, and `[DONE]` at the end.
    Decorated,
    /// One JSON value per line.
    Lines,
    /// An array that is printed over many lines.
    List,
    Frames,
}

/// A stream and the whole reply. The model thinks, writes text, adds two numbers and asks for the time.
pub(crate) struct Recorded {
    pub(crate) name: &'static str,
    pub(crate) format: WireFormat,
    pub(crate) framings: &'static [Framing],
    pub(crate) events: Vec<Value>,
    pub(crate) whole: Value,
}

pub(crate) fn all() -> Vec<Recorded> {
    use Framing::{Decorated, Frames, Lines, List, Sse};
    use WireFormat::{Anthropic, Bedrock, Gemini, OpenAiChat, OpenAiResponses};
    let of = |name: &'static str, format, framings| {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/conversation/recorded");
        let text = fs::read_to_string(dir.join(format!("{name}.json"))).unwrap();
        let mut file: Value = serde_json::from_str(&text).unwrap();
        let Value::Array(events) = file["events"].take() else { panic!("{name}") };
        Recorded { name, format, framings, events, whole: file["whole"].take() }
    };
    vec![
        of("openai-chat", OpenAiChat, &[Sse, Decorated]),
        of("ollama", OpenAiChat, &[Lines]),
        of("openai-responses", OpenAiResponses, &[Sse, Decorated]),
        of("anthropic", Anthropic, &[Sse, Decorated]),
        of("gemini", Gemini, &[Sse, List]),
        of("bedrock", Bedrock, &[Frames, Lines]),
    ]
}

pub(crate) fn bytes(framing: Framing, events: &[Value]) -> Vec<u8> {
    match framing {
        Framing::Sse => events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect(),
        Framing::Decorated => {
            let event = |event: &Value| {
                let kind = event["type"].as_str().unwrap_or("message");
                format!(": waiting\r\n\r\nevent: {kind}\r\ndata:{event}\r\nid: 7\r\n\r\n").into_bytes()
            };
            events.iter().flat_map(event).chain(*b"data: [DONE]\r\n\r\n").collect()
        }
        Framing::Lines => events.iter().flat_map(|event| format!("{event}\n").into_bytes()).collect(),
        Framing::List => serde_json::to_vec_pretty(events).unwrap(),
        Framing::Frames => events.iter().flat_map(frame).collect(),
    }
}

/// A frame of an AWS event stream, with the headers that Bedrock sends.
fn frame(event: &Value) -> Vec<u8> {
    let (kind, payload) = event.as_object().unwrap().iter().next().unwrap();
    let payload = payload.to_string();
    let mut headers = Vec::new();
    let pairs =
        [(":event-type", kind.as_str()), (":content-type", "application/json"), (":message-type", "event")];
    for (name, value) in pairs {
        headers.push(u8::try_from(name.len()).unwrap());
        headers.extend(name.bytes());
        headers.push(7);
        headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend(value.bytes());
    }
    let number = |number: usize| u32::try_from(number).unwrap().to_be_bytes();
    let mut frame = Vec::new();
    frame.extend(number(12 + headers.len() + payload.len() + 4));
    frame.extend(number(headers.len()));
    frame.extend(crc32(&frame).to_be_bytes());
    frame.extend(headers);
    frame.extend(payload.bytes());
    frame.extend(crc32(&frame).to_be_bytes());
    frame
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

pub(crate) const SAID: &str = "Let me add – ünïcode ✓.";
pub(crate) const THOUGHT: &str = "Two sums.";
