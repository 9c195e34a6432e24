//! Keeps waiting calls, and the names of those that were resumed, in an SQLite database.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, ffi, params};

use super::queue::{ApprovalQueue, ApprovalState, QueueRow, forget_expired, millis, signed};
use super::{APPROVALS_KEPT, ApprovalStore, SLACK};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::private;
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;
use crate::layers::sqlite::{BUSY, prepared, stores, transact};

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

/// Remembers which calls were resumed in an SQLite database, in the table `tool_approvals`, so that none is resumed
/// twice, not even by another program or after a restart. Clones share the connection. The database may be that of a
/// [`SqliteSink`](crate::layers::audit::SqliteSink).
///
/// A name is on disk before its call runs. So a call that was approved runs once: if the program is killed before, the
/// request can be resumed again; if it is killed after, the request is used up, even if the tool had no effect yet. A
/// durable [`Auditor`](crate::layers::audit::Auditor) records which calls did not finish.
///
/// As an [`ApprovalQueue`] it keeps calls that wait in the table `tool_approval_queue`: `id`, `version`, `state`,
/// `asked_at` and `expires_at` in milliseconds since 1970, `entry` (what people may see, as JSON) and `request` (the
/// sealed call, with its secrets, until it starts or can no longer run; then it is gone from the file, too).
/// `cargo toolgen approvals` shows them and decides about them. Rows are kept until [`APPROVALS_KEPT`] after they
/// expired.
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
    /// Opens the database at `path`, which is created if necessary: on Unix, readable by its owner alone.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or written, or is not an SQLite database.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteApprovals, rusqlite::Error> {
        private::database(path.as_ref());
        SqliteApprovals::new(Connection::open(path)?)
    }

    /// Opens the database at `path` if calls wait or have waited in it, and creates nothing: for those who decide about
    /// them. `None` if the database has no queue.
    ///
    /// # Errors
    ///
    /// If the file does not exist, cannot be opened, or is not an SQLite database.
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
    /// If the file does not exist, cannot be opened, or is not an SQLite database.
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

    fn insert_now(&self, row: &QueueRow, given_up: &AtomicBool) -> Result<(), rusqlite::Error> {
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
            // While this waited for others, its caller may have been told that it did not come to pass.
            if given_up.load(Ordering::SeqCst) {
                let why = "the call was given up before it was stored".to_owned();
                return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ABORT), Some(why)));
            }
            Ok(())
        })
    }

    fn read_now(&self, id: &str) -> Result<Option<QueueRow>, rusqlite::Error> {
        let connection = unpoisoned(self.0.lock());
        let one = format!("SELECT {COLUMNS} FROM tool_approval_queue WHERE id = ?");
        let mut row = connection.prepare_cached(&one)?.query_row([id], row_of).optional()?;
        forget(&connection, row.as_mut());
        Ok(row)
    }

    fn ids_now(&self, start: &str) -> Result<Vec<Text>, rusqlite::Error> {
        let connection = unpoisoned(self.0.lock());
        let all =
            "SELECT id FROM tool_approval_queue WHERE id >= ?1 AND id < ?1 || char(1114111) ORDER BY id";
        let mut all = connection.prepare_cached(all)?;
        all.query_map([start], |row| Ok(lossy(row.get_ref(0)?)))?.collect()
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
        forget(&connection, &mut rows);
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
        if changed == 1 && row.request.is_none() {
            empty_log(&connection);
        }
        Ok(changed == 1)
    }

    /// Runs a function on a thread that may block: the disk may be slow, or another program may hold the lock.
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

/// Opens an existing database, if it has a queue.
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

/// Forgets the sealed calls of rows that have expired. A database that is only read, or is busy, keeps them for now.
fn forget<'r>(connection: &Connection, rows: impl IntoIterator<Item = &'r mut QueueRow>) {
    let now = SystemTime::now();
    if forget_expired(rows, now) {
        let expired =
            "UPDATE tool_approval_queue SET request = NULL WHERE expires_at <= ? AND request IS NOT NULL";
        if connection.execute(expired, [millis(now)]).is_ok() {
            empty_log(connection);
        }
    }
}

/// Empties the log of the database, which has what was overwritten, unless somebody is reading from it.
fn empty_log(connection: &Connection) {
    let _ = connection.busy_timeout(Duration::ZERO);
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    let _ = connection.busy_timeout(BUSY);
}

fn row_of(row: &Row<'_>) -> Result<QueueRow, rusqlite::Error> {
    let (id, state) = (lossy(row.get_ref(0)?), lossy(row.get_ref(2)?));
    // A state of a later version: nothing is done with what nobody here knows.
    let state = ApprovalState::named(&state).unwrap_or(ApprovalState::Finished);
    // Something else may have put anything into any column.
    Ok(whole_row(row, &id, state).unwrap_or_else(|why| QueueRow::damaged(id, state, &why)))
}

fn whole_row(row: &Row<'_>, id: &Text, state: ApprovalState) -> Result<QueueRow, String> {
    let time = |index: usize| {
        let millis = u64::try_from(column::<i64>(row, index)?).unwrap_or_default();
        Ok::<_, String>(UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH))
    };
    column::<String>(row, 0)?;
    Ok(QueueRow {
        id: id.clone(),
        version: u64::try_from(column::<i64>(row, 1)?).unwrap_or_default(),
        state,
        asked_at: time(3)?,
        expires_at: time(4)?,
        entry: column(row, 5)?,
        request: column(row, 6)?,
    })
}

fn column<T: FromSql>(row: &Row<'_>, index: usize) -> Result<T, String> {
    let name = COLUMNS.split(", ").nth(index).unwrap_or_default();
    row.get(index).map_err(|why| format!("the column `{name}`: {why}"))
}

/// Returns a text however it is stored.
fn lossy(value: ValueRef<'_>) -> Text {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Text::from(String::from_utf8_lossy(bytes).into_owned())
        }
        ValueRef::Integer(number) => Text::from(number.to_string()),
        ValueRef::Real(number) => Text::from(number.to_string()),
        ValueRef::Null => Text::EMPTY,
    }
}

/// Says when it is dropped that no caller is waiting any longer.
struct Awaited(Arc<AtomicBool>);

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl ApprovalStore for SqliteApprovals {
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        let name = name.to_owned();
        self.aside(move |store| store.take_now(&name, expires_at))
    }
}

impl ApprovalQueue for SqliteApprovals {
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        let given_up = Arc::new(AtomicBool::new(false));
        let awaited = Awaited(Arc::clone(&given_up));
        let stored = self.aside(move |store| store.insert_now(&row, &given_up));
        Box::pin(async move {
            let done = stored.await;
            drop(awaited);
            done
        })
    }

    fn ids<'a>(&'a self, start: &'a str) -> BoxFuture<'a, Result<Vec<Text>, ToolError>> {
        let start = start.to_owned();
        self.aside(move |store| store.ids_now(&start))
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
