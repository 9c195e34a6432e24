//! Stores, which hold state that processes share: in a file, in a database, on a server.
//!
//! | store | feature | use | shared by |
//! |---|---|---|---|
//! | [`MemoryStore`] | | one process, and tests | its clones |
//! | `SqliteStore` | `sqlite` | processes of one machine, and state that must outlive them | the file |
//! | `PostgresStore` | `postgres` | many machines, and state that must not be lost | the database and its schema |
//! | `RedisStore` | `redis` | many machines and many calls | the server and the namespace |
//!
//! Pass a store to each part of a toolbox that shares state, by one method for each part; the [trait](Store) lists
//! them. A program may use several stores, such as a database for approvals and Redis for counters.
//!
//! ```
//! use toolgen_runtime::call::session::SessionsLimits;
//! use toolgen_runtime::layers::approval::Approvals;
//! use toolgen_runtime::layers::pages::{Pages, ResultLimit};
//! use toolgen_runtime::layers::rate::WindowLimit;
//! use toolgen_runtime::store::{MemoryStore, OnFailure};
//! use toolgen_runtime::{CircuitBreaker, Toolbox, Registry, Sessions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let registry = &Registry::new(Vec::<std::sync::Arc<dyn toolgen_runtime::AgentTool>>::new())?;
//! # let key = [7; 32];
//! let store = MemoryStore::new(); // or another store: the rest is the same
//! let toolbox = Toolbox::builder(registry)
//!     .rate_limit(WindowLimit::new().shared(store.clone()).on_failure(OnFailure::Degrade))
//!     .breaker(CircuitBreaker::new().shared(store.clone()).start()?)
//!     .paging(Pages::new(ResultLimit::DEFAULT).shared(store.clone()))
//!     .failure_store(store.clone())
//!     .approval_key(key)
//!     .approval_queue(Approvals::on(store.clone()))
//!     .build()?;
//! let sessions = Sessions::shared(SessionsLimits::DEFAULT, store);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "audit")]
pub mod audit;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "postgres")]
pub use postgres::{PostgresBuilder, PostgresStore};
#[cfg(feature = "redis")]
pub use redis::{RedisBuilder, RedisStore};
#[cfg(any(feature = "postgres", feature = "redis"))]
pub use server::StoreChange;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
#[doc(inline)]
pub use toolgen_kernel::call::store::{
    Expected, MemoryStore, OnFailure, Row, Store, StoreError, WINDOW_PARTS,
};

/// Times in the units of stores.
#[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
mod times {
    use std::time::Duration;

    use super::WINDOW_PARTS;

    /// Maximum time to live of a row, in milliseconds. Every store can represent such a time.
    pub(super) const MAX_MILLIS: u64 = 1 << 50;

    /// Returns a time in milliseconds, at most [`MAX_MILLIS`].
    pub(super) fn millis(time: Duration) -> i64 {
        toolgen_kernel::base::time::whole_millis(time).min(MAX_MILLIS).cast_signed()
    }

    /// Returns the length of a window's part, in microseconds.
    pub(super) fn part_micros(window: Duration) -> i64 {
        let length = window.as_micros() / u128::from(WINDOW_PARTS);
        i64::try_from(length).unwrap_or(i64::MAX).clamp(1, MAX_MILLIS.cast_signed())
    }
}
