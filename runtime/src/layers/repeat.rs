//! Identical calls that fail again and again: stopped, and the model told to try something else.
//!
//! A model that is stuck sends the same call with the same arguments and reads the same error, turn after turn. After
//! three of them in a row (or as many as set) the call is answered without running the tool. Another error begins a
//! new row, because then something changes; a success ends it. Calls of the same tool with other arguments have
//! nothing to do with it.
//!
//! Arguments are the same if they are the same JSON: the order of keys does not matter, `1` and `1.0` are one number,
//! and no arguments at all are as good as an empty object.

mod fingerprint;
mod scope;

#[cfg(test)]
#[cfg(toolgen_model)]
mod model;
#[cfg(test)]
#[cfg(not(toolgen_model))]
mod tests;

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::base::sync::{Mutex, unpoisoned};
use crate::call::error::ToolError;

use fingerprint::Fingerprints;
pub(crate) use scope::{Repeats, note, succeeded};

/// The code of a call that is not repeated.
pub const REPEATED_FAILURE: &str = "REPEATED_FAILURE";

/// So much of an error is told to the model again: the first line, and no more characters of it than this.
const SHOWN: usize = 200;

/// Stops identical calls that keep failing. One an agent, shared between the calls of its provider.
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
/// It remembers the calls whose last run failed, at most as many as its capacity: the one that failed longest ago
/// goes first. What it keeps of each is small, whatever the size of arguments and errors. While nothing fails
/// a call costs one short lock.
#[derive(Debug)]
pub struct RepeatGuard {
    limit: NonZeroU32,
    capacity: NonZeroUsize,
    memory: Option<Duration>,
    fingerprints: Fingerprints,
    /// Failing calls, the one that failed last at the end.
    rows: Mutex<Vec<Row>>,
}

/// Stands for a call: its tool and its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallKey(u64);

/// The failures in a row of one call.
#[derive(Debug)]
struct Row {
    call: u64,
    error: u64,
    count: u32,
    /// What the model is told of the error.
    shown: Box<str>,
    since: Instant,
}

impl RepeatGuard {
    /// Three failures stop a call; 256 calls are remembered, for ten minutes each.
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

    /// Stops a call after so many failures.
    #[must_use]
    pub fn with_limit(mut self, limit: NonZeroU32) -> RepeatGuard {
        self.limit = limit;
        self
    }

    /// Remembers so many failing calls.
    #[must_use]
    pub fn with_capacity(mut self, capacity: NonZeroUsize) -> RepeatGuard {
        self.capacity = capacity;
        self
    }

    /// Forgets a call so long after its last failure, because by then the world may have changed. `None`: never.
    #[must_use]
    pub fn with_memory(mut self, memory: Option<Duration>) -> RepeatGuard {
        self.memory = memory;
        self
    }

    /// Asks whether a call should run.
    ///
    /// # Errors
    ///
    /// With the code [`REPEATED_FAILURE`], when the last runs of the same call failed with the same error as often as
    /// the limit says. A call that is refused is not recorded.
    pub fn check(&self, tool: &str, params: &Value) -> Result<(), ToolError> {
        // While nothing fails there is no need to look at the arguments.
        if unpoisoned(self.rows.lock()).is_empty() {
            return Ok(());
        }
        self.check_key(tool, self.key(tool, params))
    }

    /// No call failed of late, so none is refused, whatever its arguments.
    pub(crate) fn remembers_nothing(&self) -> bool {
        unpoisoned(self.rows.lock()).is_empty()
    }

    /// What stands for a call, for those who part with its arguments before they know how it ends.
    pub(crate) fn key(&self, tool: &str, params: &Value) -> CallKey {
        CallKey(self.fingerprints.call(tool, params))
    }

    /// As [`check`](Self::check).
    pub(crate) fn check_key(&self, tool: &str, CallKey(call): CallKey) -> Result<(), ToolError> {
        let mut rows = unpoisoned(self.rows.lock());
        self.forget(&mut rows);
        let Some(row) = rows.iter().find(|row| row.call == call && row.count >= self.limit.get()) else {
            return Ok(());
        };
        let message = format!(
            "⚠️ Tool circuit breaker: '{tool}' has failed {} consecutive times with the same error.\n\
             Execution skipped. Try a different approach or tool.\n\
             Last error: {}",
            row.count, row.shown
        );
        Err(ToolError::failed_with(REPEATED_FAILURE, message))
    }

    /// Takes down how a run of a tool ended: the text of its error, or `None` if it succeeded. Says whether the next
    /// identical call will be refused because of this one.
    ///
    /// Only what the tool itself says belongs here. A refusal by a circuit breaker, a policy or the caller would be
    /// held against the tool for longer than it lasts.
    pub fn record(&self, tool: &str, params: &Value, error: Option<&str>) -> bool {
        if error.is_none() && unpoisoned(self.rows.lock()).is_empty() {
            return false;
        }
        self.record_key(self.key(tool, params), error)
    }

    /// As [`record`](Self::record).
    pub(crate) fn record_key(&self, CallKey(call): CallKey, error: Option<&str>) -> bool {
        let mut rows = unpoisoned(self.rows.lock());
        if error.is_none() && rows.is_empty() {
            return false;
        }
        self.forget(&mut rows);
        let known = rows.iter().position(|row| row.call == call).map(|at| rows.remove(at));
        let Some(error) = error else { return false };
        let fingerprint = self.fingerprints.text(error);
        let before = known.filter(|row| row.error == fingerprint).map_or(0, |row| row.count);
        let count = before.saturating_add(1);
        if rows.len() >= self.capacity.get() {
            rows.remove(0);
        }
        rows.push(Row { call, error: fingerprint, count, shown: shown(error), since: Instant::now() });
        count == self.limit.get()
    }

    /// Forgets everything, as at the beginning of another task.
    pub fn clear(&self) {
        unpoisoned(self.rows.lock()).clear();
    }

    /// How many failing calls are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut rows = unpoisoned(self.rows.lock());
        self.forget(&mut rows);
        rows.len()
    }

    /// No failing call is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops what is too old. The rows are in the order of their last failure.
    fn forget(&self, rows: &mut Vec<Row>) {
        let Some(memory) = self.memory else { return };
        let old = rows.iter().take_while(|row| row.since.elapsed() >= memory).count();
        rows.drain(..old);
    }
}

impl Default for RepeatGuard {
    fn default() -> RepeatGuard {
        RepeatGuard::new()
    }
}

/// The first line of an error, as far as it is shown.
fn shown(error: &str) -> Box<str> {
    let line = error.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(SHOWN).map_or(line.len(), |(at, _)| at);
    line[..end].into()
}
