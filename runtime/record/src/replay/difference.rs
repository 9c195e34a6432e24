//! The first difference between a run and its recording.

use std::fmt;

use serde_json::Value;

use crate::pattern::{ValueDifference, brief};

/// Maximum number of locations and calls that are reported.
const MAX_DIFFERENCES_SHOWN: usize = 12;

/// The first difference between a run and a [`RecordedRun`](super::RecordedRun). Its message shows the expected and
/// the found values, and the location.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// What differs.
    pub kind: DifferenceKind,
    /// The recorded call that was expected, if there was one.
    pub expected: Option<CallLocation>,
    /// The call that was made, if there was one, with its arguments redacted.
    pub found: Option<CallLocation>,
    /// The locations where the arguments differ.
    pub arguments: Vec<ValueDifference>,
    /// The number of calls in the recording.
    pub calls: usize,
    /// The number of recorded calls that were made before the difference.
    pub made: usize,
}

/// What differs between a run and its recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// The expected tool was called with other arguments.
    Arguments,
    /// Another tool was called.
    Tool,
    /// The call is in the recording, but is not due yet.
    TooEarly,
    /// No more calls were expected.
    NotExpected,
    /// Calls were not made; the list names all of them.
    NotMade(Vec<String>),
    /// The call was made, but had another outcome: it ran although the recorded call was refused, or vice versa.
    Outcome {
        /// The recorded outcome.
        expected: String,
        /// The found outcome.
        found: String,
    },
}

/// A call in a [`Difference`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallLocation {
    /// The number in the recording; 0 if the call is not in the recording.
    pub number: usize,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// The outer call, as `number tool`; empty if it is not a nested call.
    pub inside: String,
}

impl fmt::Display for CallLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.number > 0 {
            write!(f, "call {}: ", self.number)?;
        }
        write!(f, "{} {}", self.tool, brief(&self.arguments))?;
        if self.inside.is_empty() { Ok(()) } else { write!(f, ", made by call {}", self.inside) }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = match &self.kind {
            DifferenceKind::Arguments => "a call has other arguments",
            DifferenceKind::Tool => "another tool was called",
            DifferenceKind::TooEarly => "a call was made too early",
            DifferenceKind::NotExpected => "a call was made that is not recorded",
            DifferenceKind::NotMade(_) => "calls were not made",
            DifferenceKind::Outcome { .. } => "a call had another outcome",
        };
        let (made, calls) = (self.made, self.calls);
        write!(f, "the run differs from the recorded one after {made} of {calls} calls: {summary}")?;
        if let Some(expected) = &self.expected {
            write!(f, "\n- expected {expected}")?;
        }
        if let Some(found) = &self.found {
            write!(f, "\n+ found    {found}")?;
        }
        match &self.kind {
            DifferenceKind::NotMade(missing) => write_list(f, missing, "calls"),
            DifferenceKind::Outcome { expected, found } => {
                write!(f, "\n  - expected {expected}\n  + found    {found}")
            }
            _ => write_list(f, &self.arguments, "locations"),
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, entries: &[impl fmt::Display], noun: &str) -> fmt::Result {
    for entry in entries.iter().take(MAX_DIFFERENCES_SHOWN) {
        write!(f, "\n  {entry}")?;
    }
    match entries.len().saturating_sub(MAX_DIFFERENCES_SHOWN) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more {noun}"),
    }
}

toolgen_core::__readable_debug!(Difference);

impl std::error::Error for Difference {}
