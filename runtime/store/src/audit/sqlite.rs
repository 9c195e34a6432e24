//! The audit log in an SQLite database.

mod log;
mod owner;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, params};

use crate::sqlite::file::{configure, transact};
pub(super) use log::Log;
use owner::OwnerLock;
/// The version of the crate whose connections [`SqliteSink::new`] accepts.
pub use rusqlite;
use toolgen_kernel::base::private;
use toolgen_record::audit::{AuditError, AuditIntent, AuditOutcome, AuditSink, AuditStatus};

/// Creates the table if it does not exist: one row per call. Other systems query the first nine columns.
const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS tool_executions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        tool_name TEXT NOT NULL,
        parameters JSON,
        result JSON,
        error TEXT,
        duration_ms INTEGER,
        timestamp DATETIME DEFAULT CURRENT_TIMESTAMP
    );
    CREATE INDEX IF NOT EXISTS tool_executions_timestamp ON tool_executions (timestamp);";

/// The columns that are missing in a table with only the first nine columns.
const COLUMNS: &[(&str, &str)] = &[
    ("tool_call_id", "TEXT"),
    ("is_error", "INTEGER"),
    ("error_code", "TEXT"),
    ("spec_hash", "TEXT"),
    ("attempt", "INTEGER"),
    ("status", "TEXT"),
    ("approved", "INTEGER"),
    ("approved_by", "TEXT"),
    ("principal", "TEXT"),
    ("owner", "TEXT"),
    ("turn", "INTEGER"),
    ("parent", "INTEGER"),
];

/// The default maximum number of buffered records while the database cannot be written.
const DEFAULT_MAX_BUFFERED: usize = 8192;

/// Writes audit records to an SQLite database, in the table `tool_executions`. Its columns are `id`, `session_id`,
/// `agent_id`, `tool_name`, `parameters`, `result`, `error`, `duration_ms`, `timestamp`, `tool_call_id`, `is_error`,
/// `error_code`, `spec_hash`, `attempt`, `status` (see [`AuditStatus::as_str`]), `approved`, `approved_by`,
/// `principal`, `owner`, which distinguishes the sinks that write to the table, `turn`, which is counted per owner,
/// and `parent`, the `id` of the parent call.
///
/// If a table has only the first nine columns, the others are added. The database is in WAL mode, so other
/// connections can read while the sink writes. A running call has the status `started`, and so does a call that was
/// running when its program ended, see [`recover`](Self::recover).
///
/// While the database is locked or full, records are buffered in memory, up to a limit, and written later. A durable
/// call does not wait for that and is rejected.
///
/// While the sink exists, there is a locked file next to the database, `{database}-writer-{owner}`. Other programs
/// check the lock to see whether the sink is alive.
#[derive(Debug)]
pub struct SqliteSink {
    connection: Connection,
    owner: OwnerLock,
    /// The row IDs of running calls.
    rows: BTreeMap<u64, i64>,
    /// The records that are not committed.
    pending: Vec<PendingRecord>,
    max_buffered: usize,
    durable: bool,
}

/// A record that is not committed.
#[derive(Debug)]
struct PendingRecord {
    intent: AuditIntent,
    outcome: Option<AuditOutcome>,
}

impl SqliteSink {
    /// Opens the database at `path`, and creates it if necessary: on Unix, readable only by its owner.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened or written, or is not an audit database.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteSink, AuditError> {
        private::database(path.as_ref());
        SqliteSink::new(Connection::open(path).map_err(to_audit_error)?)
    }

    /// Uses a connection that is already open.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be written, or if its table has different columns.
    pub fn new(connection: Connection) -> Result<SqliteSink, AuditError> {
        let open = || {
            let connection = configure(connection)?;
            // In WAL mode, a crash of the program loses no committed data, but a crash of the machine may.
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            transact(&connection, migrate)?;
            let owner = OwnerLock::acquire(&connection)?;
            let (rows, pending) = (BTreeMap::new(), Vec::new());
            Ok(SqliteSink {
                connection,
                owner,
                rows,
                pending,
                max_buffered: DEFAULT_MAX_BUFFERED,
                durable: false,
            })
        };
        open().map_err(to_audit_error)
    }

    /// Sets how long to wait for other writers of the same database. Default: five seconds.
    ///
    /// # Errors
    ///
    /// Returns an error if the time is longer than SQLite can wait.
    pub fn with_busy_timeout(self, timeout: Duration) -> Result<SqliteSink, AuditError> {
        self.connection.busy_timeout(timeout).map_err(to_audit_error)?;
        Ok(self)
    }

    /// Sets the maximum number of records that are buffered while the database cannot be written. Default: 8192.
    /// Further records are lost and counted in [`Auditor::errors`](toolgen_record::audit::Auditor::errors). A call
    /// has two records.
    #[must_use]
    pub fn with_max_buffered(mut self, records: usize) -> SqliteSink {
        self.max_buffered = records;
        self
    }

    /// Sets the outcome of calls whose program ended while they were running to `unknown`, and returns their number.
    /// The effects of these calls are unknown. Calls of other sinks that still exist, in this program or in another,
    /// are not changed.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be read or written.
    pub fn recover(&mut self) -> Result<usize, AuditError> {
        self.close_calls().map_err(to_audit_error)
    }

    fn close_calls(&self) -> Result<usize, rusqlite::Error> {
        let reason = "the program ended before the outcome was recorded";
        let (unknown, started) = (AuditStatus::Unknown.as_str(), AuditStatus::Started.as_str());
        let mut owners =
            self.connection.prepare("SELECT DISTINCT owner FROM tool_executions WHERE status = ?1")?;
        let owners = owners.query_map([started], |row| row.get(0))?;
        let mut rows = 0;
        for owner in owners.collect::<Result<Vec<Option<String>>, _>>()? {
            if owner.as_deref().is_some_and(|owner| self.owner.is_alive(owner)) {
                continue;
            }
            rows += self.connection.execute(
                "UPDATE tool_executions SET status = ?1, error = ?2, error_code = 'UNKNOWN', is_error = 1 \
                 WHERE status = ?3 AND owner IS ?4",
                params![unknown, reason, started, owner],
            )?;
        }
        Ok(rows)
    }

    /// Writes all waiting records in one transaction. Returns the number of records that the database rejects because
    /// of their content, and the reason. If it returns an error, nothing is written.
    fn commit(&mut self) -> Result<(usize, Option<rusqlite::Error>), rusqlite::Error> {
        let (mut rows, mut ended_keys, mut rejected) = (BTreeMap::new(), Vec::new(), (0, None));
        transact(&self.connection, |connection| {
            for PendingRecord { intent, outcome } in &self.pending {
                let existing_row = || rows.get(&intent.key).or_else(|| self.rows.get(&intent.key)).copied();
                let parent = rows.get(&intent.parent).or_else(|| self.rows.get(&intent.parent)).copied();
                let result = match (outcome, outcome.as_ref().and_then(|_| existing_row())) {
                    (Some(outcome), Some(row)) => {
                        ended_keys.push(intent.key);
                        self.update(row, outcome).and_then(|updated| match updated {
                            0 => self.insert(intent, parent, Some(outcome)).map(drop),
                            _ => Ok(()),
                        })
                    }
                    (Some(outcome), None) => self.insert(intent, parent, Some(outcome)).map(drop),
                    (None, _) => self.insert(intent, parent, None).map(|row| {
                        rows.insert(intent.key, row);
                    }),
                };
                match result {
                    Ok(()) => {}
                    // Some errors, such as a full disk, end the transaction.
                    Err(error) if is_temporary(&error) || connection.is_autocommit() => return Err(error),
                    Err(error) => rejected = (rejected.0 + 1, Some(error)),
                }
            }
            Ok(())
        })?;
        self.rows.append(&mut rows);
        for key in ended_keys {
            self.rows.remove(&key);
        }
        Ok(rejected)
    }

    fn insert(
        &self,
        intent: &AuditIntent,
        parent: Option<i64>,
        outcome: Option<&AuditOutcome>,
    ) -> Result<i64, rusqlite::Error> {
        let status = outcome.map_or(AuditStatus::Started, |outcome| outcome.status);
        let parameters = intent.parameters.to_string();
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO tool_executions (session_id, agent_id, tool_name, parameters, timestamp, tool_call_id, \
             spec_hash, attempt, approved, approved_by, principal, owner, turn, parent, status, result, error, \
             error_code, is_error, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let columns = outcome.map(Columns::new).unwrap_or_default();
        statement.execute(params![
            intent.session_id.as_str(),
            intent.agent_id.as_str(),
            intent.tool_name.as_str(),
            parameters,
            intent.timestamp,
            intent.tool_call_id.as_str(),
            intent.spec_hash.as_str(),
            intent.attempt,
            intent.approved,
            intent.approved_by.as_deref(),
            intent.principal.as_str(),
            self.owner.id(),
            i64::try_from(intent.turn).ok().filter(|turn| *turn > 0),
            parent,
            status.as_str(),
            columns.result,
            columns.error,
            columns.code,
            columns.is_error,
            columns.duration_ms,
        ])?;
        Ok(self.connection.last_insert_rowid())
    }

    fn update(&self, row: i64, outcome: &AuditOutcome) -> Result<usize, rusqlite::Error> {
        let mut statement = self.connection.prepare_cached(
            "UPDATE tool_executions SET status = ?, result = ?, error = ?, error_code = ?, is_error = ?, \
             duration_ms = ? WHERE id = ?",
        )?;
        let Columns { result, error, code, is_error, duration_ms } = Columns::new(outcome);
        statement.execute(params![outcome.status.as_str(), result, error, code, is_error, duration_ms, row])
    }
}

/// The columns that an outcome sets.
#[derive(Default)]
struct Columns<'a> {
    result: Option<String>,
    error: Option<&'a str>,
    code: Option<&'a str>,
    is_error: Option<bool>,
    duration_ms: Option<i64>,
}

impl<'a> Columns<'a> {
    fn new(outcome: &'a AuditOutcome) -> Columns<'a> {
        Columns {
            // A JSON null is stored as SQL NULL, not as its text.
            result: (!outcome.result.is_null()).then(|| outcome.result.to_string()),
            error: outcome.error.as_deref(),
            code: outcome.error_code.as_deref(),
            is_error: Some(outcome.is_error),
            duration_ms: Some(outcome.duration_ms()),
        }
    }
}

fn migrate(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute_batch(TABLE)?;
    let mut existing = connection.prepare("SELECT name FROM pragma_table_info('tool_executions')")?;
    let existing = existing.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    for (name, sql_type) in COLUMNS {
        if !existing.iter().any(|column| column == name) {
            connection.execute_batch(&format!("ALTER TABLE tool_executions ADD COLUMN {name} {sql_type}"))?;
        }
    }
    Ok(())
}

/// Returns whether an error is temporary, and not caused by the records.
fn is_temporary(error: &rusqlite::Error) -> bool {
    let temporary = [
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
        ErrorCode::DiskFull,
        ErrorCode::SystemIoFailure,
        ErrorCode::OutOfMemory,
        ErrorCode::CannotOpen,
        ErrorCode::ReadOnly,
    ];
    error.sqlite_error_code().is_some_and(|code| temporary.contains(&code))
}

impl AuditSink for SqliteSink {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        self.pending.push(PendingRecord { intent: intent.clone(), outcome: None });
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        self.pending.push(PendingRecord { intent: intent.clone(), outcome: Some(outcome.clone()) });
        Ok(())
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        match self.commit() {
            Ok((refused, error)) => {
                self.pending.clear();
                error.map_or(Ok(()), |error| Err(to_audit_error(error).with_buffered(0, refused)))
            }
            Err(error) => {
                let record_count = self.pending.len();
                if self.durable {
                    // Calls whose intent could not be written are rejected. The outcomes of the other calls remain to
                    // be written.
                    self.pending.retain(|record| self.rows.contains_key(&record.intent.key));
                }
                self.pending.truncate(self.max_buffered);
                let kept = self.pending.len();
                Err(to_audit_error(error).with_buffered(kept, record_count - kept))
            }
        }
    }

    fn make_durable(&mut self) -> Result<(), AuditError> {
        // Every commit waits for the disk.
        self.connection.pragma_update(None, "synchronous", "FULL").map_err(to_audit_error)?;
        self.durable = true;
        Ok(())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn to_audit_error(error: rusqlite::Error) -> AuditError {
    AuditError::new(error.to_string())
}
