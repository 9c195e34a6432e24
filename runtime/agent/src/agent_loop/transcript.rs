//! The transcript of a conversation with a model.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use toolgen_kernel::base::data::{Members, plain_data};
use toolgen_kernel::base::redacted_debug::{Redacted, discreet_debug};
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::blocked::Blocked;
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_wire::{ModelReply, RawTurn, StopReason, Usage};

/// A conversation with a model, in order. Clones share their entries until one of them changes.
///
/// Every call of the model has exactly one [`Entry::Answer`] after the turn that contains it, in the order of the
/// calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript(Arc<Vec<Entry>>);

/// An entry of a transcript.
#[derive(Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "most entries are turns of a model")]
#[non_exhaustive]
pub enum Entry {
    /// The instructions for the model. The first entry of this kind counts.
    System(String),
    /// A message of the user, or of the program on the user's behalf.
    User(String),
    /// A turn of the model.
    Model(ModelTurn),
    /// The result of a call of the model.
    Answer(Box<ToolResponse>),
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::System(text) => f.debug_tuple("System").field(&Redacted(text)).finish(),
            Entry::User(text) => f.debug_tuple("User").field(&Redacted(text)).finish(),
            Entry::Model(turn) => f.debug_tuple("Model").field(turn).finish(),
            Entry::Answer(response) => f.debug_tuple("Answer").field(response).finish(),
        }
    }
}

discreet_debug!(ModelTurn: calls, tokens, usage, stop, raw; text);
plain_data!(ModelTurn: ; text, calls, tokens, usage, stop, raw);

impl Transcript {
    /// Creates an empty transcript.
    #[must_use]
    pub fn new() -> Transcript {
        Transcript::default()
    }

    /// Creates a transcript that starts with a message of the user.
    pub fn user(text: impl Into<String>) -> Transcript {
        let mut transcript = Transcript::new();
        transcript.push(Entry::User(text.into()));
        transcript
    }

    /// Sets the instructions for the model, replacing those that are there.
    #[must_use]
    pub fn with_system(mut self, text: impl Into<String>) -> Transcript {
        let (entries, system) = (Arc::make_mut(&mut self.0), Entry::System(text.into()));
        match entries.iter_mut().find(|entry| matches!(entry, Entry::System(_))) {
            Some(entry) => *entry = system,
            None => entries.insert(0, system),
        }
        self
    }

    /// Returns the instructions for the model, if the transcript has any.
    #[must_use]
    pub fn system(&self) -> Option<&str> {
        self.0.iter().find_map(|entry| match entry {
            Entry::System(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the total usage of all turns of the model.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.turns().fold(Usage::default(), |sum, turn| sum.plus(turn.usage))
    }

    /// Returns the turns of the model, oldest first.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = &ModelTurn> {
        self.0.iter().filter_map(|entry| match entry {
            Entry::Model(turn) => Some(turn),
            _ => None,
        })
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: Entry) {
        Arc::make_mut(&mut self.0).push(entry);
    }

    /// Replaces the last result of the call with the same ID, such as after a waiting call was resumed. Returns
    /// whether there was one.
    pub fn replace_result(&mut self, response: ToolResponse) -> bool {
        let same = |entry: &&mut Entry| matches!(entry, Entry::Answer(old) if old.id == response.id);
        match Arc::make_mut(&mut self.0).iter_mut().rev().find(same) {
            Some(entry) => {
                *entry = Entry::Answer(Box::new(response));
                true
            }
            None => false,
        }
    }

    /// Returns the results of the model's last turn with calls.
    pub fn last_results(&self) -> impl Iterator<Item = &ToolResponse> {
        let calls = |entry: &Entry| matches!(entry, Entry::Model(turn) if !turn.calls.is_empty());
        let since = self.0.iter().rposition(calls).map_or(self.0.len(), |at| at + 1);
        self.0[since..].iter().filter_map(|entry| match entry {
            Entry::Answer(response) => Some(&**response),
            _ => None,
        })
    }
}

/// A message of the user.
impl From<&str> for Transcript {
    fn from(text: &str) -> Transcript {
        Transcript::user(text)
    }
}

/// A message of the user.
impl From<String> for Transcript {
    fn from(text: String) -> Transcript {
        Transcript::user(text)
    }
}

/// Serializes as an array of entries.
impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(|entries| Transcript(Arc::new(entries)))
    }
}

/// Serializes as `{"system": text}`, `{"user": text}`, `{"model": turn}` or `{"answer": response}`.
impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self {
            Entry::System(text) => json!({ "system": text }),
            Entry::User(text) => json!({ "user": text }),
            Entry::Model(turn) => json!({ "model": turn }),
            Entry::Answer(response) => json!({ "answer": response }),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "Entry")?;
        if members.has("system") {
            members.take("system").map(Entry::System)
        } else if members.has("user") {
            members.take("user").map(Entry::User)
        } else if members.has("model") {
            members.take("model").map(Entry::Model)
        } else {
            members.take("answer").map(|response| Entry::Answer(Box::new(response)))
        }
    }
}

impl Deref for Transcript {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.0
    }
}

/// One turn of a model.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelTurn {
    /// The text, which may be empty.
    pub text: String,
    /// The tool calls, in order.
    pub calls: Vec<ToolCall>,
    /// The cost of the turn in tokens, input and output. Zero if it is unknown.
    pub tokens: u64,
    /// The detailed usage of the turn.
    pub usage: Usage,
    /// Why the model stopped.
    pub stop: StopReason,
    /// The turn in the vendor's format, which is sent back verbatim to the same vendor. If it is empty, the turn is
    /// sent as text and calls.
    pub raw: RawTurn,
}

/// The verbatim part is omitted if some of its calls cannot be answered.
impl From<ModelReply> for ModelTurn {
    fn from(turn: ModelReply) -> ModelTurn {
        let kept = if turn.calls.problems.is_empty() { turn.raw } else { RawTurn::default() };
        ModelTurn {
            text: turn.text,
            calls: turn.calls.calls,
            tokens: turn.usage.total(),
            usage: turn.usage,
            stop: turn.stop,
            raw: kept,
        }
    }
}

impl ModelTurn {
    /// Creates a turn with text and no calls.
    pub fn text(text: impl Into<String>) -> ModelTurn {
        ModelTurn { text: text.into(), ..ModelTurn::default() }
    }

    /// Creates a turn with calls and no text.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> ModelTurn {
        ModelTurn { calls: calls.into_iter().collect(), ..ModelTurn::default() }
    }

    /// Sets the text.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> ModelTurn {
        self.text = text.into();
        self
    }

    /// Sets the cost in tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> ModelTurn {
        self.tokens = tokens;
        self
    }

    /// Marks the turn as truncated, so that its last call may be incomplete: this call gets an error without being
    /// run.
    #[must_use]
    pub fn truncated(mut self) -> ModelTurn {
        if let Some(last) = self.calls.last_mut() {
            last.blocked = Some(Blocked::Truncated);
        }
        self
    }
}

/// A queue of user messages for a running loop. Clones share the queue: pass one to the loop in
/// [`LoopOptions::messages`](super::LoopOptions::messages), and keep the other to send messages.
#[derive(Clone, Default)]
pub struct SteeringMessages(Arc<Mutex<VecDeque<String>>>);

impl fmt::Debug for SteeringMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").field("waiting", &self.lock().len()).finish()
    }
}

impl SteeringMessages {
    /// Creates an empty queue.
    #[must_use]
    pub fn new() -> SteeringMessages {
        SteeringMessages::default()
    }

    /// Adds a message. Calls of the turn that have not started are skipped, and the model reads the message next.
    pub fn push(&self, text: impl Into<String>) {
        self.lock().push_back(text.into());
    }

    /// Returns whether no message is waiting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Removes and returns all waiting messages.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        self.lock().drain(..).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        unpoisoned(self.0.lock())
    }
}
