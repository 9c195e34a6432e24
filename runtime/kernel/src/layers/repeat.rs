//! Stops identical calls that fail repeatedly, and tells the model to try something else.
//!
//! A model that is stuck sends the same call with the same arguments and reads the same error, turn after turn. After
//! three consecutive failures (or another limit) the call is refused without running the tool. A different error
//! restarts the count, because something has changed; a success resets it. Calls of the same tool with other arguments
//! are counted separately.
//!
//! A [`Toolbox`](crate::Toolbox) counts the failures of each principal and agent in each session separately, and does
//! not count those of calls that have none of these. Several processes share the counts in a
//! [store](crate::ToolboxBuilder::failure_store).
//!
//! Arguments are the same if they are the same JSON: the order of keys does not matter, `1` and `1.0` are the same
//! number, and missing arguments equal an empty object.

mod fingerprint;
mod layer;
mod shared;

#[cfg(test)]
#[cfg(toolgen_model)]
mod model;
#[cfg(test)]
#[cfg(not(toolgen_model))]
mod tests;

use std::hash::Hash;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::base::sync::{Mutex, unpoisoned};
use crate::call::error::ToolError;

use fingerprint::Fingerprints;
pub(crate) use layer::RepeatLayer;

/// The code of a repeated call that is refused.
pub const REPEATED_FAILURE: &str = "REPEATED_FAILURE";

/// Maximum length of an error's first line that is shown to the model again, in characters.
const MAX_ERROR_SHOWN: usize = 200;

/// Stops identical calls that keep failing. An agent has one guard, which the calls of its toolbox share.
///
/// ```
/// use serde_json::json;
/// use toolgen_runtime::RepeatGuard;
///
/// let guard = RepeatGuard::new();
/// for _ in 0..3 {
///     assert!(guard.check("shell", &json!({ "cmd": "make" })).is_ok());
///     guard.record("shell", &json!({ "cmd": "make" }), Some("no makefile"));
/// }
/// assert!(guard.check("shell", &json!({ "cmd": "make" })).is_err());
/// assert!(guard.check("shell", &json!({ "cmd": "ls" })).is_ok());
/// ```
///
/// The guard remembers the calls whose last run failed, up to its capacity; beyond that, the call that failed longest
/// ago is dropped first. The memory per call is small, regardless of the size of arguments and errors. While no call
/// fails, a call costs one short lock.
#[derive(Debug)]
pub struct RepeatGuard {
    limit: NonZeroU32,
    capacity: NonZeroUsize,
    memory: Option<Duration>,
    fingerprints: Fingerprints,
    /// Failing calls, the most recent failure last.
    rows: Mutex<Vec<Row>>,
}

/// The key of a call: a fingerprint of its tool and its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallKey(u64);

/// The consecutive failures of one call.
#[derive(Debug)]
struct Row {
    call: u64,
    error: u64,
    count: u32,
    /// The part of the error that is shown to the model.
    error_summary: Box<str>,
    last_failure: Instant,
}

impl RepeatGuard {
    /// Creates a guard that stops a call after three failures and remembers 256 calls, for ten minutes each.
    #[must_use]
    pub fn new() -> RepeatGuard {
        RepeatGuard {
            limit: NonZeroU32::MIN.saturating_add(2),
            capacity: NonZeroUsize::MIN.saturating_add(255),
            memory: Some(Duration::from_secs(600)),
            fingerprints: Fingerprints::new(),
            rows: Mutex::new(Vec::new()),
        }
    }

    /// Sets the number of failures after which a call is stopped.
    #[must_use]
    pub fn with_limit(mut self, limit: NonZeroU32) -> RepeatGuard {
        self.limit = limit;
        self
    }

    /// Sets the maximum number of failing calls that are remembered.
    #[must_use]
    pub fn with_capacity(mut self, capacity: NonZeroUsize) -> RepeatGuard {
        self.capacity = capacity;
        self
    }

    /// Sets how long a call is remembered after its last failure. After that time, the cause may be gone. `None` means
    /// forever.
    #[must_use]
    pub fn with_memory(mut self, memory: Option<Duration>) -> RepeatGuard {
        self.memory = memory;
        self
    }

    /// Checks whether a call should run.
    ///
    /// # Errors
    ///
    /// Returns an error with the code [`REPEATED_FAILURE`] if the consecutive failures of the same call with the same
    /// error have reached the limit. A call that is refused is not recorded.
    pub fn check(&self, tool: &str, params: &Value) -> Result<(), ToolError> {
        // If no call failed, the arguments do not have to be read.
        if unpoisoned(self.rows.lock()).is_empty() {
            return Ok(());
        }
        self.check_key(tool, self.key(tool, params))
    }

    /// Returns whether no call failed recently, so that no call is refused, regardless of its arguments.
    pub(crate) fn has_no_failures(&self) -> bool {
        unpoisoned(self.rows.lock()).is_empty()
    }

    /// Returns the key of a call, for callers that move its arguments before they know its outcome.
    pub(crate) fn key(&self, tool: &str, params: &Value) -> CallKey {
        self.key_of((), tool, params)
    }

    /// Returns the key of a call of an owner. Calls of different owners are counted separately.
    fn key_of(&self, owner: impl Hash, tool: &str, params: &Value) -> CallKey {
        CallKey(self.fingerprints.of_call(owner, tool, params))
    }

    /// Like [`check`](Self::check).
    pub(crate) fn check_key(&self, tool: &str, CallKey(call): CallKey) -> Result<(), ToolError> {
        let mut rows = unpoisoned(self.rows.lock());
        self.drop_expired(&mut rows);
        let Some(row) = rows.iter().find(|row| row.call == call && row.count >= self.limit.get()) else {
            return Ok(());
        };
        Err(refusal(tool, row.count, &row.error_summary))
    }

    /// Records the outcome of a run of a tool: its error message, or `None` if it succeeded. Returns whether the next
    /// identical call will be refused because of this outcome.
    ///
    /// Record only outcomes of the tool itself. A refusal by a circuit breaker, a policy or the caller would count
    /// against the tool for longer than its cause lasts.
    pub fn record(&self, tool: &str, params: &Value, error: Option<&str>) -> bool {
        if error.is_none() && unpoisoned(self.rows.lock()).is_empty() {
            return false;
        }
        self.record_key(self.key(tool, params), error)
    }

    /// Like [`record`](Self::record).
    pub(crate) fn record_key(&self, CallKey(call): CallKey, error: Option<&str>) -> bool {
        let mut rows = unpoisoned(self.rows.lock());
        if error.is_none() && rows.is_empty() {
            return false;
        }
        self.drop_expired(&mut rows);
        let previous = rows.iter().position(|row| row.call == call).map(|index| rows.remove(index));
        let Some(error) = error else { return false };
        let fingerprint = self.fingerprints.of_text(error);
        let previous_count = previous.filter(|row| row.error == fingerprint).map_or(0, |row| row.count);
        let count = previous_count.saturating_add(1);
        if rows.len() >= self.capacity.get() {
            rows.remove(0);
        }
        rows.push(Row {
            call,
            error: fingerprint,
            count,
            error_summary: error_summary(error),
            last_failure: Instant::now(),
        });
        count == self.limit.get()
    }

    /// Forgets everything, for example at the start of another task.
    pub fn clear(&self) {
        unpoisoned(self.rows.lock()).clear();
    }

    /// Returns the number of remembered failing calls.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut rows = unpoisoned(self.rows.lock());
        self.drop_expired(&mut rows);
        rows.len()
    }

    /// Returns whether no failing call is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops rows that are too old. The rows are ordered by their last failure.
    fn drop_expired(&self, rows: &mut Vec<Row>) {
        let Some(memory) = self.memory else { return };
        let expired = rows.iter().take_while(|row| row.last_failure.elapsed() >= memory).count();
        rows.drain(..expired);
    }
}

impl Default for RepeatGuard {
    fn default() -> RepeatGuard {
        RepeatGuard::new()
    }
}

fn refusal(tool: &str, count: u32, error: &str) -> ToolError {
    let message = format!(
        "⚠️ Tool circuit breaker: '{tool}' has failed {count} consecutive times with the same error.\n\
         Execution skipped. Try a different approach or tool.\n\
         Last error: {error}"
    );
    ToolError::failed_with(REPEATED_FAILURE, message)
}

/// Returns the first line of an error, cut to the length that is shown.
fn error_summary(error: &str) -> Box<str> {
    let line = error.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(MAX_ERROR_SHOWN).map_or(line.len(), |(at, _)| at);
    line[..end].into()
}
