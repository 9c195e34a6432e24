//! Tests of state that processes share: the same tests of every part of a toolbox on every store, in one process and
//! in several, on servers that the tests start.

mod approvals;
mod breaker;
mod outage;
mod pages;
mod processes;
mod rate;
mod repeats;
mod rows;
mod servers;
mod sessions;

use std::fs;
use std::path::PathBuf;

use toolgen_runtime::store::{PostgresStore, SqliteStore};
use toolgen_runtime::{ToolName, ToolSpec};
#[cfg(target_os = "linux")]
use toolgen_test_support::postgres;
use toolgen_test_support::redis;

use crate::prelude::*;

/// A separate directory below that of the tests' files, removed when the test ends. The test created it, and no
/// directory above it is ever removed.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("stores-{}-{number}", std::process::id());
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // Fails if the directory exists, so that only a directory of this test is removed later.
        fs::create_dir(&dir).unwrap();
        Scratch(dir)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("calls.db")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The storage of a store, removed when the test ends.
pub(crate) enum Home {
    Memory(MemoryStore),
    Sqlite(Scratch),
    #[cfg(target_os = "linux")]
    Postgres(#[allow(dead_code, reason = "it is there to be dropped")] Arc<postgres::Server>, String),
    Redis(redis::Server),
}

impl Home {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Home::Memory(_) => "memory",
            Home::Sqlite(_) => "sqlite",
            #[cfg(target_os = "linux")]
            Home::Postgres(..) => "postgres",
            Home::Redis(_) => "redis",
        }
    }

    /// Returns where another process finds the store; `None` if other processes cannot use it.
    pub(crate) fn place(&self) -> Option<String> {
        match self {
            Home::Memory(_) => None,
            Home::Sqlite(scratch) => Some(scratch.database().to_str().unwrap().to_owned()),
            #[cfg(target_os = "linux")]
            Home::Postgres(_, url) => Some(url.clone()),
            Home::Redis(server) => Some(server.url()),
        }
    }

    /// Opens the store as another process would, with a separate connection.
    pub(crate) fn open(&self) -> Arc<dyn Store> {
        match self {
            Home::Memory(store) => Arc::new(store.clone()),
            _ => at(&self.place().unwrap()),
        }
    }
}

/// Opens the store at a location.
pub(crate) fn at(location: &str) -> Arc<dyn Store> {
    match location.split_once("://") {
        Some(("redis", _)) => Arc::new(redis_at(location)),
        // A server may be slow on a busy machine; tests of slow servers set their own timeout.
        Some(_) => Arc::new(PostgresStore::builder(location).timeout(LONG).build().unwrap()),
        None => Arc::new(SqliteStore::open(location).unwrap()),
    }
}

pub(crate) fn redis_at(url: &str) -> RedisStore {
    RedisStore::builder(url, "tests").timeout(LONG).build().unwrap()
}

const LONG: Duration = Duration::from_secs(20);

/// Returns the URL of a separate database on the server that the tests share.
#[cfg(target_os = "linux")]
#[track_caller]
pub(crate) fn database() -> Option<(String, Arc<postgres::Server>)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let server = postgres::shared()?;
    let url = server.database(&format!("store_{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    Some((url, server))
}

/// Returns storage of each kind. Kinds whose server is not installed are skipped, with a message.
pub(crate) fn homes() -> Vec<Home> {
    let mut homes = vec![Home::Memory(MemoryStore::new())];
    homes.extend(shared_homes());
    homes
}

/// Returns the kinds that processes can share.
pub(crate) fn shared_homes() -> Vec<Home> {
    let mut homes = vec![Home::Sqlite(Scratch::new())];
    #[cfg(target_os = "linux")]
    homes.extend(database().map(|(url, server)| Home::Postgres(server, url)));
    homes.extend(redis::Server::start().map(Home::Redis));
    homes
}

pub(crate) fn spec(name: &'static str) -> ToolSpec {
    ToolSpec { name: ToolName::new(name), ..ToolSpec::EMPTY }
}
