//! State that processes share: rows and counters in one store.
//!
//! Each part of a toolbox keeps its state in the memory of the process, unless it is given a [`Store`] in which the other
//! processes of the deployment find it:
//!
//! | state | given by | table | key: value | while the store cannot be reached |
//! |---|---|---|---|---|
//! | rate limit | [`WindowLimit::shared`](crate::layers::rate::WindowLimit::shared) | `rate` | counters of each principal and tool | [`Refuse`](OnFailure::Refuse), or each process counts alone |
//! | circuit breakers | [`CircuitBreaker::shared`](crate::CircuitBreaker::shared) | `circuits` | service: whether its circuit is open | [`Degrade`](OnFailure::Degrade) to those of this process, or refuse |
//! | pages | [`Pages::shared`](crate::layers::pages::Pages::shared) | `pages` | owner and handle: a large result | what this process cut is read |
//! | sessions | [`Sessions::shared`](crate::Sessions::shared) | `sessions` | owner and ID: values and call history | `Refuse`, or go by what this process knows |
//! | repeat guard | [`repeat_store`](crate::ToolboxBuilder::repeat_store) | `repeats` | call: its failures | each process counts alone |
//! | approvals | [`Approvals::on`](crate::layers::approval::Approvals::on) | `approvals`, `approval-requests`, `approvals-used` | ID: the entry that people see; the sealed call; nothing | `Refuse`, or each process remembers alone |
//!
//! What a row means is known to the part that keeps it there. A store knows rows, their versions and when they expire, so
//! each of them works on each store: [`MemoryStore`] for one process and for tests, and `SqliteStore`, `PostgresStore` and
//! `RedisStore` of the features `sqlite`, `postgres` and `redis`.
//!
//! Rows are replaced by comparing their version: a change is read, made, and written if nobody was faster, otherwise made
//! again. So no change is lost, and no lock outlives a process. Everything expires, so nothing grows for ever.

mod memory;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::redacted_debug::discreet_debug;
use crate::call::error::ToolError;

pub use memory::MemoryStore;

/// The number of parts into which [`Store::count`] divides a window.
pub const WINDOW_PARTS: u64 = 64;

/// A row of a [`Store`].
#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    /// Its key in the table.
    pub key: String,
    /// Its version, which differs after each change, also if the row was deleted in between. Never 0, unless something
    /// else than a store wrote the row.
    pub version: u64,
    /// What was stored; of a row that something else has changed, whatever can be read of it.
    pub value: Vec<u8>,
    /// For how long it is kept from now on.
    pub left: Duration,
}

discreet_debug!(Row: key, version, left; value);

/// What must be there for a row to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Anything, or nothing.
    Any,
    /// No row of this key.
    Absent,
    /// The row of this version.
    Version(u64),
}

impl Expected {
    /// Returns what is expected where a row of this version was read, or none.
    #[must_use]
    pub fn known(version: Option<u64>) -> Expected {
        version.map_or(Expected::Absent, Expected::Version)
    }

    /// Returns whether a row of this version, or none, is what is expected.
    #[must_use]
    pub fn fits(self, version: Option<u64>) -> bool {
        self == Expected::Any || self == Expected::known(version)
    }
}

/// Keeps rows and counters where all processes of a deployment find them. See the [module](self) for what is kept there.
///
/// Keys are any texts, and unique in their table. A row whose time is over is as good as deleted. The clock is that of the
/// store, if it has one, so that those of the processes may differ.
///
/// No method may be answered before what it wrote can be read by all. A request whose answer is lost may have had its
/// effect: none that writes is repeated by the store. One whose future is dropped should have no effect, if that is
/// possible.
pub trait Store: fmt::Debug + Send + Sync {
    /// Returns a row.
    ///
    /// # Errors
    ///
    /// If the store cannot tell.
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>>;

    /// Returns the rows whose keys begin with a prefix, in the order of their keys.
    ///
    /// # Errors
    ///
    /// If the store cannot tell. A row that cannot be read is no reason: it would hide all others.
    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>>;

    /// Stores a row for a time, if what is there is as expected, and returns its new version; `None` if it is not. Of
    /// all that expect one version, one succeeds.
    ///
    /// # Errors
    ///
    /// If it is not certain that the row is stored.
    fn put<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        value: &'a [u8],
        ttl: Duration,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>>;

    /// Deletes a row, if there is one and it is as expected, and returns whether that was so.
    ///
    /// # Errors
    ///
    /// If it is not certain that the row is deleted.
    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Adds one to each of these counters, if none of them has reached its maximum within the last `window`, and returns
    /// whether that was so: exactly, whoever counts at the same time. The counters are kept apart from the rows.
    ///
    /// Time is counted in [parts](WINDOW_PARTS) of the window, so one may count for a part longer.
    ///
    /// # Errors
    ///
    /// If it is not certain that it was counted.
    fn count<'a>(
        &'a self,
        table: &'a str,
        counters: &'a [(&'a str, u32)],
        window: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;
}

impl<T: Store + ?Sized> Store for Arc<T> {
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        (**self).get(table, key)
    }

    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        (**self).scan(table, prefix)
    }

    fn put<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        value: &'a [u8],
        ttl: Duration,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        (**self).put(table, key, value, ttl, expected)
    }

    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).delete(table, key, expected)
    }

    fn count<'a>(
        &'a self,
        table: &'a str,
        counters: &'a [(&'a str, u32)],
        window: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).count(table, counters, window)
    }
}

/// What becomes of calls that depend on shared state while its store cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// They are refused, with an error that says so.
    Refuse,
    /// They go on with the state of this process alone.
    Degrade,
}

/// Why a store cannot be reached or used: which one, and what happened. It contains no password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreError(Text);

impl StoreError {
    /// Creates an error with a text.
    #[must_use]
    pub fn new(text: impl Into<Text>) -> StoreError {
        StoreError(text.into())
    }

    /// The error about a row that is not as this version writes it.
    pub(crate) fn unreadable(what: &str, reason: impl fmt::Display) -> StoreError {
        StoreError::new(format!("{what} was not written by this version: {reason}"))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

toolgen_core::__readable_debug!(StoreError);

impl Error for StoreError {}

/// An error of a store, for those that do not show it to a model.
impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> ToolError {
        ToolError::failed(error.to_string())
    }
}
