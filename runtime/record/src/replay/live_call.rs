//! A call of a run that is replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::difference::DifferenceKind;
use super::{RecordedOutcome, Replay};
use crate::pattern::{ValueDifference, differences};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::layers::layer::{Layer, Outcome, Stage};
use toolgen_kernel::layers::middleware::Approval;
use toolgen_kernel::layers::observer::{Called, Observer};
use toolgen_kernel::layers::redact::{Secrets, ToolRedactor};

/// The number of a call, which its nested calls refer to.
struct Key(u64);

/// A running call, which is compared with the recording.
pub(crate) struct LiveCall {
    replay: Replay,
    /// The number of the call among those of the program, from 1.
    pub(super) key: u64,
    /// The number of the outer call; 0 if there is none.
    outer: u64,
    pub(super) tool: Text,
    pub(super) arguments: Value,
    /// The arguments with their defaults, as middleware sees them, until the call has passed middleware.
    completed: Option<Value>,
    redactor: ToolRedactor,
    /// Whether the tool consists of calls of other tools.
    composes: bool,
    state: State,
}

enum State {
    /// The call has not reached its tool.
    Waiting,
    /// The call is this call of the recording.
    Found(usize),
    /// Everything is compared.
    Complete,
}

/// Whether a call runs.
pub(super) enum CallDisposition {
    /// The tool is about to run.
    Runs,
    /// The call is refused before its tool runs.
    Refused { code: String, message: String },
}

impl LiveCall {
    fn new(
        replay: &Replay,
        outer: u64,
        (tool, arguments): (Text, &Value),
        redactor: ToolRedactor,
        composes: bool,
    ) -> LiveCall {
        static NEXT_KEY: AtomicU64 = AtomicU64::new(1);
        let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        let arguments = normalized(arguments);
        LiveCall {
            replay: replay.clone(),
            key,
            outer,
            tool,
            arguments,
            completed: None,
            redactor,
            composes,
            state: State::Waiting,
        }
    }

    /// Compares the outcome of the call.
    fn end(&mut self, outcome: &Outcome) {
        match std::mem::replace(&mut self.state, State::Complete) {
            State::Waiting => {
                let (code, message) = match outcome {
                    Ok(result) => (String::new(), result.to_text()),
                    Err(reason) => {
                        (reason.code().to_owned(), self.redactor.error(reason, &Secrets::default()))
                    }
                };
                // The call has its result; the difference is kept for the end of the test.
                let _ = self.replay.claim(self, &CallDisposition::Refused { code, message });
            }
            State::Found(index) => self.replay.compare_outcome(index, self, outcome),
            State::Complete => {}
        }
    }

    /// Whether the tool consists of calls of other tools, and therefore runs.
    pub(super) fn composes(&self) -> bool {
        self.composes
    }

    pub(super) fn outer_key(&self) -> u64 {
        self.outer
    }

    /// Returns the arguments without their secrets.
    pub(super) fn redacted_arguments(&self) -> Value {
        self.redactor.arguments(self.arguments.clone()).0
    }

    /// Returns the locations where the arguments differ from recorded ones, without secrets.
    pub(super) fn differences(&self, expected: &Value) -> Vec<ValueDifference> {
        let differences_of = |arguments: &Value| {
            let visible = self.redactor.arguments(arguments.clone()).0;
            if differences(expected, arguments, &visible).is_empty() {
                return Vec::new();
            }
            differences(expected, &visible, &visible)
        };
        let sent = differences_of(&self.arguments);
        match &self.completed {
            Some(completed) if !sent.is_empty() => {
                let completed = differences_of(completed);
                if completed.len() < sent.len() { completed } else { sent }
            }
            _ => sent,
        }
    }
}

impl Layer for Replay {
    fn stage(&self) -> Stage {
        Stage::Record
    }

    fn is_single(&self) -> bool {
        true
    }

    fn observe(&self, called: &Called<'_>, ctx: &mut ToolContext) -> Option<Box<dyn Observer>> {
        let composes =
            called.tool().is_some_and(|tool| tool.spec().sub_agent || !tool.called_tools().is_empty());
        let outer = ctx.extension().map_or(0, |Key(outer)| *outer);
        let call = (called.call().name.clone(), &called.call().arguments);
        let live = LiveCall::new(self, outer, call, called.redactor(), composes);
        ctx.set_extension(Key(live.key));
        Some(Box::new(live))
    }
}

impl Observer for LiveCall {
    fn arguments(&mut self, arguments: &Value) {
        if let State::Waiting = self.state {
            self.arguments = normalized(arguments);
            self.completed = None;
        }
    }

    /// A call that passed middleware was recorded with these arguments, and any other call with those that were sent.
    fn completed(&mut self, complete: &dyn Fn() -> Result<Value, ToolError>) {
        if let (State::Waiting, Ok(arguments)) = (&self.state, complete()) {
            self.completed = Some(arguments);
        }
    }

    /// Decides as in the recording.
    fn decide(&self) -> Option<Approval> {
        Some(self.replay.decide(self))
    }

    /// Finds the call in the recording. The call is refused with `REPLAY_DIFFERENCE` if it is not due, or if the run
    /// differed before.
    fn intent(&mut self) -> Result<Option<BoxFuture<'_, Result<(), ToolError>>>, ToolError> {
        if let State::Waiting = self.state {
            self.state = State::Complete;
            self.state = State::Found(self.replay.claim(self, &CallDisposition::Runs)?);
        }
        Ok(None)
    }

    /// Answers as in the recording, unless the tool runs because it consists of calls that are replayed.
    fn answer(&self) -> Option<Outcome> {
        match self.state {
            State::Found(index) => self.replay.recorded_answer(index, self),
            _ => None,
        }
    }

    fn finish(
        mut self: Box<Self>,
        outcome: &Outcome,
        _: Option<Arc<Secrets>>,
    ) -> Option<BoxFuture<'static, ()>> {
        self.end(outcome);
        None
    }
}

impl Drop for LiveCall {
    fn drop(&mut self) {
        if let State::Waiting = self.state {
            self.end(&Err(ToolError::Cancelled));
        }
    }
}

/// Reads arguments in the form of a record: a string that is JSON becomes its value; missing arguments become an empty
/// object.
fn normalized(arguments: &Value) -> Value {
    match arguments {
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone()),
        other => other.clone(),
    }
}

impl CallDisposition {
    /// Returns the difference from the recording.
    pub(super) fn differs(&self, recorded: &RecordedOutcome) -> Option<DifferenceKind> {
        let found = match (self, recorded) {
            (CallDisposition::Runs, RecordedOutcome::Answered(_)) => return None,
            (CallDisposition::Runs, RecordedOutcome::Refused { .. }) => "it ran".to_owned(),
            (CallDisposition::Refused { code, .. }, RecordedOutcome::Refused { code: recorded, .. })
                if code == recorded =>
            {
                return None;
            }
            // The point at which a call is abandoned is random.
            (CallDisposition::Refused { code, .. }, RecordedOutcome::Answered(Err(error)))
                if error.code() == code =>
            {
                return None;
            }
            (CallDisposition::Refused { code, message }, _) => format!("refused with {code} ({message})"),
        };
        let expected = match recorded {
            RecordedOutcome::Answered(_) => format!("it ran: {}", recorded.summary()),
            refused => refused.summary(),
        };
        Some(DifferenceKind::Outcome { expected, found })
    }
}
