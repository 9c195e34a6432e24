//! What a store of waiting calls has to do: keep rows, and replace one only if nobody else has.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::ApprovalStore;
use crate::base::discreet::discreet_debug;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;

/// How far the approval of a call is. See [`Approvals`](super::Approvals) for how one state leads to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ApprovalState {
    /// Nobody has decided yet.
    Waiting,
    /// It may run, and no worker has it.
    Granted,
    /// It may not run, and its caller has not been told.
    Denied,
    /// A worker has it and has not started it: it checks the call, or waits for its turn.
    Claimed,
    /// It runs. If it stays so, the program ended before the outcome was known: the call may have had its effect.
    Started,
    /// It has an outcome.
    Finished,
    /// Its time was over before it started. Rows do not have this state: it follows from the time.
    Expired,
}

impl ApprovalState {
    /// All states.
    pub const ALL: [ApprovalState; 7] = [
        ApprovalState::Waiting,
        ApprovalState::Granted,
        ApprovalState::Denied,
        ApprovalState::Claimed,
        ApprovalState::Started,
        ApprovalState::Finished,
        ApprovalState::Expired,
    ];

    /// Returns the name of the state: `waiting`, `granted`, `denied`, `claimed`, `started`, `finished` or `expired`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ApprovalState::Waiting => "waiting",
            ApprovalState::Granted => "granted",
            ApprovalState::Denied => "denied",
            ApprovalState::Claimed => "claimed",
            ApprovalState::Started => "started",
            ApprovalState::Finished => "finished",
            ApprovalState::Expired => "expired",
        }
    }

    /// Returns the state of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<ApprovalState> {
        ApprovalState::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for ApprovalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A waiting call as an [`ApprovalQueue`] keeps it. The queue reads the columns; what the two texts say is read and
/// written by [`Approvals`](super::Approvals).
#[derive(Clone, PartialEq)]
pub struct QueueRow {
    /// What tells the row from all others: 32 hexadecimal digits.
    pub id: Text,
    /// Counted up with each change.
    pub version: u64,
    /// How far it is; never [`Expired`](ApprovalState::Expired).
    pub state: ApprovalState,
    /// When the call began to wait.
    pub asked_at: SystemTime,
    /// When the call can no longer be resumed.
    pub expires_at: SystemTime,
    /// What people may see, as JSON: the call without its secrets, who decided, who runs it, and what came of it.
    pub entry: String,
    /// The sealed call, as JSON, with the secrets among its arguments: keep it as safe as they are. `None` from when it
    /// can no longer run.
    pub request: Option<String>,
}

discreet_debug!(QueueRow: id, version, state, asked_at, expires_at; entry, request);

/// Keeps the calls that wait for an approval, so that any process can show them, decide about them and run them.
///
/// Set with [`ProviderBuilder::approval_queue`](crate::provider::ProviderBuilder::approval_queue), as part of
/// [`Approvals`](super::Approvals), which does everything else: a queue is a table of [rows](QueueRow) and needs no more
/// than these four functions, and [`take`](ApprovalStore::take), which makes sure that nothing runs twice even if
/// somebody resumes a call without the queue. There are [`MemoryApprovals`](super::MemoryApprovals) and, with the feature
/// `sqlite`, `SqliteApprovals`.
///
/// A queue may forget a row when it has [expired](QueueRow::expires_at), and should forget its
/// [`request`](QueueRow::request) then.
pub trait ApprovalQueue: ApprovalStore {
    /// Adds a row.
    ///
    /// # Errors
    ///
    /// If the row cannot be stored, or there is one of its `id`. Then the call is answered with an error, and does not
    /// wait.
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>>;

    /// Returns the row of an `id`.
    ///
    /// # Errors
    ///
    /// If the queue cannot determine this.
    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>>;

    /// Returns the rows in these states, those that have waited longest first.
    ///
    /// # Errors
    ///
    /// If the queue cannot determine this.
    fn list<'a>(&'a self, states: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>>;

    /// Replaces the row of the same `id` if it has this version, and returns whether it had: of all replacements of one
    /// version, by whatever process, one succeeds. `UPDATE … WHERE id = $1 AND version = $2` is that in SQL.
    ///
    /// # Errors
    ///
    /// If the queue cannot determine this.
    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>>;
}

impl<T: ApprovalQueue + ?Sized> ApprovalQueue for Arc<T> {
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        (**self).insert(row)
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>> {
        (**self).read(id)
    }

    fn list<'a>(&'a self, states: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>> {
        (**self).list(states)
    }

    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        (**self).replace(row, version)
    }
}
