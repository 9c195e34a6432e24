//! What all that is kept in an SQLite database has in common.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

/// How long to wait for other writers of the same database.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes a connection wait for other writers, and lets others read while it writes.
pub(crate) fn prepared(connection: Connection) -> Result<Connection, rusqlite::Error> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let began = Instant::now();
    loop {
        // Returns the mode, which is different for a database in memory.
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            // SQLite does not wait for others that open a new database at the same time: it may not, in this one case.
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

/// Runs statements in one transaction, which an error undoes.
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

/// Whether a database stores a table of this name. A view or a virtual table does not count: its rows are made up by
/// its maker's query while it is read, perhaps without end.
pub(crate) fn stores(connection: &Connection, table: &str) -> Result<bool, rusqlite::Error> {
    let known =
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?)";
    connection.query_row(known, [table], |row| row.get(0))
}
