//! A turn of a model: what it said, what it called, what it cost and why it stopped.

use std::fmt;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use toolgen_kernel::base::data::plain_data;
use toolgen_kernel::base::discreet::discreet_debug;
use toolgen_kernel::base::frozen::Text;

use super::calls::{self, Calls, Item, WireError, text};
use super::{Format, WireFormat};

/// A turn of a model, as [`WireFormat::turn`] reads it from a reply.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// The text for the user. Texts with something else between them are separate lines.
    pub text: String,
    /// The text of the model's reasoning, if the provider shows it.
    pub thinking: String,
    /// The calls.
    pub calls: Calls,
    /// What the turn cost.
    pub usage: Usage,
    /// Why the model stopped.
    pub stop: Stop,
    /// Why the model stopped, in the provider's own word; empty if it did not say.
    pub stop_word: Text,
    /// The turn as it goes back to the same provider.
    pub kept: Kept,
}

discreet_debug!(Turn: calls, usage, stop, stop_word, kept; text, thinking);

/// The tokens of a turn. Zero means none or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// All tokens of the request, those from a cache included.
    pub input: u64,
    /// All tokens of the reply, those of reasoning included.
    pub output: u64,
    /// The tokens of the request that were read from a cache.
    pub cached: u64,
    /// The tokens of the reply that were reasoning.
    pub reasoning: u64,
}

plain_data!(Usage: ; input, output, cached, reasoning);

impl Usage {
    /// Creates the tokens of a turn.
    #[must_use]
    pub fn new(input: u64, output: u64, cached: u64, reasoning: u64) -> Usage {
        Usage { input, output, cached, reasoning }
    }

    /// Returns the tokens of request and reply together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Returns the sum of two turns.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

/// Returns the number at a JSON pointer, or zero.
#[must_use]
pub fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stop {
    /// The reply does not say.
    #[default]
    Unknown,
    /// The model finished, or wrote a text at which it was to stop.
    End,
    /// The model waits for the answers to its calls.
    Calls,
    /// The provider paused a long turn, which goes on when it is sent back as it is.
    Paused,
    /// The token limit was reached: the last call is cut.
    Length,
    /// The stream ended before the turn did: the last call is cut.
    Interrupted,
    /// The provider, or the model for reasons of safety, refused to go on. No call may run.
    Refused,
    /// The provider failed, or could not read what the model wrote. No call may run.
    Failed,
}

/// The names of all reasons.
const STOPS: [(Stop, &str); 8] = [
    (Stop::Unknown, "unknown"),
    (Stop::End, "end"),
    (Stop::Calls, "calls"),
    (Stop::Paused, "paused"),
    (Stop::Length, "length"),
    (Stop::Interrupted, "interrupted"),
    (Stop::Refused, "refused"),
    (Stop::Failed, "failed"),
];

impl Stop {
    /// Returns the name in lower case, such as `length`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        STOPS.iter().find(|(stop, _)| *stop == self).map_or("unknown", |(_, name)| name)
    }

    /// Whether the model was stopped for what it said, so that none of its calls may run.
    #[must_use]
    pub fn is_stopped(self) -> bool {
        matches!(self, Stop::Refused | Stop::Failed)
    }

    /// Whether the last block of the reply may be incomplete.
    #[must_use]
    pub fn is_cut(self) -> bool {
        matches!(self, Stop::Length | Stop::Interrupted)
    }

    /// Whether the reply is not what the model would have said.
    pub(super) fn is_early(self) -> bool {
        self.is_cut() || self.is_stopped()
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Stop {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Stop {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = STOPS.iter().find(|(_, known)| *known == name);
        known
            .map(|(stop, _)| *stop)
            .ok_or_else(|| serde_core::de::Error::custom(format!("Stop: `{name}` is not known")))
    }
}

/// A turn as its provider wrote it, to be sent back as it is: with reasoning, signatures and whatever else it holds.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// The name of the format.
    pub format: Text,
    /// The messages or items of a request that hold the turn.
    pub messages: Vec<Value>,
    /// The kinds of content that only this format can carry, such as `thinking` or `thoughtSignature`, each once.
    pub only_here: Vec<Text>,
}

discreet_debug!(Kept: format, only_here; messages);
plain_data!(Kept: format, messages; only_here);

/// The keys of signatures that only the provider of a block understands.
const SIGNATURES: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// What is collected while the blocks of a reply are read.
#[derive(Default)]
pub(super) struct Said {
    text: String,
    thinking: String,
    only_here: Vec<Text>,
    /// Whether something else follows the last text.
    between: bool,
}

impl Said {
    /// Adds what a block says, other than a call.
    pub(super) fn add(&mut self, item: &Item<'_>, kind: &str) {
        match item {
            Item::Text(said) => {
                if std::mem::take(&mut self.between) && !self.text.is_empty() && !said.is_empty() {
                    self.text.push('\n');
                }
                return self.text.push_str(said);
            }
            Item::Thinking(thought) => {
                if !self.thinking.is_empty() && !thought.is_empty() {
                    self.thinking.push('\n');
                }
                self.thinking.push_str(thought);
                self.only_here(kind);
            }
            Item::Skip | Item::Foreign(_) => self.only_here(kind),
            Item::Call(_) => {}
        }
        self.between = true;
    }

    /// Notes that a block is signed, if it is.
    pub(super) fn signature(&mut self, block: &Value) {
        for key in SIGNATURES.into_iter().filter(|key| block.get(key).is_some()) {
            self.only_here(key);
        }
    }

    fn only_here(&mut self, kind: &str) {
        if !kind.is_empty() && self.only_here.iter().all(|known| known != kind) {
            self.only_here.push(Text::copy_of(kind));
        }
    }
}

/// Returns the name of a block: its type, or its first key.
pub(super) fn kind(block: &Value) -> &str {
    match (text(block, "type"), block.as_object()) {
        ("", Some(fields)) => fields.keys().next().map_or("", String::as_str),
        (kind, _) => kind,
    }
}

/// Reads a turn. A reply whose stream ended early is not `ended`.
pub(super) fn read(format: &Format, response: &Value, ended: bool) -> Result<Turn, WireError> {
    let mut said = Said::default();
    let (calls, found) =
        calls::read(format, response, ended, &mut said).map_err(|why| told(response, why))?;
    let stop = match found.ending.stop {
        Stop::Unknown | Stop::End if !calls.calls.is_empty() => Stop::Calls,
        stop => stop,
    };
    let messages = (format.keep)(found.owner, found.blocks);
    Ok(Turn {
        text: said.text,
        thinking: said.thinking,
        calls,
        usage: (format.usage)(response),
        stop,
        stop_word: Text::copy_of(found.ending.word),
        kept: Kept { format: format.name.into(), messages, only_here: said.only_here },
    })
}

/// Returns the error that a provider sent in place of a reply, or that of the reader.
fn told(response: &Value, why: WireError) -> WireError {
    error_in(response).unwrap_or(why)
}

/// Returns the error that an object is: `{"error": …}`, or `{"type": "error", …}`.
pub(super) fn error_in(value: &Value) -> Option<WireError> {
    let (error, pointer) = match value.get("error").filter(|error| !error.is_null()) {
        Some(error) => (error, "/error"),
        None if text(value, "type") == "error" => (value, ""),
        None => return None,
    };
    let words: Vec<&str> = match error {
        Value::String(told) => vec![told],
        error => {
            let parts = ["type", "code", "status", "message"].map(|key| text(error, key));
            parts.into_iter().filter(|part| !part.is_empty() && *part != "error").collect()
        }
    };
    let words = if words.is_empty() { "without a reason".to_owned() } else { words.join(": ") };
    Some(WireError::new(pointer, format!("the provider sent an error in place of a reply: {words}")))
}

impl WireFormat {
    /// Reads a whole turn of a model from a response: its text, its calls, its cost, why it stopped, and the messages by
    /// which it goes back into the conversation.
    ///
    /// Accepts the same values as [`calls`](Self::calls), and reads the calls in the same way.
    ///
    /// # Errors
    ///
    /// If the value is not a response of this format, or only a piece of one. An error that the provider sent in place
    /// of a reply is reported in its words.
    pub fn turn(self, response: &Value) -> Result<Turn, WireError> {
        read(self.format(), response, true)
    }
}
