//! Assembles streamed replies into the reply that the vendor would have sent without streaming.
//!
//! There is only one parser of replies: the events of a stream become a whole response of the format, which
//! [`WireFormat::turn`] parses.

pub(super) mod anthropic;
pub(super) mod assembly;
pub(super) mod bedrock;
mod bytes;
pub(super) mod gemini;
pub(super) mod openai_chat;
pub(super) mod openai_responses;

use std::fmt;

use serde_json::Value;
use toolgen_kernel::base::depth::{MAX_DEPTH, is_shallow};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::redacted_debug::Redacted;

use self::assembly::Assembly;
use self::bytes::Decoder;
use super::layout::WireError;
use super::turn::{self, ModelReply};
use super::{Format, WireFormat};

/// Default for the maximum size of a stream, in bytes: 64 MiB.
pub const DEFAULT_MAX_STREAM_BYTES: usize = 64 << 20;

/// A streamed reply that is being assembled.
///
/// ```
/// use toolgen_runtime::wire::{StreamDelta, WireFormat};
///
/// # fn main() -> Result<(), toolgen_runtime::wire::StreamError> {
/// let mut stream = WireFormat::OpenAiChat.stream();
/// // Bytes of the connection, split at any position.
/// let bytes = [
///     &b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It is "[..],
///     b"noon.\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
/// ];
/// for bytes in bytes {
///     for delta in stream.push_bytes(bytes)? {
///         if let StreamDelta::Text(text) = delta {
///             assert_eq!(text, "It is noon."); // shown to the user immediately
///         }
///     }
/// }
/// assert_eq!(stream.finish()?.text, "It is noon.");
/// # Ok(())
/// # }
/// ```
pub struct Stream {
    format: &'static Format,
    assembly: Assembly,
    decoder: Decoder,
    /// Number of bytes that may still follow.
    remaining_bytes: usize,
    limit: usize,
    failed: Option<StreamError>,
}

/// An increment of a stream. The [`ModelReply`] at the end contains all of them.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamDelta {
    /// More text for the user.
    Text(String),
    /// More text of the model's reasoning.
    Thinking(String),
    /// The start of a call, whose arguments follow.
    Call {
        /// The ID. Empty if the vendor gives none.
        id: Text,
        /// The name of the tool.
        name: Text,
    },
}

impl StreamDelta {
    /// Returns the text for the user, or an empty string.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            StreamDelta::Text(text) => text,
            StreamDelta::Thinking(_) | StreamDelta::Call { .. } => "",
        }
    }
}

impl fmt::Debug for StreamDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamDelta::Text(text) => f.debug_tuple("Text").field(&Redacted(text)).finish(),
            StreamDelta::Thinking(text) => f.debug_tuple("Thinking").field(&Redacted(text)).finish(),
            StreamDelta::Call { id, name } => {
                f.debug_struct("Call").field("id", id).field("name", name).finish()
            }
        }
    }
}

/// Why a stream cannot be assembled. A stream that failed returns no turn.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The vendor sent an error; this is its message.
    Provider(WireError),
    /// An event does not match the format or the events before it.
    Event(WireError),
    /// The bytes are not events.
    Bytes(String),
    /// The stream is larger than this many bytes, see [`Stream::with_limit`].
    TooLong(usize),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::Provider(error) => error.fmt(f),
            StreamError::Event(error) => write!(f, "an event of the stream: {error}"),
            StreamError::Bytes(reason) => write!(f, "the stream: {reason}"),
            StreamError::TooLong(limit) => {
                write!(
                    f,
                    "the stream is larger than {limit} bytes; raise the limit with `Stream::with_limit`"
                )
            }
        }
    }
}

toolgen_core::__readable_debug!(StreamError);

impl std::error::Error for StreamError {}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("format", &self.format)
            .field("taken", &(self.limit - self.remaining_bytes))
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

impl WireFormat {
    /// Starts to assemble a streamed reply.
    ///
    /// In MCP, requests are not split: every event is a request, and the turn has the calls of all of them.
    #[must_use]
    pub fn stream(self) -> Stream {
        Stream {
            format: self.format(),
            assembly: Assembly::default(),
            decoder: Decoder::default(),
            remaining_bytes: DEFAULT_MAX_STREAM_BYTES,
            limit: DEFAULT_MAX_STREAM_BYTES,
            failed: None,
        }
    }
}

impl Stream {
    /// Sets the maximum size of the stream, in bytes. Default: [`DEFAULT_MAX_STREAM_BYTES`].
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Stream {
        (self.remaining_bytes, self.limit) = (bytes, bytes);
        self
    }

    /// Adds a decoded event, and returns its increments. Events of unknown kinds are ignored.
    ///
    /// An event of Bedrock is an object with one key, its kind: `{"contentBlockDelta": {…}}`.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is an error of the vendor, contradicts earlier events, or exceeds the limit. All
    /// later calls then fail as well.
    pub fn push(&mut self, event: &Value) -> Result<Vec<StreamDelta>, StreamError> {
        self.run_unless_failed(|stream| {
            if !is_shallow(event) {
                let message = format!("it is nested more than {MAX_DEPTH} levels deep");
                return Err(StreamError::Event(WireError::new("", message)));
            }
            stream.consume(weight(event))?;
            stream.add_event(event)
        })?;
        Ok(std::mem::take(&mut self.assembly.deltas))
    }

    /// Adds bytes of the connection, split at any position, and returns their increments.
    ///
    /// The first byte determines the framing: server-sent events, a sequence or a list of JSON values (as Ollama and
    /// Gemini write them), or the frames of an AWS event stream. So the body of an error that is sent instead of a
    /// stream is reported as well.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`push`](Self::push), and an error if the bytes are not events. All later
    /// calls then fail as well.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<Vec<StreamDelta>, StreamError> {
        self.run_unless_failed(|stream| {
            stream.consume(bytes.len())?;
            let events = stream.decoder.push(bytes)?;
            stream.add_events(events)
        })?;
        Ok(std::mem::take(&mut self.assembly.deltas))
    }

    /// Whether the vendor has ended the turn. More events may follow, for example with the token usage.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.assembly.ended
    }

    /// Returns the turn.
    ///
    /// If the stream ended before the turn did, the stop reason is [`StopReason::Interrupted`](super::StopReason), and
    /// the last call is blocked as truncated, as are calls with incomplete arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if an event failed, or if there were no events.
    pub fn finish(mut self) -> Result<ModelReply, StreamError> {
        self.run_unless_failed(|stream| {
            let events = stream.decoder.finish()?;
            stream.add_events(events)
        })?;
        let ended = self.assembly.ended;
        let response = self.assembly.finish();
        if response.is_null() {
            let message = "it contained no events of a reply";
            return Err(StreamError::Bytes(message.to_owned()));
        }
        turn::read(self.format, &response, ended).map_err(StreamError::Event)
    }

    fn run_unless_failed(
        &mut self,
        operation: impl FnOnce(&mut Self) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        operation(self).inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn consume(&mut self, bytes: usize) -> Result<(), StreamError> {
        self.remaining_bytes =
            self.remaining_bytes.checked_sub(bytes).ok_or(StreamError::TooLong(self.limit))?;
        Ok(())
    }

    fn add_events(&mut self, events: Vec<Option<Value>>) -> Result<(), StreamError> {
        for event in events {
            match event {
                Some(event) => self.add_event(&event)?,
                None => self.assembly.end(),
            }
        }
        Ok(())
    }

    fn add_event(&mut self, event: &Value) -> Result<(), StreamError> {
        if let Some(error) = turn::error_in(event) {
            return Err(StreamError::Provider(error));
        }
        (self.format.assemble)(&mut self.assembly, event).map_err(StreamError::Event)
    }
}

/// Returns the approximate size of an event as JSON, in bytes.
fn weight(event: &Value) -> usize {
    match event {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| key.len() + weight(value) + 4).sum::<usize>() + 2
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
    }
}
