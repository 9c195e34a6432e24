//! Keeps waiting calls, and the names of those that were resumed, in an SQLite database.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use super::queue::{ApprovalQueue, ApprovalState, QueueRow};
use super::{APPROVALS_KEPT, ApprovalStore};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;
use crate::call::waiting::millis_of;
use crate::layers::sqlite::{prepared, stores, transact};

/// Creates the tables if they do not exist. A database of earlier versions has only the first.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS tool_approvals (name TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS tool_approvals_expires_at ON tool_approvals (expires_at);
    CREATE TABLE IF NOT EXISTS tool_approval_queue (
        id TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        state TEXT NOT NULL,
        asked_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        entry JSON NOT NULL,
        request JSON
    );
    CREATE INDEX IF NOT EXISTS tool_approval_queue_state ON tool_approval_queue (state, asked_at);
    CREATE INDEX IF NOT EXISTS tool_approval_queue_expires_at ON tool_approval_queue (expires_at);";

const COLUMNS: &str = "id, version, state, asked_at, expires_at, entry, request";

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
/// As an [`ApprovalQueue`] it keeps calls that wait in the table `tool_approval_queue`: `id`, `version`, `state`,
/// `asked_at` and `expires_at` in milliseconds since 1970, `entry` (what people may see, as JSON) and `request` (the sealed
/// call, with its secrets, until it can no longer run). `cargo toolgen approvals` shows them and decides about them. Rows
/// are there until [`APPROVALS_KEPT`] after they expired.
///
/// ```no_run
/// use toolgen_runtime::layers::approval::{Approvals, SqliteApprovals};
/// use toolgen_runtime::{Provider, Registry};
///
/// # fn keyed(registry: &Registry, key: &[u8; 32]) -> Result<Provider, Box<dyn std::error::Error>> {
/// let approvals = Approvals::new(SqliteApprovals::open("calls.db")?);
/// let provider = Provider::builder(registry).approval_key(key).approval_queue(approvals).build()?;
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

    /// Opens the database at `path` if calls wait or have waited in it, and creates nothing: for those who decide about
    /// them. `None`: the database has no queue.
    ///
    /// # Errors
    ///
    /// If the file is not there, cannot be opened, or is no SQLite database.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Option<SqliteApprovals>, rusqlite::Error> {
        let Some(connection) = with_queue(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_WRITE)? else {
            return Ok(None);
        };
        durable(&connection)?;
        Ok(Some(SqliteApprovals(Arc::new(Mutex::new(connection)))))
    }

    /// As [`open_existing`](Self::open_existing), for those who only look: whatever would be written is an error.
    ///
    /// # Errors
    ///
    /// If the file is not there, cannot be opened, or is no SQLite database.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Option<SqliteApprovals>, rusqlite::Error> {
        let connection = with_queue(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(connection.map(|connection| SqliteApprovals(Arc::new(Mutex::new(connection)))))
    }

    /// Uses a connection that is already open.
    ///
    /// # Errors
    ///
    /// If the database cannot be written.
    pub fn new(connection: Connection) -> Result<SqliteApprovals, rusqlite::Error> {
        let connection = prepared(connection)?;
        durable(&connection)?;
        transact(&connection, |connection| connection.execute_batch(TABLES))?;
        Ok(SqliteApprovals(Arc::new(Mutex::new(connection))))
    }

    fn take_now(&self, name: &str, expires_at: SystemTime) -> Result<bool, rusqlite::Error> {
        let past = SystemTime::now().checked_sub(SLACK).unwrap_or(UNIX_EPOCH);
        let connection = unpoisoned(self.0.lock());
        transact(&connection, |connection| {
            connection.execute("DELETE FROM tool_approvals WHERE expires_at < ?", [millis(past)])?;
            let row = params![name, millis(expires_at)];
            Ok(connection.execute("INSERT OR IGNORE INTO tool_approvals VALUES (?, ?)", row)? == 1)
        })
    }

    fn insert_now(&self, row: &QueueRow) -> Result<(), rusqlite::Error> {
        let now = SystemTime::now();
        let past = now.checked_sub(APPROVALS_KEPT).unwrap_or(UNIX_EPOCH);
        let connection = unpoisoned(self.0.lock());
        transact(&connection, |connection| {
            connection.execute("DELETE FROM tool_approval_queue WHERE expires_at < ?", [millis(past)])?;
            connection.execute(
                "UPDATE tool_approval_queue SET request = NULL WHERE expires_at < ? AND request IS NOT NULL",
                [millis(now)],
            )?;
            let added = format!("INSERT INTO tool_approval_queue ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)");
            connection.execute(
                &added,
                params![
                    row.id.as_str(),
                    signed(row.version),
                    row.state.as_str(),
                    millis(row.asked_at),
                    millis(row.expires_at),
                    row.entry,
                    row.request,
                ],
            )?;
            Ok(())
        })
    }

    fn read_now(&self, id: &str) -> Result<Option<QueueRow>, rusqlite::Error> {
        let connection = unpoisoned(self.0.lock());
        let one = format!("SELECT {COLUMNS} FROM tool_approval_queue WHERE id = ?");
        connection.prepare_cached(&one)?.query_row([id], row_of).optional()
    }

    fn list_now(&self, states: &[ApprovalState]) -> Result<Vec<QueueRow>, rusqlite::Error> {
        let connection = unpoisoned(self.0.lock());
        let all = format!("SELECT {COLUMNS} FROM tool_approval_queue WHERE state = ? ORDER BY asked_at, id");
        let mut all = connection.prepare_cached(&all)?;
        let mut rows = Vec::new();
        for state in states {
            for row in all.query_map([state.as_str()], row_of)? {
                rows.push(row?);
            }
        }
        rows.sort_by_key(|row| row.asked_at);
        Ok(rows)
    }

    fn replace_now(&self, row: &QueueRow, version: u64) -> Result<bool, rusqlite::Error> {
        let connection = unpoisoned(self.0.lock());
        let changed = connection.execute(
            "UPDATE tool_approval_queue SET version = ?, state = ?, asked_at = ?, expires_at = ?, entry = ?, \
             request = ? WHERE id = ? AND version = ?",
            params![
                signed(row.version),
                row.state.as_str(),
                millis(row.asked_at),
                millis(row.expires_at),
                row.entry,
                row.request,
                row.id.as_str(),
                signed(version),
            ],
        )?;
        Ok(changed == 1)
    }

    /// Runs something where it may wait: the disk may be slow, or another program may hold the lock.
    fn aside<T: Send + 'static>(
        &self,
        run: impl FnOnce(&SqliteApprovals) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ToolError>> {
        let store = self.clone();
        Box::pin(async move {
            match tokio::task::spawn_blocking(move || run(&store)).await {
                Ok(done) => done.map_err(|why| ToolError::failed(why.to_string())),
                Err(why) => Err(ToolError::failed(why.to_string())),
            }
        })
    }
}

/// Opens a database that is there, if it has a queue.
fn with_queue(path: &Path, access: OpenFlags) -> Result<Option<Connection>, rusqlite::Error> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(stores(&connection, "tool_approval_queue")?.then_some(connection))
}

/// Makes every commit wait for the disk, and overwrites what is deleted, since requests hold secrets.
fn durable(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn millis(time: SystemTime) -> i64 {
    signed(millis_of(time))
}

fn row_of(row: &Row<'_>) -> Result<QueueRow, rusqlite::Error> {
    let time = |index: usize| {
        let millis = u64::try_from(row.get::<_, i64>(index)?).unwrap_or_default();
        Ok::<_, rusqlite::Error>(UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH))
    };
    let state: String = row.get(2)?;
    Ok(QueueRow {
        id: Text::from(row.get::<_, String>(0)?),
        version: u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default(),
        // A state of a later version: nothing is done with what nobody here knows.
        state: ApprovalState::named(&state).unwrap_or(ApprovalState::Finished),
        asked_at: time(3)?,
        expires_at: time(4)?,
        entry: row.get(5)?,
        request: row.get(6)?,
    })
}

impl ApprovalStore for SqliteApprovals {
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        let name = name.to_owned();
        self.aside(move |store| store.take_now(&name, expires_at))
    }
}

impl ApprovalQueue for SqliteApprovals {
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        self.aside(move |store| store.insert_now(&row))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>> {
        let id = id.to_owned();
        self.aside(move |store| store.read_now(&id))
    }

    fn list<'a>(&'a self, states: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>> {
        let states = states.to_vec();
        self.aside(move |store| store.list_now(&states))
    }

    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        self.aside(move |store| store.replace_now(&row, version))
    }
}

impl fmt::Debug for SqliteApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SqliteApprovals")
    }
}
