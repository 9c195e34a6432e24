//! A store in an SQLite database.

pub(super) mod file;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use file::{BUSY_TIMEOUT, prepared, stores, transact};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, ffi, params};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::private;
use toolgen_kernel::call::store::{Expected, Row, Store, StoreError};

use super::WINDOW_PARTS;
use super::times::{LONGEST, millis, part_of};

/// Creates the tables if they do not exist. Times are milliseconds since 1970.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS toolgen_rows (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        version INTEGER NOT NULL,
        value BLOB NOT NULL,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (kind, key)
    );
    CREATE INDEX IF NOT EXISTS toolgen_rows_expires_at ON toolgen_rows (expires_at);
    CREATE TABLE IF NOT EXISTS toolgen_counts (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        part INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (kind, key, part)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS toolgen_counts_expires_at ON toolgen_counts (expires_at);";

/// A store in an SQLite database, shared by all programs that open the file. Clones share the connection. The
/// database may also contain the audit log of a [`SqliteSink`](super::audit::SqliteSink).
///
/// The table `toolgen_rows` contains the rows: `kind` (the name of their table), `key`, `version`, `value` and
/// `expires_at` in milliseconds since 1970. Rows are on disk when a request returns. Deleted and expired rows are
/// overwritten in the file, because they may contain secrets. The table `toolgen_counts` contains the counters, which
/// do not wait for the disk: after a power failure, they may lack the last calls.
///
/// Requests run on blocking threads, and wait at most five seconds for other programs that write.
///
/// ```no_run
/// use toolgen_runtime::layers::approval::Approvals;
/// use toolgen_runtime::store::SqliteStore;
/// use toolgen_runtime::{Toolbox, Registry};
///
/// # fn keyed(registry: &Registry, key: &[u8; 32]) -> Result<Toolbox, Box<dyn std::error::Error>> {
/// let approvals = Approvals::on(SqliteStore::open("calls.db")?);
/// let toolbox = Toolbox::builder(registry).approval_key(key).approval_queue(approvals).build()?;
/// # Ok(toolbox)
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteStore(Arc<Inner>);

struct Inner {
    shown: String,
    connection: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the database at `path`, and creates it if necessary: on Unix, readable only by its owner.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened or written, or is not an SQLite database.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        let path = path.as_ref();
        private::database(path);
        let opened = || made(Connection::open(path)?);
        opened()
            .map(|connection| SqliteStore::of(path, connection))
            .map_err(|error| failed(&shown(path), &error))
    }

    /// Opens the database at `path` if it contains a store, and creates nothing: for programs that decide about
    /// approvals. Returns `None` if the database contains no store.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist, cannot be opened, or is not an SQLite database.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Option<SqliteStore>, StoreError> {
        SqliteStore::existing(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    /// Like [`open_existing`](Self::open_existing), for programs that only read: any write is an error.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist, cannot be opened, or is not an SQLite database.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Option<SqliteStore>, StoreError> {
        SqliteStore::existing(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    fn existing(path: &Path, access: OpenFlags) -> Result<Option<SqliteStore>, StoreError> {
        let opened = || {
            let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            let is_there = stores(&connection, "toolgen_rows")?;
            if is_there && access == OpenFlags::SQLITE_OPEN_READ_WRITE {
                durable(&connection)?;
            }
            Ok(is_there.then(|| SqliteStore::of(path, connection)))
        };
        opened().map_err(|error: rusqlite::Error| failed(&shown(path), &error))
    }

    fn of(path: &Path, connection: Connection) -> SqliteStore {
        SqliteStore(Arc::new(Inner { shown: shown(path), connection: Mutex::new(connection) }))
    }

    /// Runs a function on a blocking thread: the disk may be slow, or another program may hold the lock. The second
    /// argument of the function tells whether the caller has stopped waiting.
    fn aside<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection, &AtomicBool) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let store = self.clone();
        Box::pin(async move {
            let given_up = Arc::new(AtomicBool::new(false));
            let awaited = Awaited(Arc::clone(&given_up));
            let done = tokio::task::spawn_blocking(move || {
                let connection = store.0.connection.lock().unwrap_or_else(PoisonError::into_inner);
                run(&connection, &given_up).map_err(|error| failed(&store.0.shown, &error))
            });
            let done = done.await.unwrap_or_else(|error| Err(StoreError::new(error.to_string())));
            drop(awaited);
            done
        })
    }
}

/// Records on drop that the caller has stopped waiting.
struct Awaited(Arc<AtomicBool>);

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn failed(displayed: &str, error: &rusqlite::Error) -> StoreError {
    StoreError::new(format!("shared state in {displayed}: {error}"))
}

fn made(connection: Connection) -> Result<Connection, rusqlite::Error> {
    let connection = prepared(connection)?;
    durable(&connection)?;
    transact(&connection, |connection| connection.execute_batch(TABLES))?;
    Ok(connection)
}

/// Makes every commit wait for the disk, and overwrites deleted data, which may contain secrets.
fn durable(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))
}

/// Runs a change in one transaction. Rolls back if the caller has stopped waiting, and assumes that the change
/// failed.
fn change<T>(
    connection: &Connection,
    given_up: &AtomicBool,
    run: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
) -> Result<T, rusqlite::Error> {
    transact(connection, |connection| {
        let done = run(connection)?;
        if given_up.load(Ordering::SeqCst) {
            let reason = "it was cancelled before it was stored".to_owned();
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ABORT), Some(reason)));
        }
        Ok(done)
    })
}

/// Returns the time in milliseconds since 1970.
fn now() -> i64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Empties the write-ahead log of the database, which contains overwritten data, unless another connection reads from
/// it.
fn empty_log(connection: &Connection) {
    let _ = connection.busy_timeout(Duration::ZERO);
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    let _ = connection.busy_timeout(BUSY_TIMEOUT);
}

/// Deletes expired rows, if there were any. A database that is read-only or busy keeps them for now.
fn forget(connection: &Connection, were_met: bool) {
    if were_met && connection.execute("DELETE FROM toolgen_rows WHERE expires_at <= ?", [now()]).is_ok() {
        empty_log(connection);
    }
}

/// Returns rows in the order of their keys. Other programs may have written any type into any column.
fn rows(connection: &Connection, which: &str, kind: &str, key: &str) -> Result<Vec<Row>, rusqlite::Error> {
    let text = format!(
        "SELECT key, version, value, expires_at FROM toolgen_rows WHERE kind = ?1 AND {which} ORDER BY key"
    );
    let mut statement = connection.prepare_cached(&text)?;
    let mut found = statement.query([kind, key])?;
    let (now, mut all, mut are_over) = (now(), Vec::new(), false);
    while let Some(row) = found.next()? {
        let number = |index| Ok::<_, rusqlite::Error>(row.get_ref(index)?.as_i64().ok());
        let expires_at = number(3)?;
        if expires_at.is_some_and(|at| at <= now) {
            are_over = true;
            continue;
        }
        all.push(Row {
            key: String::from_utf8_lossy(&bytes(row.get_ref(0)?)).into_owned(),
            version: number(1)?.and_then(|version| u64::try_from(version).ok()).unwrap_or(0),
            value: bytes(row.get_ref(2)?),
            left: Duration::from_millis(u64::try_from(expires_at.unwrap_or(now) - now).unwrap_or(0)),
        });
    }
    drop(found);
    forget(connection, are_over);
    Ok(all)
}

/// Returns a value, regardless of its column type.
fn bytes(value: ValueRef<'_>) -> Vec<u8> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        ValueRef::Integer(number) => number.to_string().into_bytes(),
        ValueRef::Real(number) => number.to_string().into_bytes(),
        ValueRef::Null => Vec::new(),
    }
}

/// Returns the version of a row that has not expired, if the version is readable.
fn version(connection: &Connection, kind: &str, key: &str) -> Result<Option<u64>, rusqlite::Error> {
    let known = "SELECT version FROM toolgen_rows WHERE kind = ? AND key = ? AND expires_at > ?";
    let known = connection.prepare_cached(known)?.query_row(params![kind, key, now()], |row| {
        Ok(row.get_ref(0)?.as_i64().ok().and_then(|version| u64::try_from(version).ok()).unwrap_or(0))
    });
    known.optional()
}

fn put(
    connection: &Connection,
    (kind, key, value): (&str, &str, &[u8]),
    ttl: i64,
    expected: Expected,
) -> Result<Option<u64>, rusqlite::Error> {
    connection.execute("DELETE FROM toolgen_rows WHERE expires_at <= ?", [now()])?;
    let known = version(connection, kind, key)?;
    if !expected.fits(known) {
        return Ok(None);
    }
    // A time, so that a row that is deleted and created again never has an earlier version.
    let fresh = u64::try_from(now()).unwrap_or(0).saturating_mul(1000);
    let version = fresh.max(known.unwrap_or(0).saturating_add(1)).min(LONGEST << 4);
    let row = "INSERT OR REPLACE INTO toolgen_rows VALUES (?, ?, ?, ?, ?)";
    let until = now().saturating_add(ttl);
    let mut row = connection.prepare_cached(row)?;
    // Valid UTF-8 is stored as text, so that people can read it in the database.
    match std::str::from_utf8(value) {
        Ok(text) => row.execute(params![kind, key, version.cast_signed(), text, until])?,
        Err(_) => row.execute(params![kind, key, version.cast_signed(), value, until])?,
    };
    Ok(Some(version))
}

fn count(
    connection: &Connection,
    kind: &str,
    counters: &[(String, u32)],
    length: i64,
) -> Result<bool, rusqlite::Error> {
    let now = now();
    connection.execute("DELETE FROM toolgen_counts WHERE expires_at <= ?", [now])?;
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let part = i64::try_from(micros).unwrap_or(i64::MAX) / length;
    let parts = WINDOW_PARTS.cast_signed();
    let sum = "SELECT COALESCE(SUM(calls), 0) FROM toolgen_counts WHERE kind = ? AND key = ? AND part >= ?";
    for (key, max) in counters {
        let sum: i64 =
            connection.prepare_cached(sum)?.query_row(params![kind, key, part - parts], |row| row.get(0))?;
        if sum >= i64::from(*max) {
            return Ok(false);
        }
    }
    let one = "INSERT INTO toolgen_counts VALUES (?, ?, ?, 1, ?) \
               ON CONFLICT (kind, key, part) DO UPDATE SET calls = calls + 1";
    // Longer than the call counts.
    let until = now.saturating_add(length.saturating_mul(parts + 2) / 1000 + 1);
    for (key, _) in counters {
        connection.prepare_cached(one)?.execute(params![kind, key, part, until])?;
    }
    Ok(true)
}

impl Store for SqliteStore {
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        let (table, key) = (table.to_owned(), key.to_owned());
        self.aside(move |connection, _| Ok(rows(connection, "key = ?2", &table, &key)?.pop()))
    }

    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        let (table, prefix) = (table.to_owned(), prefix.to_owned());
        let which = "substr(key, 1, length(?2)) = ?2";
        self.aside(move |connection, _| rows(connection, which, &table, &prefix))
    }

    fn put<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        value: &'a [u8],
        ttl: Duration,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let (table, key, value) = (table.to_owned(), key.to_owned(), value.to_vec());
        self.aside(move |connection, given_up| {
            let row = (table.as_str(), key.as_str(), value.as_slice());
            change(connection, given_up, |connection| put(connection, row, millis(ttl), expected))
        })
    }

    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let (table, key) = (table.to_owned(), key.to_owned());
        self.aside(move |connection, given_up| {
            let is_deleted = change(connection, given_up, |connection| {
                let known = version(connection, &table, &key)?;
                let is_it = known.is_some() && expected.fits(known);
                let gone = "DELETE FROM toolgen_rows WHERE ? AND kind = ? AND key = ?";
                Ok(connection.execute(gone, params![is_it, table, key])? == 1)
            })?;
            if is_deleted {
                empty_log(connection);
            }
            Ok(is_deleted)
        })
    }

    fn count<'a>(
        &'a self,
        table: &'a str,
        counters: &'a [(&'a str, u32)],
        window: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let (table, length) = (table.to_owned(), part_of(window));
        let counters: Vec<_> = counters.iter().map(|(key, max)| ((*key).to_owned(), *max)).collect();
        self.aside(move |connection, given_up| {
            // Counters are written often, and do not have to wait for the disk.
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            let counted =
                change(connection, given_up, |connection| count(connection, &table, &counters, length));
            connection.pragma_update(None, "synchronous", "FULL")?;
            counted
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("file", &self.0.shown).finish_non_exhaustive()
    }
}
