//! Reads the audit log in an SQLite database.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, Rows, Statement};
use serde_json::{Map, Value, json};
use toolgen_record::audit::{AuditError, AuditLog, AuditRecord};

use super::to_audit_error;
use crate::sqlite::file::has_table;

/// The table of a [`SqliteSink`](super::SqliteSink).
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    connection: Connection,
    /// The last row that was read.
    last_row: i64,
    /// The rows of calls without an outcome.
    running: BTreeSet<i64>,
}

const NEW_ROWS_SQL: &str = "SELECT * FROM tool_executions WHERE id > ?1 ORDER BY id";
const ROW_SQL: &str = "SELECT * FROM tool_executions WHERE id = ?1";

impl Log {
    pub(crate) fn open(path: &Path) -> Result<Log, AuditError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(to_audit_error)?;
        connection.busy_timeout(Duration::from_secs(5)).map_err(to_audit_error)?;
        let no_records = "the database contains no audit records (`tool_executions`)";
        if !has_table(&connection, "tool_executions").map_err(to_audit_error)? {
            return Err(AuditError::new(no_records));
        }
        connection.prepare(ROW_SQL).map_err(|error| AuditError::new(format!("{no_records}: {error}")))?;
        Ok(Log { path: path.to_owned(), connection, last_row: 0, running: BTreeSet::new() })
    }
}

impl AuditLog for Log {
    fn changes(&mut self, each: &mut dyn FnMut(AuditRecord)) -> Result<(), AuditError> {
        let mut by_id = self.connection.prepare_cached(ROW_SQL).map_err(to_audit_error)?;
        for id in self.running.clone() {
            let names = column_names(&by_id);
            let record = next_record(&mut by_id.query([id]).map_err(to_audit_error)?, &names)?;
            if record.as_ref().is_none_or(|(_, record)| record.outcome.is_some()) {
                self.running.remove(&id);
                record.into_iter().for_each(|(_, record)| each(record));
            }
        }
        let mut new_rows = self.connection.prepare_cached(NEW_ROWS_SQL).map_err(to_audit_error)?;
        let names = column_names(&new_rows);
        let mut rows = new_rows.query([self.last_row]).map_err(to_audit_error)?;
        while let Some((id, record)) = next_record(&mut rows, &names)? {
            self.last_row = id;
            if record.outcome.is_none() {
                self.running.insert(id);
            }
            each(record);
        }
        Ok(())
    }

    fn record(&mut self, id: &str) -> Result<Option<AuditRecord>, AuditError> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        let mut by_id = self.connection.prepare_cached(ROW_SQL).map_err(to_audit_error)?;
        let names = column_names(&by_id);
        let record = next_record(&mut by_id.query([id]).map_err(to_audit_error)?, &names)?;
        Ok(record.map(|(_, record)| record))
    }

    fn again(&self) -> Result<Box<dyn AuditLog>, AuditError> {
        Ok(Box::new(Log::open(&self.path)?))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// Returns the names of the columns. An old table has only the first nine, see [`SqliteSink`](super::SqliteSink).
fn column_names(statement: &Statement<'_>) -> Vec<String> {
    statement.column_names().into_iter().map(str::to_owned).collect()
}

/// Returns the next row, with its ID.
fn next_record(rows: &mut Rows<'_>, names: &[String]) -> Result<Option<(i64, AuditRecord)>, AuditError> {
    let Some(row) = rows.next().map_err(to_audit_error)? else { return Ok(None) };
    let mut members = row_members(row, names).map_err(to_audit_error)?;
    let mut take = |name: &str| members.remove(name).unwrap_or_default();
    let (id, parent, owner) = (take("id").as_i64().unwrap_or(0), take("parent").as_i64(), take("owner"));
    let is_error = members.contains_key("error");
    // An old table only states whether there was an error.
    members.entry("status").or_insert_with(|| json!(if is_error { "error" } else { "ok" }));
    members.entry("is_error").or_insert_with(|| json!(is_error));
    let owner = owner.as_str().unwrap_or_default().to_owned();
    let parent = parent.map(|parent| parent.to_string());
    AuditRecord::read(id.to_string(), parent, owner, members.into()).map(|record| Some((id, record)))
}

/// Returns the columns that are not NULL, as JSON.
fn row_members(row: &Row<'_>, names: &[String]) -> Result<Map<String, Value>, rusqlite::Error> {
    let mut members = Map::new();
    for (index, name) in names.iter().enumerate() {
        let value = match (row.get_ref(index)?, name.as_str()) {
            (ValueRef::Null, _) => continue,
            (ValueRef::Integer(number), "approved" | "is_error") => Value::Bool(number != 0),
            (ValueRef::Integer(number), "duration_ms" | "turn") => json!(number.max(0)),
            (ValueRef::Integer(number), _) => json!(number),
            (ValueRef::Real(number), _) => json!(number),
            // Invalid JSON is returned as a string.
            (ValueRef::Text(text), "parameters" | "result") => serde_json::from_slice(text)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(text).into_owned())),
            (ValueRef::Text(text) | ValueRef::Blob(text), _) => {
                Value::from(String::from_utf8_lossy(text).into_owned())
            }
        };
        members.insert(name.clone(), value);
    }
    Ok(members)
}
