//! Remembers in an SQLite database which calls were resumed.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, params};

use super::ApprovalStore;
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;
use crate::call::waiting::millis_of;
use crate::layers::sqlite::{prepared, transact};

/// Creates the table if it does not exist.
const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS tool_approvals (name TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS tool_approvals_expires_at ON tool_approvals (expires_at);";

/// How long a name is remembered after its request expired, since clocks differ.
const SLACK: Duration = Duration::from_secs(24 * 60 * 60);

/// Remembers which calls were resumed in an SQLite database, in the table `tool_approvals`, so that none is resumed
/// twice, not even by another program or after a restart. Clones share the connection. The database may be that of a
/// [`SqliteSink`](crate::layers::audit::SqliteSink).
///
/// A name is on disk before its call runs. So a call that was approved runs once: if the program is killed before, the
/// request can be resumed again; if it is killed after, the request is used up, also if the tool did not get to its
/// effect. A durable [`Auditor`](crate::layers::audit::Auditor) records which calls did not come to an end.
///
/// ```no_run
/// use toolgen_runtime::layers::approval::SqliteApprovals;
/// use toolgen_runtime::{Provider, Registry};
///
/// # fn keyed(registry: &Registry, key: &[u8; 32]) -> Result<Provider, Box<dyn std::error::Error>> {
/// let store = SqliteApprovals::open("calls.db")?;
/// let provider = Provider::builder(registry).approval_key(key).approval_store(store).build()?;
/// # Ok(provider)
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteApprovals(Arc<Mutex<Connection>>);

impl SqliteApprovals {
    /// Opens the database at `path`, which is created if necessary.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or written, or is no SQLite database.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteApprovals, rusqlite::Error> {
        SqliteApprovals::new(Connection::open(path)?)
    }

    /// Uses a connection that is already open.
    ///
    /// # Errors
    ///
    /// If the database cannot be written.
    pub fn new(connection: Connection) -> Result<SqliteApprovals, rusqlite::Error> {
        let connection = prepared(connection)?;
        // Every commit waits for the disk.
        connection.pragma_update(None, "synchronous", "FULL")?;
        transact(&connection, |connection| connection.execute_batch(TABLE))?;
        Ok(SqliteApprovals(Arc::new(Mutex::new(connection))))
    }

    fn take_now(&self, name: &str, expires_at: SystemTime) -> Result<bool, rusqlite::Error> {
        let millis = |time| i64::try_from(millis_of(time)).unwrap_or(i64::MAX);
        let past = SystemTime::now().checked_sub(SLACK).unwrap_or(SystemTime::UNIX_EPOCH);
        let connection = unpoisoned(self.0.lock());
        transact(&connection, |connection| {
            connection.execute("DELETE FROM tool_approvals WHERE expires_at < ?", [millis(past)])?;
            let row = params![name, millis(expires_at)];
            Ok(connection.execute("INSERT OR IGNORE INTO tool_approvals VALUES (?, ?)", row)? == 1)
        })
    }
}

impl ApprovalStore for SqliteApprovals {
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        let (store, name) = (self.clone(), name.to_owned());
        Box::pin(async move {
            // The disk may be slow, or another program may hold the lock.
            let taken = tokio::task::spawn_blocking(move || store.take_now(&name, expires_at)).await;
            match taken {
                Ok(taken) => taken.map_err(|why| ToolError::failed(why.to_string())),
                Err(why) => Err(ToolError::failed(why.to_string())),
            }
        })
    }
}

impl fmt::Debug for SqliteApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SqliteApprovals")
    }
}
