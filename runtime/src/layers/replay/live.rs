//! A call of a run that is replayed.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::difference::DifferenceKind;
use super::{RecordedOutcome, Replay};
use crate::base::frozen::Text;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::layers::middleware::Approval;
use crate::layers::pattern::{ValueDifference, differences};
use crate::layers::redact::{Secrets, ToolRedactor};

/// A call that passes through a provider, until it is found in the recording.
pub(crate) struct Live {
    replay: Replay,
    /// The number of the call among those of the program, from 1, and that of the call that made it.
    key: u64,
    above: u64,
    pub(super) tool: Text,
    pub(super) arguments: Value,
    /// The arguments with their defaults, as middleware sees them, while the call has not passed it.
    completed: Option<Value>,
    redactor: ToolRedactor,
    /// Whether the tool is made of calls of other tools.
    composes: bool,
    state: State,
}

enum State {
    /// It has not reached its tool.
    Waiting,
    /// It is this call of the recording.
    Known(usize),
    /// There is nothing left to compare.
    Over,
}

/// What becomes of a call.
pub(super) enum Fate {
    /// Its tool is about to run.
    Runs,
    /// It is answered before that.
    Refused { code: String, message: String },
}

impl Live {
    pub(crate) fn new(
        replay: &Replay,
        above: u64,
        (tool, arguments): (Text, &Value),
        redactor: ToolRedactor,
        composes: bool,
    ) -> Live {
        static MADE: AtomicU64 = AtomicU64::new(1);
        let key = MADE.fetch_add(1, Ordering::Relaxed);
        let arguments = read(arguments);
        Live {
            replay: replay.clone(),
            key,
            above,
            tool,
            arguments,
            completed: None,
            redactor,
            composes,
            state: State::Waiting,
        }
    }

    /// Returns the number by which the calls that this one makes name it.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// Sets the arguments that the tool gets, if a layer has changed them.
    pub(crate) fn set_arguments(&mut self, arguments: &Value) {
        if let State::Waiting = self.state {
            self.arguments = read(arguments);
            self.completed = None;
        }
    }

    /// Sets the arguments that the tool would get once the call is approved. A call that passed middleware was
    /// recorded with them; one that did not, with those that were sent.
    pub(crate) fn set_completed(&mut self, arguments: Value) {
        if let State::Waiting = self.state {
            self.completed = Some(arguments);
        }
    }

    /// Decides about the call, which needs an approval, as in the recording.
    pub(crate) fn decide(&self) -> Approval {
        self.replay.decide(self)
    }

    /// Finds the call in the recording: its tool is about to run.
    ///
    /// # Errors
    ///
    /// `REPLAY_DIFFERENCE`, if it is not the one that is due, or the run differed before.
    pub(crate) fn intent(&mut self) -> Result<(), ToolError> {
        if let State::Waiting = self.state {
            self.state = State::Over;
            self.state = State::Known(self.replay.claim(self, &Fate::Runs)?);
        }
        Ok(())
    }

    /// Returns the recorded answer; `None` if the tool runs, because it is made of calls that are replayed.
    pub(crate) fn answer(&self) -> Option<Result<ToolResult, ToolError>> {
        match self.state {
            State::Known(index) => self.replay.answer(index, self),
            _ => None,
        }
    }

    /// Whether there is a recorded answer.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(self.state, State::Known(index) if self.replay.answers(index, self))
    }

    /// Compares the outcome of the call.
    pub(crate) fn finish(&mut self, outcome: &Result<ToolResult, ToolError>) {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Waiting => {
                let (code, message) = match outcome {
                    Ok(result) => (String::new(), result.to_text()),
                    Err(why) => (why.code().to_owned(), self.redactor.error(why, &Secrets::default())),
                };
                // The call has its answer; the difference is kept for the end of the test.
                let _ = self.replay.claim(self, &Fate::Refused { code, message });
            }
            State::Known(index) => self.replay.ended(index, self, outcome),
            State::Over => {}
        }
    }

    /// Whether the tool is made of calls of other tools, and so runs.
    pub(super) fn composes(&self) -> bool {
        self.composes
    }

    pub(super) fn key_above(&self) -> u64 {
        self.above
    }

    /// Returns the arguments without their secrets.
    pub(super) fn shown(&self) -> Value {
        self.redactor.arguments(self.arguments.clone()).0
    }

    /// Returns where the arguments differ from recorded ones, without secrets.
    pub(super) fn differences(&self, expected: &Value) -> Vec<ValueDifference> {
        let of = |arguments: &Value| {
            let shown = self.redactor.arguments(arguments.clone()).0;
            if differences(expected, arguments, &shown).is_empty() {
                return Vec::new();
            }
            differences(expected, &shown, &shown)
        };
        let sent = of(&self.arguments);
        match &self.completed {
            Some(completed) if !sent.is_empty() => {
                let completed = of(completed);
                if completed.len() < sent.len() { completed } else { sent }
            }
            _ => sent,
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let State::Waiting = self.state {
            self.finish(&Err(ToolError::Cancelled));
        }
    }
}

/// Reads arguments as a record has them: a text that is JSON, as its value; none, as an object without members.
fn read(arguments: &Value) -> Value {
    match arguments {
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone()),
        other => other.clone(),
    }
}

impl Fate {
    /// Returns what differs from the recording.
    pub(super) fn differs(&self, recorded: &RecordedOutcome) -> Option<DifferenceKind> {
        let found = match (self, recorded) {
            (Fate::Runs, RecordedOutcome::Answered(_)) => return None,
            (Fate::Runs, RecordedOutcome::Refused { .. }) => "it ran".to_owned(),
            (Fate::Refused { code, .. }, RecordedOutcome::Refused { code: recorded, .. })
                if code == recorded =>
            {
                return None;
            }
            // Where it was when it was given up is chance.
            (Fate::Refused { code, .. }, RecordedOutcome::Answered(Err(why))) if why.code() == code => {
                return None;
            }
            (Fate::Refused { code, message }, _) => format!("refused with {code} ({message})"),
        };
        let expected = match recorded {
            RecordedOutcome::Answered(_) => format!("it ran: {}", recorded.told()),
            refused => refused.told(),
        };
        Some(DifferenceKind::Outcome { expected, found })
    }
}
