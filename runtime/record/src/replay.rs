//! Replays of recorded runs: tests in which calls are answered from a file instead of by tools.
//!
//! Take a [`RecordedRun`] from an audit log and commit it. A [`Replay`] of it, added to a toolbox, replaces the tools;
//! everything else runs as in the program, including every layer. The first call that differs from the recorded
//! one, by its name, its arguments or its position, is refused, and so are all later calls; [`Replay::finish`] reports
//! the difference.
//!
//! ```
//! use serde_json::json;
//! use toolgen_runtime::layers::audit::{Auditor, MemorySink};
//! use toolgen_runtime::testing::replay::{RecordedRun, Replay, RunSelection};
//! use toolgen_runtime::{Toolbox, Registry, ToolCall, Turn, tool, toolset};
//!
//! /// Tells the weather.
//! #[tool(undocumented)]
//! fn weather(city: &str) -> String {
//!     format!("It rains in {city}.")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::new(toolset![weather])?;
//! let turn = Turn::new("turn");
//! let call = |city| ToolCall::new("1", "weather", json!({"city": city}));
//!
//! // A run is recorded, here in memory.
//! let sink = MemorySink::new();
//! let auditor = Auditor::builder(sink.clone()).start()?;
//! let toolbox = Toolbox::builder(&registry).layer(auditor.clone()).build()?;
//! toolbox.run(call("Ulm"), &turn).await;
//! auditor.shutdown().await;
//!
//! // The test.
//! let replay = Replay::of(RecordedRun::from_memory(&sink, &RunSelection::new())?);
//! let toolbox = Toolbox::builder(&registry).layer(replay.clone()).build()?;
//! assert_eq!(toolbox.run(call("Ulm"), &turn).await.text(), "It rains in Ulm.");
//! replay.finish()?;
//!
//! let replay = replay.restarted();
//! let toolbox = Toolbox::builder(&registry).layer(replay.clone()).build()?;
//! toolbox.run(call("Rom"), &turn).await;
//! let error = replay.finish().unwrap_err().to_string();
//! assert!(error.contains("/city: expected \"Ulm\", found \"Rom\""), "{error}");
//! # Ok(())
//! # }
//! ```

mod difference;
mod live_call;
mod log;
mod outcome;
mod recorded_decisions;
mod rerun;
mod run;
mod test;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

pub use difference::{CallLocation, Difference, DifferenceKind};
use live_call::CallDisposition;
pub(crate) use live_call::LiveCall;
pub use log::RunSelection;
pub use outcome::RecordedOutcome;
pub(crate) use recorded_decisions::DENIED;
pub use run::{RecordedCall, RecordedRun};
pub use test::run_test;

pub use crate::pattern::ValueDifference;

use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;

/// The code of the error for a call that differs from the recorded run, and for each call after it.
pub const REPLAY_DIFFERENCE: &str = "REPLAY_DIFFERENCE";

/// Answers calls from a [`RecordedRun`]. Clones share the replay.
///
/// A replay is a [layer](toolgen_kernel::layers) that also applies to the sub-agents of the toolbox. If the recorded
/// call of a tool made nested calls, as compositions and sub-agents do, the tool itself runs and its nested calls are
/// answered; [`replaying_nested`](Self::replaying_nested) changes this.
#[derive(Clone)]
pub struct Replay {
    run: Arc<RecordedRun>,
    replayed_tools: Arc<BTreeSet<String>>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The calls of the recording that were made.
    made_calls: BTreeSet<usize>,
    /// The index in the recording, by the key of a live call.
    recorded_index: BTreeMap<u64, usize>,
    /// The calls of the recording whose approval was requested.
    decided_calls: BTreeSet<usize>,
    difference: Option<Difference>,
}

/// The reason why a run cannot be replayed: the message states the problem, its location, and what to do.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplayError(String);

impl ReplayError {
    fn new(text: impl Into<String>) -> ReplayError {
        ReplayError(text.into())
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

toolgen_core::__readable_debug!(ReplayError);

impl std::error::Error for ReplayError {}

impl Replay {
    /// Creates a replay of a run.
    #[must_use]
    pub fn of(run: RecordedRun) -> Replay {
        Replay { run: Arc::new(run), replayed_tools: Arc::default(), state: Arc::default() }
    }

    /// Creates a replay of the run in a file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RecordedRun::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Replay, ReplayError> {
        RecordedRun::open(path).map(Replay::of)
    }

    /// Answers the calls of these tools from the recording even if they made nested calls. The nested calls are then
    /// not expected.
    #[must_use]
    pub fn replaying_nested<S: Into<String>>(self, tools: impl IntoIterator<Item = S>) -> Replay {
        let mut replayed_tools = BTreeSet::clone(&self.replayed_tools);
        replayed_tools.extend(tools.into_iter().map(Into::into));
        Replay { replayed_tools: Arc::new(replayed_tools), ..self }
    }

    /// Returns a replay of the same run from its beginning.
    #[must_use]
    pub fn restarted(&self) -> Replay {
        Replay { state: Arc::default(), ..self.clone() }
    }

    /// Returns the run.
    #[must_use]
    pub fn run(&self) -> &RecordedRun {
        &self.run
    }

    /// Ends the replay. A call that was not made is also a difference.
    ///
    /// # Errors
    ///
    /// Returns the first difference.
    pub fn finish(&self) -> Result<(), Box<Difference>> {
        let mut state = unpoisoned(self.state.lock());
        let remaining =
            (0..self.run.calls.len()).filter(|index| !state.made_calls.contains(index)).collect::<Vec<_>>();
        self.record_missing(&mut state, &remaining);
        state.difference.clone().map_or(Ok(()), |difference| Err(Box::new(difference)))
    }

    /// Records that calls were not made.
    fn record_missing(&self, state: &mut State, remaining: &[usize]) {
        if remaining.is_empty() || state.difference.is_some() {
            return;
        }
        let not_made = remaining.iter().filter_map(|index| Some(self.call_at(*index)?.to_string())).collect();
        state.difference = Some(self.difference(state, DifferenceKind::NotMade(not_made), None, None));
    }

    /// Finds the call among the recorded calls that are due, and marks it as made.
    fn claim(&self, live: &LiveCall, disposition: &CallDisposition) -> Result<usize, ToolError> {
        let mut state = unpoisoned(self.state.lock());
        if state.difference.is_none() {
            match self.find(&state, live, disposition) {
                Ok(index) => {
                    state.made_calls.insert(index);
                    state.recorded_index.insert(live.key, index);
                    if self.is_answered(index, live) {
                        state.made_calls.extend(self.nested_calls(index));
                    }
                    return Ok(index);
                }
                Err(difference) => state.difference = Some(*difference),
            }
        }
        let message = state.difference.as_ref().map(ToString::to_string).unwrap_or_default();
        Err(ToolError::failed_with(REPLAY_DIFFERENCE, message))
    }

    fn find(
        &self,
        state: &State,
        live: &LiveCall,
        disposition: &CallDisposition,
    ) -> Result<usize, Box<Difference>> {
        let inside = state.recorded_index.get(&live.outer_key()).map(|index| index + 1);
        let calls = || self.run.calls.iter().enumerate();
        let pending =
            || calls().filter(|(index, call)| call.inside == inside && !state.made_calls.contains(index));
        let due_group = pending().map(|(_, call)| call.group).min();
        let matches = |(_, call): &(usize, &RecordedCall)| {
            call.tool == live.tool.as_str() && live.differences(&call.arguments).is_empty()
        };
        let due: Vec<(usize, &RecordedCall)> =
            pending().filter(|(_, call)| Some(call.group) == due_group).collect();
        let matching: Vec<&(usize, &RecordedCall)> = due.iter().filter(|call| matches(call)).collect();
        let claimable = matching.iter().find(|(_, call)| disposition.differs(&call.outcome).is_none());
        if let Some((index, _)) = claimable {
            return Ok(*index);
        }
        let mut arguments = Vec::new();
        let (kind, expected) = if let Some((index, call)) = matching.first() {
            // The call matches except for its disposition, which is therefore the difference.
            (disposition.differs(&call.outcome).unwrap_or(DifferenceKind::Arguments), Some(*index))
        } else if let Some((first_due, _)) = due.first() {
            let of_same_tool = due.iter().filter(|(_, call)| call.tool == live.tool.as_str());
            let nearest = of_same_tool.map(|(index, call)| (live.differences(&call.arguments), *index));
            let nearest = nearest.min_by_key(|(differences, _)| differences.len());
            let later_call =
                pending().find(|(index, call)| Some(call.group) != due_group && matches(&(*index, *call)));
            match (later_call, nearest) {
                (Some(_), _) => (DifferenceKind::TooEarly, Some(*first_due)),
                (None, Some((differences, index))) => {
                    arguments = differences;
                    (DifferenceKind::Arguments, Some(index))
                }
                (None, None) => (DifferenceKind::Tool, Some(*first_due)),
            }
        } else {
            (DifferenceKind::NotExpected, None)
        };
        let number = match kind {
            DifferenceKind::TooEarly => pending().find(matches).map_or(0, |(index, _)| index + 1),
            _ => 0,
        };
        let found = CallLocation {
            number,
            tool: live.tool.to_string(),
            arguments: live.redacted_arguments(),
            inside: self.describe_call(inside),
        };
        let expected = expected.and_then(|index| self.call_at(index));
        Err(Box::new(Difference { arguments, ..self.difference(state, kind, expected, Some(found)) }))
    }

    fn difference(
        &self,
        state: &State,
        kind: DifferenceKind,
        expected: Option<CallLocation>,
        found: Option<CallLocation>,
    ) -> Difference {
        let (calls, made) = (self.run.calls.len(), state.made_calls.len());
        Difference { kind, expected, found, arguments: Vec::new(), calls, made }
    }

    /// Returns a call of the recording, as shown in a difference.
    fn call_at(&self, index: usize) -> Option<CallLocation> {
        let call = self.run.calls.get(index)?;
        let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
        Some(CallLocation { number: index + 1, tool, arguments, inside: self.describe_call(call.inside) })
    }

    fn describe_call(&self, number: Option<usize>) -> String {
        let call = number.and_then(|number| Some((number, self.run.calls.get(number - 1)?)));
        call.map_or_else(String::new, |(number, call)| format!("{number} {}", call.tool))
    }

    /// Returns all direct and indirect nested calls of a call.
    fn nested_calls(&self, index: usize) -> BTreeSet<usize> {
        let mut nested = BTreeSet::from([index]);
        for (nested_index, call) in self.run.calls.iter().enumerate().skip(index) {
            if call.inside.is_some_and(|inside| nested.contains(&(inside - 1))) {
                nested.insert(nested_index);
            }
        }
        nested.remove(&index);
        nested
    }

    /// Whether a call is answered from the recording, instead of by its tool and its nested calls.
    fn is_answered(&self, index: usize, live: &LiveCall) -> bool {
        self.replayed_tools.contains(live.tool.as_str())
            || !(live.composes() || self.run.has_nested_calls(index))
    }

    fn recorded_answer(&self, index: usize, live: &LiveCall) -> Option<Result<ToolResult, ToolError>> {
        match &self.run.calls.get(index)?.outcome {
            RecordedOutcome::Answered(outcome) if self.is_answered(index, live) => Some(outcome.clone()),
            _ => None,
        }
    }

    /// Compares the outcome of a call whose tool ran.
    fn compare_outcome(&self, index: usize, live: &LiveCall, outcome: &Result<ToolResult, ToolError>) {
        let Some(call) = self.run.calls.get(index) else { return };
        if self.is_answered(index, live) {
            return;
        }
        let mut state = unpoisoned(self.state.lock());
        let remaining = self
            .nested_calls(index)
            .into_iter()
            .filter(|index| !state.made_calls.contains(index))
            .collect::<Vec<_>>();
        self.record_missing(&mut state, &remaining);
        let is_failure =
            |outcome: &Result<ToolResult, ToolError>| outcome.as_ref().map_or(true, ToolResult::is_error);
        let RecordedOutcome::Answered(recorded) = &call.outcome else { return };
        if state.difference.is_none() && is_failure(recorded) != is_failure(outcome) {
            let summary = RecordedOutcome::Answered(outcome.clone()).summary();
            let kind = DifferenceKind::Outcome { expected: call.outcome.summary(), found: summary };
            state.difference = Some(self.difference(&state, kind, self.call_at(index), None));
        }
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = unpoisoned(self.state.lock());
        f.debug_struct("Replay")
            .field("calls", &self.run.calls.len())
            .field("made", &state.made_calls.len())
            .field("difference", &state.difference.is_some())
            .finish_non_exhaustive()
    }
}
