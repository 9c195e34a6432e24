//! Helpers that are common to all SQLite databases of this crate.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

/// How long to wait for other writers of the same database.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Configures a connection to wait for other writers, and to allow readers while it writes.
pub(crate) fn configure(connection: Connection) -> Result<Connection, rusqlite::Error> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let start = Instant::now();
    loop {
        // The pragma returns the mode, which differs for a database in memory.
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            // SQLite does not wait for another connection that opens the new database concurrently, regardless of the
            // busy timeout.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < BUSY_TIMEOUT =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            result => return result.map(|()| connection),
        }
    }
}

/// Runs statements in one transaction, which is rolled back after an error.
pub(crate) fn transact<T>(
    connection: &Connection,
    statements: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
) -> Result<T, rusqlite::Error> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let result = statements(connection).and_then(|value| connection.execute_batch("COMMIT").map(|()| value));
    if result.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    result
}

/// Whether a database stores a table of this name. Views and virtual tables do not count: their definition computes
/// the rows when they are read, possibly endlessly.
pub(crate) fn has_table(connection: &Connection, table: &str) -> Result<bool, rusqlite::Error> {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?)";
    connection.query_row(sql, [table], |row| row.get(0))
}
