//! Decodes events from the bytes of a connection, split at any position.

use serde_json::Value;
use toolgen_kernel::base::sse::{Event, Reader};

use super::StreamError;

/// Decodes the bytes of a stream. The [`Stream`](super::Stream) enforces the size limit.
#[derive(Debug, Default)]
pub(super) enum Decoder {
    /// The first byte, which determines the framing, has not arrived yet.
    #[default]
    Unknown,
    /// Server-sent events.
    Sse(Box<Reader>),
    /// A sequence or a list of JSON values.
    Json(JsonValues),
    /// Frames of an AWS event stream.
    Frames(Vec<u8>),
}

/// The events of a decoder: JSON, or `None` for the marker that ends a stream of OpenAI.
type Events = Vec<Option<Value>>;

impl Decoder {
    /// Adds bytes and returns the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Events, StreamError> {
        let mut bytes = bytes;
        if matches!(self, Decoder::Unknown) {
            // Blank lines may come first.
            let blank = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            bytes = &bytes[blank..];
            *self = match bytes.first() {
                None => return Ok(Vec::new()),
                Some(b'{' | b'[') => Decoder::Json(JsonValues::default()),
                // The first byte of a frame's length is 0: no frame has 16 MiB or more.
                Some(0) => Decoder::Frames(Vec::new()),
                Some(_) => Decoder::Sse(Box::new(Reader::new(usize::MAX))),
            };
        }
        match self {
            Decoder::Unknown => Ok(Vec::new()),
            Decoder::Sse(reader) => {
                let mut events = Vec::new();
                reader.push(bytes, &mut events).map_err(|_| StreamError::TooLong(usize::MAX))?;
                events.iter().filter(|event| !event.data.is_empty()).map(sse_value).collect()
            }
            Decoder::Json(values) => values.push(bytes),
            Decoder::Frames(buffer) => {
                buffer.extend_from_slice(bytes);
                take_frames(buffer)
            }
        }
    }

    /// Returns the event that is complete except for its terminator.
    pub(super) fn finish(&mut self) -> Result<Events, StreamError> {
        match self {
            // Some servers omit the last blank line. A truncated event is not JSON, and is ignored.
            Decoder::Sse(_) => Ok(self.push(b"\n\n").unwrap_or_default()),
            _ => Ok(Vec::new()),
        }
    }
}

fn sse_value(event: &Event) -> Result<Option<Value>, StreamError> {
    if event.data.trim_ascii() == b"[DONE]" {
        return Ok(None);
    }
    json(&event.data).map(Some)
}

fn json(bytes: &[u8]) -> Result<Value, StreamError> {
    serde_json::from_slice(bytes)
        .map_err(|error| StreamError::Bytes(format!("an event is not JSON: {error}")))
}

/// JSON objects; separators between them are skipped.
#[derive(Debug, Default)]
pub(super) struct JsonValues {
    /// The start of an incomplete object.
    value: Vec<u8>,
    depth: usize,
    in_string: bool,
    after_backslash: bool,
}

impl JsonValues {
    fn push(&mut self, bytes: &[u8]) -> Result<Events, StreamError> {
        let mut events = Vec::new();
        for byte in bytes {
            if self.depth == 0 {
                match byte {
                    b'{' => {}
                    b'[' | b']' | b',' => continue,
                    byte if byte.is_ascii_whitespace() => continue,
                    _ => {
                        let message = "unexpected bytes between its JSON objects";
                        return Err(StreamError::Bytes(message.to_owned()));
                    }
                }
            }
            self.value.push(*byte);
            match byte {
                _ if std::mem::take(&mut self.after_backslash) => {}
                b'\\' if self.in_string => self.after_backslash = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        events.push(Some(json(&std::mem::take(&mut self.value))?));
                    }
                }
                _ => {}
            }
        }
        Ok(events)
    }
}

/// The size of a frame before its headers, in bytes: its length, the length of its headers, and their checksum.
const PRELUDE: usize = 12;
/// The size of the checksum at the end, in bytes.
const CHECKSUM: usize = 4;
/// The maximum size of a frame, in bytes (AWS: 16 MiB of payload, 128 KiB of headers).
const MAX_FRAME_BYTES: usize = (16 << 20) + (128 << 10) + PRELUDE + CHECKSUM;

/// Removes all complete frames from a buffer, and returns their events.
fn take_frames(buffer: &mut Vec<u8>) -> Result<Events, StreamError> {
    let mut events = Vec::new();
    let mut consumed = 0;
    while let Some(prelude) = buffer[consumed..].first_chunk::<PRELUDE>() {
        let length = number(&prelude[0..4]);
        let is_valid = (PRELUDE + CHECKSUM..=MAX_FRAME_BYTES).contains(&length)
            && crc32(&prelude[0..8]) == number(&prelude[8..12]);
        if !is_valid {
            return Err(damaged());
        }
        let Some(frame) = buffer.get(consumed..consumed + length) else { break };
        events.push(Some(frame_event(frame, number(&prelude[4..8])).ok_or_else(damaged)?));
        consumed += length;
    }
    buffer.drain(..consumed);
    Ok(events)
}

fn damaged() -> StreamError {
    StreamError::Bytes("a frame of the AWS event stream is damaged".to_owned())
}

/// Returns the event of a whole frame: its payload under the name of its kind.
fn frame_event(frame: &[u8], headers: usize) -> Option<Value> {
    let (body, checksum) = frame.split_at_checked(frame.len() - CHECKSUM)?;
    if crc32(body) != number(checksum) {
        return None;
    }
    let (headers, payload) = body.get(PRELUDE..)?.split_at_checked(headers)?;
    let payload = serde_json::from_slice(payload).unwrap_or(Value::Null);
    let mut kind = String::new();
    let mut remaining = headers;
    while let Some((name, value, after)) = header(remaining) {
        if matches!(name, b":event-type" | b":exception-type" | b":error-code") {
            kind = String::from_utf8_lossy(value).into_owned();
        }
        remaining = after;
    }
    remaining.is_empty().then(|| Value::Object([(kind, payload)].into_iter().collect()))
}

/// Splits off a header: its name and its value. Values other than strings and bytes are skipped.
fn header(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let (kind, rest) = rest.split_first()?;
    let (size, rest) = match kind {
        0 | 1 => (0, rest),
        2 => (1, rest),
        3 => (2, rest),
        4 => (4, rest),
        5 | 8 => (8, rest),
        6 | 7 => {
            let (size, rest) = rest.split_at_checked(2)?;
            (number(size), rest)
        }
        9 => (16, rest),
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(size)?;
    Some((name, value, rest))
}

/// Reads a big-endian number of at most four bytes.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Returns the CRC-32 of IEEE 802.3.
fn crc32(bytes: &[u8]) -> usize {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    });
    usize::try_from(!crc).unwrap_or_default()
}
