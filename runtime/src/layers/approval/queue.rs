//! What a store of waiting calls has to do: keep rows, and replace one only if it is still the same.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::ApprovalStore;
use crate::base::discreet::discreet_debug;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;

/// The state of the approval of a call. See [`Approvals`](super::Approvals) for how one state leads to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ApprovalState {
    /// Nobody has decided yet.
    Waiting,
    /// It may run, and no worker has it.
    Granted,
    /// It may not run, and its caller has not been told.
    Denied,
    /// A worker has it but has not started it: it checks the call, or waits for its turn.
    Claimed,
    /// It runs. If it stays in this state, the program ended before the outcome was known: the call may have had its
    /// effect.
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
    /// The unique ID of the row: 32 hexadecimal digits.
    pub id: Text,
    /// The version, which increases with each change.
    pub version: u64,
    /// The state; never [`Expired`](ApprovalState::Expired).
    pub state: ApprovalState,
    /// When the call began to wait.
    pub asked_at: SystemTime,
    /// When the call can no longer be resumed.
    pub expires_at: SystemTime,
    /// What people may see, as JSON: the call without its secrets, who decided, who runs it, and what came of it. For a
    /// row that cannot be read, `{"damage": "why"}`, so that it is shown as damaged and the others are not lost with
    /// it.
    pub entry: String,
    /// The sealed call, as JSON, with the secrets among its arguments: keep it as safe as they are. `None` once it has
    /// started, or can no longer run.
    pub request: Option<String>,
}

discreet_debug!(QueueRow: id, version, state, asked_at, expires_at; entry, request);

impl QueueRow {
    /// Returns a row that is partly unreadable, with what is known of it.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "redis"))]
    pub(crate) fn damaged(id: Text, state: ApprovalState, why: &str) -> QueueRow {
        let entry = serde_json::json!({ "damage": why }).to_string();
        // Whatever its time is, it is shown.
        let never = SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(1 << 37));
        let expires_at = never.unwrap_or(SystemTime::UNIX_EPOCH);
        QueueRow { id, version: 0, state, asked_at: SystemTime::UNIX_EPOCH, expires_at, entry, request: None }
    }
}

/// Forgets the sealed calls of rows that have expired, and returns whether there were any.
pub(super) fn forget_expired<'r>(rows: impl IntoIterator<Item = &'r mut QueueRow>, now: SystemTime) -> bool {
    let expired = rows.into_iter().filter(|row| row.expires_at <= now && row.request.is_some());
    expired.map(|row| row.request = None).count() > 0
}

/// Keeps the calls that wait for an approval, so that any process can show them, decide about them and run them.
///
/// Set with [`ProviderBuilder::approval_queue`](crate::provider::ProviderBuilder::approval_queue), as part of
/// [`Approvals`](super::Approvals), which does everything else: a queue is a table of [rows](QueueRow) and needs no more
/// than four functions, and [`take`](ApprovalStore::take), which makes sure that nothing runs twice even if
/// somebody resumes a call without the queue. There are [`MemoryApprovals`](super::MemoryApprovals) and, with the feature
/// `sqlite`, `SqliteApprovals`.
///
/// A queue may forget a row when it has [expired](QueueRow::expires_at), and should forget its
/// [`request`](QueueRow::request) then. If a part of a row cannot be read, it should return the row with the damage in its
/// [`entry`](QueueRow::entry), and no error, which would keep all other calls from people and workers.
///
/// An [`insert`](Self::insert) whose future is dropped should have no effect, if that is possible: its caller is told
/// that the call does not wait. A row that is added all the same is used up and finished by the provider.
pub trait ApprovalQueue: ApprovalStore {
    /// Adds a row.
    ///
    /// # Errors
    ///
    /// If the row cannot be stored, or there is one with its `id`. Then the call is answered with an error, and does
    /// not wait.
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>>;

    /// Returns the row with an `id`.
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

    /// Returns the IDs that begin with a text. By default this lists all rows.
    ///
    /// # Errors
    ///
    /// If the queue cannot determine this.
    fn ids<'a>(&'a self, start: &'a str) -> BoxFuture<'a, Result<Vec<Text>, ToolError>> {
        Box::pin(async move {
            let rows = self.list(&ApprovalState::ALL).await?;
            Ok(rows.into_iter().map(|row| row.id).filter(|id| id.starts_with(start)).collect())
        })
    }

    /// Replaces the row of the same `id` if it has this version, and returns whether it had: of all replacements of one
    /// version, by whatever process, only one succeeds. In SQL, that is `UPDATE … WHERE id = $1 AND version = $2`.
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

    fn ids<'a>(&'a self, start: &'a str) -> BoxFuture<'a, Result<Vec<Text>, ToolError>> {
        (**self).ids(start)
    }

    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        (**self).replace(row, version)
    }
}

/// Returns a number as databases store it.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a time as databases store it: in milliseconds since 1970.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn millis(time: SystemTime) -> i64 {
    signed(crate::call::waiting::millis_of(time))
}
