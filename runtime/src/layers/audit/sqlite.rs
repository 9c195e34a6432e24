//! Records in an SQLite database.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, params};

use super::{AuditError, AuditIntent, AuditOutcome, AuditSink, AuditStatus};

/// Creates the table if it does not exist: one row per call. Queries of other systems know its first nine columns.
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

/// The columns that a table with only the first nine lacks.
const COLUMNS: &[(&str, &str)] = &[
    ("tool_call_id", "TEXT"),
    ("is_error", "INTEGER"),
    ("error_code", "TEXT"),
    ("spec_hash", "TEXT"),
    ("attempt", "INTEGER"),
    ("status", "TEXT"),
    ("approved", "INTEGER"),
    ("approved_by", "TEXT"),
];

/// How long to wait for other writers of the same database.
const BUSY: Duration = Duration::from_secs(5);

/// Writes records to an SQLite database, in the table `tool_executions`: `id`, `session_id`, `agent_id`, `tool_name`,
/// `parameters`, `result`, `error`, `duration_ms`, `timestamp`, `tool_call_id`, `is_error`, `error_code`, `spec_hash`,
/// `attempt`, `status` (see [`AuditStatus::as_str`]), `approved` and `approved_by`.
///
/// A table that has only the first nine columns gets the others. The database is in WAL mode, so that others can read
/// while the sink writes. A running call has the status `started`, and so has a call that was running when its program
/// ended, see [`recover`](Self::recover).
#[derive(Debug)]
pub struct SqliteSink {
    connection: Connection,
    /// The rows of running calls.
    rows: BTreeMap<u64, i64>,
    /// The running calls whose rows are not committed.
    fresh: Vec<u64>,
    in_transaction: bool,
    /// The reason why nothing more is tried until the next flush: a locked database then delays one record, not each,
    /// and what is written together is kept or lost together.
    failed: Option<AuditError>,
}

impl SqliteSink {
    /// Opens the database at `path`, which is created if necessary.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or written, or is not such a database.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteSink, AuditError> {
        SqliteSink::new(Connection::open(path)?)
    }

    /// Uses a connection that is already open.
    ///
    /// # Errors
    ///
    /// If the database cannot be written, or its table has a different form.
    pub fn new(connection: Connection) -> Result<SqliteSink, AuditError> {
        connection.busy_timeout(BUSY)?;
        // Returns the mode, which is different for a database in memory.
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        // In WAL mode a crash of the program loses nothing that is committed; a crash of the machine may.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let made = migrate(&connection);
        connection.execute_batch(if made.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        made?;
        let (rows, fresh) = (BTreeMap::new(), Vec::new());
        Ok(SqliteSink { connection, rows, fresh, in_transaction: false, failed: None })
    }

    /// Sets how long to wait for other writers of the same database; five seconds by default.
    ///
    /// # Errors
    ///
    /// If the time is longer than SQLite can wait.
    pub fn with_busy_timeout(self, timeout: Duration) -> Result<SqliteSink, AuditError> {
        self.connection.busy_timeout(timeout)?;
        Ok(self)
    }

    /// Marks the calls that were running when their program ended as `unknown`, and returns how many there are. What
    /// they did until then is unknown. Call this only while nothing else writes to the database.
    ///
    /// # Errors
    ///
    /// If the database cannot be written.
    pub fn recover(&mut self) -> Result<usize, AuditError> {
        let text = "the program ended before the outcome was recorded";
        let (unknown, started) = (AuditStatus::Unknown.as_str(), AuditStatus::Started.as_str());
        let rows = self.connection.execute(
            "UPDATE tool_executions SET status = ?1, error = ?2, error_code = 'UNKNOWN', is_error = 1 \
             WHERE status = ?3",
            params![unknown, text, started],
        )?;
        Ok(rows)
    }

    /// Writes in the transaction of the batch.
    fn write(
        &mut self,
        write: impl FnOnce(&mut SqliteSink) -> Result<(), rusqlite::Error>,
    ) -> Result<(), AuditError> {
        if let Some(why) = &self.failed {
            return Err(why.clone());
        }
        if !self.in_transaction {
            if let Err(why) = self.connection.execute_batch("BEGIN IMMEDIATE") {
                return Err(self.failed.insert(why.into()).clone());
            }
            self.in_transaction = true;
        }
        let written = write(self).map_err(AuditError::from);
        // Some errors, such as a full disk, end the transaction.
        if let Err(why) = &written
            && self.connection.is_autocommit()
        {
            self.failed = Some(why.clone());
        }
        written
    }

    fn insert(
        &mut self,
        intent: &AuditIntent,
        outcome: Option<&AuditOutcome>,
    ) -> Result<i64, rusqlite::Error> {
        let status = outcome.map_or(AuditStatus::Started, |outcome| outcome.status);
        let parameters = intent.parameters.to_string();
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO tool_executions (session_id, agent_id, tool_name, parameters, timestamp, tool_call_id, \
             spec_hash, attempt, approved, approved_by, status, result, error, error_code, is_error, duration_ms) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let columns = outcome.map(Columns::of).unwrap_or_default();
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
            intent.approved_by.as_str(),
            status.as_str(),
            columns.result,
            columns.error,
            columns.code,
            columns.is_error,
            columns.duration_ms,
        ])?;
        Ok(self.connection.last_insert_rowid())
    }

    fn update(&mut self, row: i64, outcome: &AuditOutcome) -> Result<usize, rusqlite::Error> {
        let mut statement = self.connection.prepare_cached(
            "UPDATE tool_executions SET status = ?, result = ?, error = ?, error_code = ?, is_error = ?, \
             duration_ms = ? WHERE id = ?",
        )?;
        let Columns { result, error, code, is_error, duration_ms } = Columns::of(outcome);
        statement.execute(params![outcome.status.as_str(), result, error, code, is_error, duration_ms, row])
    }
}

/// The columns that an outcome fills.
#[derive(Default)]
struct Columns<'a> {
    result: Option<String>,
    error: Option<&'a str>,
    code: Option<&'a str>,
    is_error: Option<bool>,
    duration_ms: Option<i64>,
}

impl<'a> Columns<'a> {
    fn of(outcome: &'a AuditOutcome) -> Columns<'a> {
        Columns {
            // SQL's NULL, not the text of JSON's null.
            result: (!outcome.result.is_null()).then(|| outcome.result.to_string()),
            error: outcome.error.as_deref(),
            code: outcome.error_code.as_deref(),
            is_error: Some(outcome.is_error),
            duration_ms: Some(outcome.duration_ms()),
        }
    }
}

fn migrate(connection: &Connection) -> Result<(), AuditError> {
    connection.execute_batch(TABLE)?;
    let mut known = connection.prepare("SELECT name FROM pragma_table_info('tool_executions')")?;
    let known = known.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    for (name, kind) in COLUMNS {
        if !known.iter().any(|known| known == name) {
            connection.execute_batch(&format!("ALTER TABLE tool_executions ADD COLUMN {name} {kind}"))?;
        }
    }
    Ok(())
}

impl AuditSink for SqliteSink {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        self.write(|sink| {
            let row = sink.insert(intent, None)?;
            sink.rows.insert(intent.key, row);
            sink.fresh.push(intent.key);
            Ok(())
        })
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        self.write(|sink| {
            let updated = match sink.rows.remove(&intent.key) {
                Some(row) => sink.update(row, outcome)?,
                None => 0,
            };
            if updated == 0 {
                sink.insert(intent, Some(outcome))?;
            }
            Ok(())
        })
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        let began = std::mem::take(&mut self.in_transaction);
        let fresh = std::mem::take(&mut self.fresh);
        let failed = match self.failed.take() {
            Some(why) => why,
            None if !began => return Ok(()),
            None => match self.connection.execute_batch("COMMIT") {
                Ok(()) => return Ok(()),
                Err(why) => why.into(),
            },
        };
        for key in fresh {
            self.rows.remove(&key);
        }
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Err(failed)
    }

    fn make_durable(&mut self) -> Result<(), AuditError> {
        // Every commit waits for the disk.
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(())
    }
}

impl From<rusqlite::Error> for AuditError {
    fn from(why: rusqlite::Error) -> Self {
        AuditError::new(why.to_string())
    }
}
