//! A store in an SQLite database.

pub(super) mod file;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use file::{BUSY_TIMEOUT, configure, has_table, transact};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, ffi, params};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::private;
use toolgen_kernel::call::store::{Expected, Row, Store, StoreError};

use super::WINDOW_PARTS;
use super::times::{MAX_MILLIS, millis, part_micros};

/// Creates the tables if they do not exist. Times are milliseconds since 1970.
const TABLES_SQL: &str = "
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
    path: String,
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
        let open = || initialize(Connection::open(path)?);
        open()
            .map(|connection| SqliteStore::new(path, connection))
            .map_err(|error| to_store_error(&display_path(path), &error))
    }

    /// Opens the database at `path` if it contains a store, and creates nothing: for programs that decide about
    /// approvals. Returns `None` if the database contains no store.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist, cannot be opened, or is not an SQLite database.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Option<SqliteStore>, StoreError> {
        SqliteStore::open_with(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    /// Like [`open_existing`](Self::open_existing), for programs that only read: any write is an error.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist, cannot be opened, or is not an SQLite database.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Option<SqliteStore>, StoreError> {
        SqliteStore::open_with(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    fn open_with(path: &Path, access: OpenFlags) -> Result<Option<SqliteStore>, StoreError> {
        let open = || {
            let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            let exists = has_table(&connection, "toolgen_rows")?;
            if exists && access == OpenFlags::SQLITE_OPEN_READ_WRITE {
                make_durable(&connection)?;
            }
            Ok(exists.then(|| SqliteStore::new(path, connection)))
        };
        open().map_err(|error: rusqlite::Error| to_store_error(&display_path(path), &error))
    }

    fn new(path: &Path, connection: Connection) -> SqliteStore {
        SqliteStore(Arc::new(Inner { path: display_path(path), connection: Mutex::new(connection) }))
    }

    /// Runs a function on a blocking thread: the disk may be slow, or another program may hold the lock. The second
    /// argument of the function states whether the caller has stopped waiting.
    fn run_blocking<T: Send + 'static>(
        &self,
        task: impl FnOnce(&Connection, &AtomicBool) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let store = self.clone();
        Box::pin(async move {
            let is_abandoned = Arc::new(AtomicBool::new(false));
            let guard = AbandonGuard(Arc::clone(&is_abandoned));
            let result = tokio::task::spawn_blocking(move || {
                let connection = store.0.connection.lock().unwrap_or_else(PoisonError::into_inner);
                task(&connection, &is_abandoned).map_err(|error| to_store_error(&store.0.path, &error))
            });
            let result = result.await.unwrap_or_else(|error| Err(StoreError::new(error.to_string())));
            drop(guard);
            result
        })
    }
}

/// Records on drop that the caller has stopped waiting.
struct AbandonGuard(Arc<AtomicBool>);

impl Drop for AbandonGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}

fn to_store_error(path: &str, error: &rusqlite::Error) -> StoreError {
    StoreError::new(format!("shared state in {path}: {error}"))
}

fn initialize(connection: Connection) -> Result<Connection, rusqlite::Error> {
    let connection = configure(connection)?;
    make_durable(&connection)?;
    transact(&connection, |connection| connection.execute_batch(TABLES_SQL))?;
    Ok(connection)
}

/// Makes every commit wait for the disk, and overwrites deleted data, which may contain secrets.
fn make_durable(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))
}

/// Runs a change in one transaction. Rolls back if the caller has stopped waiting, because the caller then assumes that
/// the change failed.
fn run_cancellable<T>(
    connection: &Connection,
    is_abandoned: &AtomicBool,
    change: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
) -> Result<T, rusqlite::Error> {
    transact(connection, |connection| {
        let value = change(connection)?;
        if is_abandoned.load(Ordering::SeqCst) {
            let reason = "it was cancelled before it was stored".to_owned();
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ABORT), Some(reason)));
        }
        Ok(value)
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

/// Deletes expired rows if there are any. A database that is read-only or busy keeps them until later.
fn delete_expired(connection: &Connection, any_expired: bool) {
    if any_expired && connection.execute("DELETE FROM toolgen_rows WHERE expires_at <= ?", [now()]).is_ok() {
        empty_log(connection);
    }
}

/// Returns rows in the order of their keys. Other programs may have written any type into any column.
fn rows(
    connection: &Connection,
    condition: &str,
    kind: &str,
    key: &str,
) -> Result<Vec<Row>, rusqlite::Error> {
    let text = format!(
        "SELECT key, version, value, expires_at FROM toolgen_rows WHERE kind = ?1 AND {condition} ORDER BY key"
    );
    let mut statement = connection.prepare_cached(&text)?;
    let mut rows = statement.query([kind, key])?;
    let (now, mut live_rows, mut has_expired) = (now(), Vec::new(), false);
    while let Some(row) = rows.next()? {
        let number = |index| Ok::<_, rusqlite::Error>(row.get_ref(index)?.as_i64().ok());
        let expires_at = number(3)?;
        if expires_at.is_some_and(|at| at <= now) {
            has_expired = true;
            continue;
        }
        live_rows.push(Row {
            key: String::from_utf8_lossy(&bytes(row.get_ref(0)?)).into_owned(),
            version: number(1)?.and_then(|version| u64::try_from(version).ok()).unwrap_or(0),
            value: bytes(row.get_ref(2)?),
            left: Duration::from_millis(u64::try_from(expires_at.unwrap_or(now) - now).unwrap_or(0)),
        });
    }
    drop(rows);
    delete_expired(connection, has_expired);
    Ok(live_rows)
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
    let sql = "SELECT version FROM toolgen_rows WHERE kind = ? AND key = ? AND expires_at > ?";
    let version = connection.prepare_cached(sql)?.query_row(params![kind, key, now()], |row| {
        Ok(row.get_ref(0)?.as_i64().ok().and_then(|version| u64::try_from(version).ok()).unwrap_or(0))
    });
    version.optional()
}

fn put(
    connection: &Connection,
    (kind, key, value): (&str, &str, &[u8]),
    ttl: i64,
    expected: Expected,
) -> Result<Option<u64>, rusqlite::Error> {
    connection.execute("DELETE FROM toolgen_rows WHERE expires_at <= ?", [now()])?;
    let current_version = version(connection, kind, key)?;
    if !expected.fits(current_version) {
        return Ok(None);
    }
    // A version is a time, so that a row that is deleted and created again always has a later version.
    let time_version = u64::try_from(now()).unwrap_or(0).saturating_mul(1000);
    let version = time_version.max(current_version.unwrap_or(0).saturating_add(1)).min(MAX_MILLIS << 4);
    let sql = "INSERT OR REPLACE INTO toolgen_rows VALUES (?, ?, ?, ?, ?)";
    let expires_at = now().saturating_add(ttl);
    let mut statement = connection.prepare_cached(sql)?;
    // Valid UTF-8 is stored as text, so that people can read it in the database.
    match std::str::from_utf8(value) {
        Ok(text) => statement.execute(params![kind, key, version.cast_signed(), text, expires_at])?,
        Err(_) => statement.execute(params![kind, key, version.cast_signed(), value, expires_at])?,
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
    let increment = "INSERT INTO toolgen_counts VALUES (?, ?, ?, 1, ?) \
               ON CONFLICT (kind, key, part) DO UPDATE SET calls = calls + 1";
    // The row is kept longer than the call counts.
    let expires_at = now.saturating_add(length.saturating_mul(parts + 2) / 1000 + 1);
    for (key, _) in counters {
        connection.prepare_cached(increment)?.execute(params![kind, key, part, expires_at])?;
    }
    Ok(true)
}

impl Store for SqliteStore {
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        let (table, key) = (table.to_owned(), key.to_owned());
        self.run_blocking(move |connection, _| Ok(rows(connection, "key = ?2", &table, &key)?.pop()))
    }

    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        let (table, prefix) = (table.to_owned(), prefix.to_owned());
        let condition = "substr(key, 1, length(?2)) = ?2";
        self.run_blocking(move |connection, _| rows(connection, condition, &table, &prefix))
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
        self.run_blocking(move |connection, is_abandoned| {
            let row = (table.as_str(), key.as_str(), value.as_slice());
            run_cancellable(connection, is_abandoned, |connection| {
                put(connection, row, millis(ttl), expected)
            })
        })
    }

    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let (table, key) = (table.to_owned(), key.to_owned());
        self.run_blocking(move |connection, is_abandoned| {
            let is_deleted = run_cancellable(connection, is_abandoned, |connection| {
                let current_version = version(connection, &table, &key)?;
                let must_delete = current_version.is_some() && expected.fits(current_version);
                let sql = "DELETE FROM toolgen_rows WHERE ? AND kind = ? AND key = ?";
                Ok(connection.execute(sql, params![must_delete, table, key])? == 1)
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
        let (table, length) = (table.to_owned(), part_micros(window));
        let counters: Vec<_> = counters.iter().map(|(key, max)| ((*key).to_owned(), *max)).collect();
        self.run_blocking(move |connection, is_abandoned| {
            // Counters are written often, and do not have to wait for the disk.
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            let result = run_cancellable(connection, is_abandoned, |connection| {
                count(connection, &table, &counters, length)
            });
            connection.pragma_update(None, "synchronous", "FULL")?;
            result
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("file", &self.0.path).finish_non_exhaustive()
    }
}
