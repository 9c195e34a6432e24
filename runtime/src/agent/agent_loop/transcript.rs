//! What was said so far.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use crate::base::data::{Members, plain_data};
use crate::base::sync::unpoisoned;
use crate::call::blocked::Blocked;
use crate::call::{ToolCall, ToolResponse};

/// What was said so far, in order. Clones share it as long as nothing is added.
///
/// Every call of the model has exactly one [`Entry::Answer`] behind the turn it was made in, in the order of the calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript(Arc<Vec<Entry>>);

/// One thing that was said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// By the user, or by the program in their place.
    User(String),
    /// By the model.
    Model(ModelTurn),
    /// The answer to a call of the model.
    Answer(Box<ToolResponse>),
}

plain_data!(ModelTurn: ; text, calls, tokens);

impl Transcript {
    /// Nothing was said.
    #[must_use]
    pub fn new() -> Transcript {
        Transcript::default()
    }

    /// The user said something.
    pub fn user(text: impl Into<String>) -> Transcript {
        let mut transcript = Transcript::new();
        transcript.push(Entry::User(text.into()));
        transcript
    }

    /// Adds what was said.
    pub fn push(&mut self, entry: Entry) {
        Arc::make_mut(&mut self.0).push(entry);
    }

    /// Puts an answer in the place of the last one to a call of the same id, as when a call that waited was resumed.
    /// Gives whether there was one.
    pub fn answer_again(&mut self, response: ToolResponse) -> bool {
        let same = |entry: &&mut Entry| matches!(entry, Entry::Answer(old) if old.id == response.id);
        match Arc::make_mut(&mut self.0).iter_mut().rev().find(same) {
            Some(entry) => {
                *entry = Entry::Answer(Box::new(response));
                true
            }
            None => false,
        }
    }

    /// The answers to the calls of the last turn of the model that made any.
    pub fn last_answers(&self) -> impl Iterator<Item = &ToolResponse> {
        let calls = |entry: &Entry| matches!(entry, Entry::Model(turn) if !turn.calls.is_empty());
        let since = self.0.iter().rposition(calls).map_or(self.0.len(), |at| at + 1);
        self.0[since..].iter().filter_map(|entry| match entry {
            Entry::Answer(response) => Some(&**response),
            _ => None,
        })
    }
}

/// A list of entries.
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

/// `{"user": text}`, `{"model": turn}` or `{"answer": response}`.
impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self {
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
        if members.has("user") {
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

/// What a model said in one go.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelTurn {
    /// The text. Empty: none.
    pub text: String,
    /// The calls it made, in order.
    pub calls: Vec<ToolCall>,
    /// What it cost, in tokens, both ways. Zero if it is not known.
    pub tokens: u64,
}

impl ModelTurn {
    /// A text and no calls.
    pub fn text(text: impl Into<String>) -> ModelTurn {
        ModelTurn { text: text.into(), ..ModelTurn::default() }
    }

    /// Calls and no text.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> ModelTurn {
        ModelTurn { calls: calls.into_iter().collect(), ..ModelTurn::default() }
    }

    /// Sets the text.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> ModelTurn {
        self.text = text.into();
        self
    }

    /// Sets what it cost.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> ModelTurn {
        self.tokens = tokens;
        self
    }

    /// The model was cut off, so its last call may not be whole: it is answered and not run.
    #[must_use]
    pub fn cut_off(mut self) -> ModelTurn {
        if let Some(last) = self.calls.last_mut() {
            last.blocked = Some(Blocked::Truncated);
        }
        self
    }
}

/// Messages for a model that is at work. Clones are the same queue: one end is given to the loop in
/// [`LoopOptions::messages`](super::LoopOptions::messages), the other is kept by whoever may want to say something.
#[derive(Clone, Debug, Default)]
pub struct Messages(Arc<Mutex<VecDeque<String>>>);

impl Messages {
    /// No messages yet.
    #[must_use]
    pub fn new() -> Messages {
        Messages::default()
    }

    /// Says something. Calls of the turn that did not begin yet are skipped for it, and the model reads it next.
    pub fn push(&self, text: impl Into<String>) {
        self.lock().push_back(text.into());
    }

    /// Nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Everything that waits, which then waits no more.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        self.lock().drain(..).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        unpoisoned(self.0.lock())
    }
}
