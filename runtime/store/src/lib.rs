//! Stores in which processes share their state: in a file, in a database, on a server.
//!
//! | store | feature | for | shared by |
//! |---|---|---|---|
//! | [`MemoryStore`] | | one process, and tests | its clones |
//! | `SqliteStore` | `sqlite` | the processes of one machine, and what must outlive them | the file |
//! | `PostgresStore` | `postgres` | many machines, and what must not be lost | the database and its schema |
//! | `RedisStore` | `redis` | many machines and many calls | the server and the namespace |
//!
//! Each is given to the parts of a toolbox that are to share their state, by one method each; the [trait](Store) lists
//! them. A program may have several, such as approvals in a database and counts in Redis.
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
//! let store = MemoryStore::new(); // or another one: what follows is the same
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

/// Times, as stores take them.
#[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
mod times {
    use std::time::Duration;

    use super::WINDOW_PARTS;

    /// The longest time for which a store is asked to keep something, in milliseconds: no clock of theirs shows more.
    pub(super) const LONGEST: u64 = 1 << 50;

    /// Returns a time in milliseconds.
    pub(super) fn millis(time: Duration) -> i64 {
        toolgen_kernel::base::time::whole_millis(time).min(LONGEST).cast_signed()
    }

    /// Returns the length of a part of a window, in microseconds.
    pub(super) fn part_of(window: Duration) -> i64 {
        let length = window.as_micros() / u128::from(WINDOW_PARTS);
        i64::try_from(length).unwrap_or(i64::MAX).clamp(1, LONGEST.cast_signed())
    }
}
