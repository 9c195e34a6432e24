//! Streamed replies, assembled into the reply that the provider would have sent whole.
//!
//! There is one reader: the pieces of a stream become a whole response of the format, and [`WireFormat::turn`] reads
//! that.

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
use super::turn::{self, Turn};
use super::{Format, WireFormat};

/// How many bytes of a stream are taken by default: 64 MiB.
pub const DEFAULT_MAX_STREAM_BYTES: usize = 64 << 20;

/// A streamed reply that is being assembled.
///
/// ```
/// use toolgen_runtime::wire::{StreamDelta, WireFormat};
///
/// # fn main() -> Result<(), toolgen_runtime::wire::StreamError> {
/// let mut stream = WireFormat::OpenAiChat.stream();
/// // As they come from the connection, cut anywhere.
/// let bytes = [
///     &b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It is "[..],
///     b"noon.\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
/// ];
/// for bytes in bytes {
///     for piece in stream.push_bytes(bytes)? {
///         if let StreamDelta::Text(text) = piece {
///             assert_eq!(text, "It is noon."); // shown to the user as it comes
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
    /// How many bytes are still taken.
    remaining_bytes: usize,
    limit: usize,
    failed: Option<StreamError>,
}

/// Something new in a stream. The [`Turn`] at its end holds all of it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamDelta {
    /// More text for the user.
    Text(String),
    /// More text of the model's reasoning.
    Thinking(String),
    /// A call begins, whose arguments are still to come.
    Call {
        /// The ID. Empty if the provider gives none.
        id: Text,
        /// The name of the tool.
        name: Text,
    },
}

impl StreamDelta {
    /// Returns the text for the user, or an empty one.
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

/// The reason why a stream cannot be assembled. A stream that failed gives no turn.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The provider sent an error, in its words.
    Provider(WireError),
    /// An event does not match the format or those before it.
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
                    "the stream is larger than {limit} bytes; `Stream::with_limit` sets how much is taken"
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
    /// Begins to assemble a streamed reply.
    ///
    /// For MCP, whose requests are whole, every event is a request, and the turn has the calls of all.
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
    /// Sets how many bytes are taken: [`DEFAULT_MAX_STREAM_BYTES`] by default.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Stream {
        (self.remaining_bytes, self.limit) = (bytes, bytes);
        self
    }

    /// Adds an event that is already decoded, and returns what is new in it. Events of unknown kinds change nothing.
    ///
    /// An event of Bedrock is an object whose key is its kind, such as `{"contentBlockDelta": {…}}`.
    ///
    /// # Errors
    ///
    /// If the event is an error of the provider, contradicts those before it, or is one too many. The stream stays
    /// failed.
    pub fn push(&mut self, event: &Value) -> Result<Vec<StreamDelta>, StreamError> {
        self.unless_failed(|stream| {
            if !is_shallow(event) {
                let what = format!("it is nested more than {MAX_DEPTH} levels deep");
                return Err(StreamError::Event(WireError::new("", what)));
            }
            stream.take(weight(event))?;
            stream.event(event)
        })?;
        Ok(std::mem::take(&mut self.assembly.pieces))
    }

    /// Adds bytes as they come from the connection, cut anywhere, and returns what is new in them.
    ///
    /// The first byte tells how they are framed: server-sent events, JSON values one after the other or in a list (as
    /// Ollama and Gemini write them), or the frames of an AWS event stream. So the body of an error that comes in place
    /// of a stream is reported, too.
    ///
    /// # Errors
    ///
    /// As for [`push`](Self::push), and if the bytes are not events. The stream stays failed.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<Vec<StreamDelta>, StreamError> {
        self.unless_failed(|stream| {
            stream.take(bytes.len())?;
            let events = stream.decoder.push(bytes)?;
            stream.events(events)
        })?;
        Ok(std::mem::take(&mut self.assembly.pieces))
    }

    /// Whether the provider has said that the turn is over. More events may follow, for example with its cost.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.assembly.ended
    }

    /// Returns the turn.
    ///
    /// If the stream ended before the turn did, the reason of its end is [`Stop::Interrupted`](super::StopReason), and the
    /// last call is blocked as cut off, as are those whose arguments are incomplete.
    ///
    /// # Errors
    ///
    /// If an event failed, or there were none.
    pub fn finish(mut self) -> Result<Turn, StreamError> {
        self.unless_failed(|stream| {
            let events = stream.decoder.finish()?;
            stream.events(events)
        })?;
        let ended = self.assembly.ended;
        let whole = self.assembly.finish();
        if whole.is_null() {
            let what = "it had no event of a reply, so there is no turn to read";
            return Err(StreamError::Bytes(what.to_owned()));
        }
        turn::read(self.format, &whole, ended).map_err(StreamError::Event)
    }

    fn unless_failed(
        &mut self,
        go: impl FnOnce(&mut Self) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        go(self).inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn take(&mut self, bytes: usize) -> Result<(), StreamError> {
        self.remaining_bytes =
            self.remaining_bytes.checked_sub(bytes).ok_or(StreamError::TooLong(self.limit))?;
        Ok(())
    }

    fn events(&mut self, events: Vec<Option<Value>>) -> Result<(), StreamError> {
        for event in events {
            match event {
                Some(event) => self.event(&event)?,
                None => self.assembly.end(),
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Value) -> Result<(), StreamError> {
        if let Some(error) = turn::error_in(event) {
            return Err(StreamError::Provider(error));
        }
        (self.format.assemble)(&mut self.assembly, event).map_err(StreamError::Event)
    }
}

/// Returns about how many bytes an event has as text.
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
