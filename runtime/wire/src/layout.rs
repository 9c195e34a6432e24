//! Where a format contains the blocks of a reply, and how it states why the model stopped.

use std::fmt;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A part of a response that does not match the vendor's format.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireError {
    /// The location in the response, as a JSON pointer.
    pub pointer: String,
    /// The problem.
    pub message: String,
}

impl WireError {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> WireError {
        WireError { pointer: pointer.into(), message: message.into() }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

toolgen_core::__readable_debug!(WireError);

impl std::error::Error for WireError {}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The reply does not state a reason.
    #[default]
    Unknown,
    /// The model finished, or produced a stop sequence.
    EndTurn,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The vendor paused a long turn. It continues when the turn is sent back unchanged.
    Paused,
    /// The token limit was reached: the last call is truncated.
    MaxTokens,
    /// The stream ended before the turn did: the last call is truncated.
    Interrupted,
    /// The vendor, or the model for safety reasons, refused to continue. No call may run.
    Refused,
    /// The vendor failed, or could not parse the model's output. No call may run.
    Failed,
}

/// The names of all reasons.
const STOPS: [(StopReason, &str); 8] = [
    (StopReason::Unknown, "unknown"),
    (StopReason::EndTurn, "end"),
    (StopReason::ToolCalls, "calls"),
    (StopReason::Paused, "paused"),
    (StopReason::MaxTokens, "length"),
    (StopReason::Interrupted, "interrupted"),
    (StopReason::Refused, "refused"),
    (StopReason::Failed, "failed"),
];

impl StopReason {
    /// Returns the name in lower case, such as `length`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        STOPS.iter().find(|(stop, _)| *stop == self).map_or("unknown", |(_, name)| name)
    }

    /// Whether the model was stopped because of its output, so that none of its calls may run.
    #[must_use]
    pub fn is_stopped(self) -> bool {
        matches!(self, StopReason::Refused | StopReason::Failed)
    }

    /// Whether the last block of the reply may be incomplete.
    #[must_use]
    pub fn is_truncated(self) -> bool {
        matches!(self, StopReason::MaxTokens | StopReason::Interrupted)
    }

    /// Whether the reply ended before the model had finished it.
    pub(super) fn is_early(self) -> bool {
        self.is_truncated() || self.is_stopped()
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for StopReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let stop = STOPS.iter().find(|(_, known)| *known == name);
        stop.map(|(stop, _)| *stop)
            .ok_or_else(|| serde_core::de::Error::custom(format!("unknown stop reason `{name}`")))
    }
}

/// Where a format contains the blocks that may be calls.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The display name of the format.
    pub title: &'static str,
    /// The keys from a response down to its list of blocks; `0` is the first item of a list. The value may also start
    /// further down the path, for example with a message.
    pub path: &'static [&'static str],
    /// The key of the path that may be missing, in addition to the last key.
    pub optional: &'static str,
    /// The keys that identify a message without blocks.
    pub message: &'static [&'static str],
    /// The key of a single block, next to the last key of the path, if there is no list.
    pub lone: &'static str,
    /// Whether an object is a block by itself.
    pub is_block: fn(&Value) -> bool,
    /// Whether an object is a streaming event.
    pub is_piece: fn(&Value) -> bool,
    /// Returns how a response ended; called for each object on the path.
    pub ending: for<'v> fn(&'v Value) -> ResponseEnd<'v>,
}

/// How a response ended: the meaning, and the vendor's own term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseEnd<'v> {
    /// The meaning.
    pub stop: StopReason,
    /// The vendor's term. May be empty.
    pub word: &'v str,
}

impl ResponseEnd<'_> {
    /// The ending of an object that states no ending.
    pub const UNKNOWN: ResponseEnd<'static> = ResponseEnd { stop: StopReason::Unknown, word: "" };
}

/// The blocks of a response.
pub(super) struct ResponseBlocks<'v> {
    /// The location of the blocks, as a JSON pointer.
    pub(super) pointer: String,
    /// The blocks.
    pub(super) blocks: &'v [Value],
    /// Whether `blocks` is the single block at `pointer` rather than a list.
    pub(super) single: bool,
    /// The object that contains the blocks, usually a message.
    pub(super) owner: &'v Value,
    pub(super) ending: ResponseEnd<'v>,
}

impl Layout {
    /// The base of every literal: no path, no blocks, no streams.
    pub const EMPTY: Layout = Layout {
        title: "",
        path: &[],
        optional: "",
        message: &[],
        lone: "",
        is_block: |_| false,
        is_piece: |_| false,
        ending: |_| ResponseEnd::UNKNOWN,
    };

    /// Returns the error for a value that cannot contain calls in this format.
    fn unknown(&self) -> WireError {
        let title = self.title;
        WireError::new("", format!("is neither a response nor a message nor a call of {title}"))
    }

    fn check_complete(&self, value: &Value, pointer: &str) -> Result<(), WireError> {
        if (self.is_piece)(value) {
            let title = self.title;
            let message = format!(
                "is a part of a response of {title}: wait for the whole response, or collect the parts with \
                 `WireFormat::stream`"
            );
            return Err(WireError::new(pointer, message));
        }
        Ok(())
    }

    /// Finds the blocks of a response.
    pub(super) fn find<'v>(&self, response: &'v Value) -> Result<ResponseBlocks<'v>, WireError> {
        let without_owner = |blocks, single, ending| ResponseBlocks {
            pointer: String::new(),
            blocks,
            single,
            owner: &Value::Null,
            ending,
        };
        self.check_complete(response, "")?;
        if let Value::Array(blocks) = response {
            for (index, block) in blocks.iter().enumerate() {
                self.check_complete(block, &format!("/{index}"))?;
            }
            return Ok(without_owner(blocks, false, ResponseEnd::UNKNOWN));
        }
        if (self.is_block)(response) {
            return Ok(without_owner(std::slice::from_ref(response), true, ResponseEnd::UNKNOWN));
        }
        let mut ending = (self.ending)(response);
        let has = |key: &&str| response.get(key).is_some();
        let start = self.path.iter().position(has);
        let start =
            start.or_else(|| self.message.iter().any(has).then_some(self.path.len().saturating_sub(1)));
        let Some((last, parents)) = start.and_then(|start| self.path.get(start..)?.split_last()) else {
            // A response to a rejected prompt has no content.
            return if ending.stop.is_stopped() {
                Ok(without_owner(&[], false, ending))
            } else {
                Err(self.unknown())
            };
        };
        let (mut pointer, mut owner) = (String::new(), response);
        for key in parents {
            let inner = match self.step(owner, key, &pointer) {
                Ok(inner) => inner,
                Err(_) if ending.stop.is_stopped() => None,
                Err(error) => return Err(error),
            };
            let Some(inner) = inner else { return Ok(without_owner(&[], false, ending)) };
            pointer = format!("{pointer}/{key}");
            owner = inner;
            let end = (self.ending)(owner);
            if end.stop != StopReason::Unknown && !ending.stop.is_early() {
                ending = end;
            }
        }
        let (blocks, key, single): (&[Value], _, _) = match (owner.get(last), owner.get(self.lone)) {
            (Some(Value::Array(blocks)), None | Some(Value::Null)) => (blocks, last, false),
            (Some(Value::Array(blocks)), _) if !blocks.is_empty() => (blocks, last, false),
            (None | Some(Value::Null | Value::Array(_)), Some(single_block @ Value::Object(_))) => {
                (std::slice::from_ref(single_block), &self.lone, true)
            }
            // The content is a single string.
            (None | Some(Value::Null | Value::Array(_) | Value::String(_)), _) => (&[], last, false),
            (Some(_), _) => return Err(WireError::new(format!("{pointer}/{last}"), "is not a list")),
        };
        Ok(ResponseBlocks { pointer: format!("{pointer}/{key}"), blocks, single, owner, ending })
    }

    /// Returns the value under a key of the path, or `None` if it is missing and optional.
    fn step<'v>(&self, owner: &'v Value, key: &str, pointer: &str) -> Result<Option<&'v Value>, WireError> {
        let inner = match key {
            "0" => {
                // The list is the last key of the pointer.
                let list = pointer.rsplit('/').next().unwrap_or_default();
                let item = list.strip_suffix('s').unwrap_or(list);
                return match owner.get(0) {
                    Some(first) => Ok(Some(first)),
                    None => Err(WireError::new(pointer, format!("has no {item}"))),
                };
            }
            key => owner.get(key),
        };
        let pointer_to_key = || format!("{pointer}/{key}");
        match inner {
            None if !owner.is_object() => Err(WireError::new(pointer, "is not an object")),
            None | Some(Value::Null) if key == self.optional => Ok(None),
            None => Err(WireError::new(pointer_to_key(), "is missing")),
            Some(Value::Object(_)) => Ok(inner),
            // The next step reports a missing or invalid list.
            Some(_) if self.path.windows(2).any(|pair| pair == [key, "0"]) => Ok(inner),
            Some(_) => Err(WireError::new(pointer_to_key(), "is not an object")),
        }
    }
}
