//! Records from a database.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::FromSql;
use rusqlite::{Connection, OpenFlags, Row, Statement};
use serde_json::Value;

use super::{AuditError, AuditIntent, AuditOutcome, AuditRecord, AuditStatus};
use crate::base::frozen::Text;
use crate::call::codes;
use crate::layers::audit::data::named;
use crate::layers::sqlite::stores;

/// The table of a [`SqliteSink`](super::super::SqliteSink).
#[derive(Debug)]
pub(super) struct Rows {
    path: PathBuf,
    connection: Connection,
    /// The last row that was read.
    last: i64,
    /// The rows of calls without an outcome.
    running: BTreeSet<i64>,
}

const NEW: &str = "SELECT * FROM tool_executions WHERE id > ?1 ORDER BY id";
const ONE: &str = "SELECT * FROM tool_executions WHERE id = ?1";

impl Rows {
    pub(super) fn open(path: &Path) -> Result<Rows, AuditError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        let lacking = "it is a database without records of calls (`tool_executions`)";
        if !stores(&connection, "tool_executions")? {
            return Err(AuditError::new(lacking));
        }
        connection.prepare(ONE).map_err(|why| AuditError::new(format!("{lacking}: {why}")))?;
        Ok(Rows { path: path.to_owned(), connection, last: 0, running: BTreeSet::new() })
    }

    pub(super) fn path(&self) -> &PathBuf {
        &self.path
    }

    pub(super) fn changes(&mut self, each: &mut dyn FnMut(AuditRecord)) -> Result<(), AuditError> {
        let mut ended = Vec::new();
        let mut one = self.connection.prepare_cached(ONE)?;
        let columns = Columns::of(&one);
        for id in &self.running {
            let mut rows = one.query([id])?;
            let Some(row) = rows.next()? else {
                ended.push(*id);
                continue;
            };
            let record = columns.record(row)?;
            if record.outcome.is_some() {
                ended.push(*id);
                each(record);
            }
        }
        for id in ended {
            self.running.remove(&id);
        }
        let mut new = self.connection.prepare_cached(NEW)?;
        let columns = Columns::of(&new);
        let mut rows = new.query([self.last])?;
        while let Some(row) = rows.next()? {
            let record = columns.record(row)?;
            self.last = row.get(columns.id)?;
            if record.outcome.is_none() {
                self.running.insert(self.last);
            }
            each(record);
        }
        Ok(())
    }

    pub(super) fn record(&mut self, id: &str) -> Result<Option<AuditRecord>, AuditError> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        let mut one = self.connection.prepare_cached(ONE)?;
        let columns = Columns::of(&one);
        let mut rows = one.query([id])?;
        rows.next()?.map(|row| columns.record(row)).transpose()
    }
}

/// Where the columns are. An old table has only the first nine, see [`SqliteSink`](super::super::SqliteSink).
struct Columns {
    id: usize,
    names: Vec<String>,
}

impl Columns {
    fn of(statement: &Statement<'_>) -> Columns {
        let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        Columns { id: names.iter().position(|name| name == "id").unwrap_or(0), names }
    }

    /// Returns the value of a column. `None` if there is no such column, or it is NULL.
    fn get<T: FromSql>(&self, row: &Row<'_>, name: &str) -> Result<Option<T>, rusqlite::Error> {
        match self.names.iter().position(|known| known == name) {
            Some(index) => row.get(index),
            None => Ok(None),
        }
    }

    fn text(&self, row: &Row<'_>, name: &str) -> Result<Text, rusqlite::Error> {
        Ok(self.get::<String>(row, name)?.unwrap_or_default().into())
    }

    /// Returns the value of a column with JSON, or its text if that is not JSON.
    fn json(&self, row: &Row<'_>, name: &str) -> Result<Value, rusqlite::Error> {
        let text: Option<String> = self.get(row, name)?;
        Ok(text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    fn record(&self, row: &Row<'_>) -> Result<AuditRecord, AuditError> {
        let parent: Option<i64> = self.get(row, "parent")?;
        Ok(AuditRecord {
            id: row.get::<_, i64>(self.id)?.to_string(),
            parent: parent.map(|parent| parent.to_string()),
            owner: self.get(row, "owner")?.unwrap_or_default(),
            intent: AuditIntent {
                key: 0,
                parent: 0,
                turn: self.get::<i64>(row, "turn")?.and_then(|turn| turn.try_into().ok()).unwrap_or(0),
                session_id: self.text(row, "session_id")?,
                agent_id: self.text(row, "agent_id")?,
                principal: self.text(row, "principal")?,
                tool_name: self.text(row, "tool_name")?,
                tool_call_id: self.text(row, "tool_call_id")?,
                parameters: self.json(row, "parameters")?,
                timestamp: self.get(row, "timestamp")?.unwrap_or_default(),
                spec_hash: self.text(row, "spec_hash")?,
                attempt: self.get(row, "attempt")?.unwrap_or(1),
                approved: self.get(row, "approved")?.unwrap_or(false),
                approved_by: named(self.get::<String>(row, "approved_by")?.map(Text::from)),
            },
            outcome: self.outcome(row)?,
        })
    }

    fn outcome(&self, row: &Row<'_>) -> Result<Option<AuditOutcome>, rusqlite::Error> {
        let error: Option<String> = self.get(row, "error")?;
        // An old table says only whether there is an error.
        let old = if error.is_some() { AuditStatus::Error } else { AuditStatus::Ok };
        let status: Option<String> = self.get(row, "status")?;
        let status = status.map_or(old, |name| AuditStatus::of(&name).unwrap_or(AuditStatus::Unknown));
        if status == AuditStatus::Started {
            return Ok(None);
        }
        let millis: Option<i64> = self.get(row, "duration_ms")?;
        Ok(Some(AuditOutcome {
            status,
            result: self.json(row, "result")?,
            is_error: self.get(row, "is_error")?.unwrap_or(error.is_some()),
            error,
            error_code: self
                .get::<String>(row, "error_code")?
                .map(|code| codes::current(&code).to_owned().into()),
            duration: Duration::from_millis(millis.and_then(|millis| millis.try_into().ok()).unwrap_or(0)),
        }))
    }
}
