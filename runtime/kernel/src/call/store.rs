//! State that processes share: rows and counters in one store.
//!
//! Each part of a toolbox keeps its state in the memory of the process, unless you give it a [`Store`] that the other
//! processes of the deployment also use:
//!
//! | state | set by | table | key: value | while the store is unreachable |
//! |---|---|---|---|---|
//! | rate limit | [`WindowLimit::shared`](crate::layers::rate::WindowLimit::shared) | `rate` | counters of each principal and tool | [`Refuse`](OnFailure::Refuse), or each process counts alone |
//! | circuit breakers | [`CircuitBreaker::shared`](crate::CircuitBreaker::shared) | `circuits` | service: whether its circuit is open | [`Degrade`](OnFailure::Degrade) to the circuits of this process, or refuse |
//! | pages | [`Pages::shared`](crate::layers::pages::Pages::shared) | `pages` | owner and handle: a large result | only results of this process can be read |
//! | sessions | [`Sessions::shared`](crate::Sessions::shared) | `sessions` | owner and ID: values and call history | `Refuse`, or use what this process knows |
//! | repeat guard | [`failure_store`](crate::ToolboxBuilder::failure_store) | `repeats` | call: its failures | each process counts alone |
//! | approvals | [`Approvals::on`](crate::layers::approval::Approvals::on) | `approvals`, `approval-requests`, `approvals-used` | ID: the entry that people see; the sealed call; nothing | `Refuse`, or each process remembers alone |
//!
//! Only the part that writes a row knows its meaning. A store knows rows, their versions and their expiry, so every
//! part works with every store: [`MemoryStore`] for one process and for tests, and `SqliteStore`, `PostgresStore` and
//! `RedisStore` of the features `sqlite`, `postgres` and `redis`.
//!
//! Rows are updated by compare-and-swap of their version: a row is read, changed, and written if no other process has
//! changed it meanwhile; otherwise the change is retried. So no change is lost, and no lock outlives a process. Every
//! row expires, so no table grows without limit.

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
#[doc(hidden)]
pub const WINDOW_PARTS: u64 = 64;

/// A row of a [`Store`].
#[doc(hidden)]
#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    /// The key of the row in the table.
    pub key: String,
    /// The version of the row, which differs after each change, even if the row was deleted in between. Never 0,
    /// unless something other than a store wrote the row.
    pub version: u64,
    /// The stored value. If something other than a store changed the row, the readable part of the value.
    pub value: Vec<u8>,
    /// The remaining time until the row expires.
    pub left: Duration,
}

discreet_debug!(Row: key, version, left; value);

/// The condition for writing or deleting a row.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No condition.
    Any,
    /// There is no row with this key.
    Absent,
    /// The row has this version.
    Version(u64),
}

impl Expected {
    /// Returns the condition that the row still has the version that was read, or is still absent if there was none.
    #[must_use]
    pub fn known(version: Option<u64>) -> Expected {
        version.map_or(Expected::Absent, Expected::Version)
    }

    /// Whether a row of this version, or an absent row, meets the condition.
    #[must_use]
    pub fn fits(self, version: Option<u64>) -> bool {
        self == Expected::Any || self == Expected::known(version)
    }
}

/// A store of rows and counters that all processes of a deployment can use. The [module](self) lists what is stored.
///
/// Keys are any strings, unique in their table. An expired row counts as deleted. The clock is that of the store, if
/// it has one, so that the clocks of the processes may differ.
///
/// No method may complete before all processes can read what it wrote. A request whose response is lost may have taken
/// effect, so a store never retries a request that writes. A request whose future is dropped should have no
/// effect, if possible.
pub trait Store: fmt::Debug + Send + Sync {
    /// Returns a row.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot determine whether the row exists.
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>>;

    /// Returns the rows whose keys begin with a prefix, in the order of their keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot read its rows. A single unreadable row is not an error, because it would
    /// hide all others.
    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>>;

    /// Stores a row for a time if the condition holds, and returns its new version, or `None` if the condition does
    /// not hold. Of all callers that expect the same version, one succeeds.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not certain that the row is stored.
    fn put<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        value: &'a [u8],
        ttl: Duration,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>>;

    /// Deletes a row if it exists and the condition holds, and returns whether it was deleted.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not certain that the row is deleted.
    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Increments each of these counters, unless a counter has reached its maximum within the last `window`. Returns
    /// whether the counters were incremented. The count is exact, even with concurrent callers. Counters are separate
    /// from rows.
    ///
    /// Time is counted in [parts](WINDOW_PARTS) of the window, so a call may count for up to one part longer.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not certain that the call was counted.
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

/// What happens to calls that depend on shared state while the store is unreachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The calls are refused, with an error that gives the reason.
    Refuse,
    /// The calls continue with the state of this process alone.
    Degrade,
}

/// Why a store is unreachable or unusable: which store, and what happened. It contains no password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreError(Text);

impl StoreError {
    /// Creates an error with a message.
    #[must_use]
    pub fn new(text: impl Into<Text>) -> StoreError {
        StoreError(text.into())
    }

    /// Returns the error for a row that does not have the format of this version.
    pub(crate) fn unreadable(subject: &str, reason: impl fmt::Display) -> StoreError {
        StoreError::new(format!("{subject} was not written by this version: {reason}"))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

toolgen_core::__readable_debug!(StoreError);

impl Error for StoreError {}

/// Converts the error of a store, for callers that do not show it to a model.
impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> ToolError {
        ToolError::failed(error.to_string())
    }
}
