//! Helpers that are common to all SQLite databases of this crate.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

/// How long to wait for other writers of the same database.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Configures a connection to wait for other writers, and to allow readers while it writes.
pub(crate) fn prepared(connection: Connection) -> Result<Connection, rusqlite::Error> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let began = Instant::now();
    loop {
        // Returns the mode, which differs for a database in memory.
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            // SQLite does not wait for another connection that opens the new database concurrently. Waiting is not
            // possible in this case.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < BUSY_TIMEOUT =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            done => return done.map(|()| connection),
        }
    }
}

/// Runs statements in one transaction, which is rolled back after an error.
pub(crate) fn transact<T>(
    connection: &Connection,
    run: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
) -> Result<T, rusqlite::Error> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let done = run(connection).and_then(|done| connection.execute_batch("COMMIT").map(|()| done));
    if done.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    done
}

/// Whether a database stores a table of this name. Views and virtual tables do not count: their definition computes
/// the rows when they are read, possibly endlessly.
pub(crate) fn stores(connection: &Connection, table: &str) -> Result<bool, rusqlite::Error> {
    let known =
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?)";
    connection.query_row(known, [table], |row| row.get(0))
}
