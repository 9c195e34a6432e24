//! Records to be written to the database, and the statement that writes them.

use std::ops::Range;

use serde_json::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};
use toolgen_kernel::base::frozen::Text;
use toolgen_record::audit::{AuditError, AuditIntent, AuditOutcome, AuditStatus};

/// Maximum number of rows, and approximate maximum number of bytes, per batch.
const MAX_BATCH: (usize, usize) = (4096, 8 << 20);

/// Writes rows idempotently: an existing intent is not changed, and an outcome is written once. If it is unknown
/// whether rows were written, they can be written again. The real outcome of a call replaces `unknown`.
const WRITE: &str = "
    INSERT INTO tool_executions AS known (id, timestamp, parent, turn, attempt, approved, session_id, agent_id, principal,
        tool_name, tool_call_id, spec_hash, approved_by, parameters, status, result, error, error_code, is_error,
        duration_ms, owner)
    SELECT id, at::timestamptz, parent, turn, attempt, approved, session_id, agent_id, principal, tool_name,
        tool_call_id, spec_hash, approved_by, parameters::json, status, result::json, error, error_code, is_error,
        duration_ms, $21
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
        AS given (id, at, parent, turn, attempt, approved, session_id, agent_id, principal, tool_name, tool_call_id,
        spec_hash, approved_by, parameters, status, result, error, error_code, is_error, duration_ms)
    ON CONFLICT (id, timestamp) DO UPDATE SET status = excluded.status, result = excluded.result,
        error = excluded.error, error_code = excluded.error_code, is_error = excluded.is_error,
        duration_ms = excluded.duration_ms, changed = pg_current_xact_id()::text::bigint
    WHERE excluded.status <> 'started'
        AND (known.status = 'started' OR (known.status = 'unknown' AND excluded.status <> 'unknown'))";

/// Prepares the statement for [`write`].
pub(super) async fn prepare(client: &Client) -> Result<Statement, tokio_postgres::Error> {
    let (number, text, boolean) = (Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::BOOL_ARRAY);
    let mut types =
        vec![number.clone(), text.clone(), number.clone(), number.clone(), number.clone(), boolean.clone()];
    types.extend(vec![text; 12]);
    types.extend([boolean, number, Type::TEXT]);
    client.prepare_typed(WRITE, &types).await
}

/// Maximum length of a string in a row, in bytes. PostgreSQL allows four times this length, but no useful record is
/// that long.
const MAX_TEXT_BYTES: usize = 256 << 20;

/// The row of a call, with the data that is known so far.
#[derive(Debug)]
pub(super) struct Row {
    /// The keys of the call and of its outer call.
    pub(super) key: u64,
    pub(super) outer: u64,
    /// The database IDs of both calls, if they are known.
    pub(super) id: Option<i64>,
    pub(super) parent: Option<i64>,
    /// Number of records in the row: the intent, and the outcome.
    pub(super) records: usize,
    intent: AuditIntent,
    parameters: String,
    outcome: Option<OutcomeColumns>,
}

/// The columns that an outcome sets.
#[derive(Debug)]
struct OutcomeColumns {
    status: AuditStatus,
    result: Option<String>,
    error: Option<String>,
    code: Option<String>,
    is_error: bool,
    duration_ms: i64,
}

/// Replaces NUL characters, which PostgreSQL does not support.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn check_length(text: &str, part: &str, tool: &str) -> Result<(), AuditError> {
    if text.len() <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let (length, max) = (text.len() >> 20, MAX_TEXT_BYTES >> 20);
    Err(AuditError::new(format!(
        "the {part} of a call of `{tool}` have {length} MiB, more than the {max} of a record"
    )))
}

impl Row {
    /// Creates the row for an intent.
    pub(super) fn new(intent: &AuditIntent) -> Result<Row, AuditError> {
        let parameters = intent.parameters.to_string();
        check_length(&parameters, "arguments", intent.tool_name.as_str())?;
        let cleaned = |text: &Text| match text.as_str() {
            value if value.contains('\0') => without_nul(value).into(),
            _ => text.clone(),
        };
        let mut intent = intent.clone();
        for text in [
            &mut intent.session_id,
            &mut intent.agent_id,
            &mut intent.principal,
            &mut intent.tool_name,
            &mut intent.tool_call_id,
        ] {
            *text = cleaned(text);
        }
        intent.approved_by = intent.approved_by.as_ref().map(cleaned);
        // The text of the parameters is written instead.
        intent.parameters = Value::Null;
        let (key, outer) = (intent.key, intent.parent);
        Ok(Row { key, outer, id: None, parent: None, records: 1, intent, parameters, outcome: None })
    }

    /// Adds the outcome.
    pub(super) fn end(&mut self, outcome: &AuditOutcome) -> Result<(), AuditError> {
        // A JSON null is stored as SQL NULL, not as its text.
        let result = (!outcome.result.is_null()).then(|| outcome.result.to_string());
        let error = outcome.error.as_deref().map(without_nul);
        for text in [&result, &error].into_iter().flatten() {
            check_length(text, "results", self.intent.tool_name.as_str())?;
        }
        self.outcome = Some(OutcomeColumns {
            status: outcome.status,
            result,
            error,
            code: outcome.error_code.as_deref().map(without_nul),
            is_error: outcome.is_error,
            duration_ms: outcome.duration_ms(),
        });
        Ok(())
    }

    /// Whether the call has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.outcome.is_some()
    }

    /// Returns the day of the call, such as `2026-01-31`.
    pub(super) fn day(&self) -> &str {
        self.intent.timestamp.get(..10).unwrap_or_default()
    }

    /// Returns the approximate size of the row on the wire, in bytes.
    pub(super) fn size(&self) -> usize {
        let outcome = self.outcome.as_ref();
        let result = outcome.and_then(|outcome| outcome.result.as_ref()).map_or(0, String::len);
        let error = outcome.and_then(|outcome| outcome.error.as_ref()).map_or(0, String::len);
        512 + self.parameters.len() + result + error
    }
}

/// Writes rows of different calls in one transaction.
pub(super) async fn write(
    client: &Client,
    statement: &Statement,
    owner: &str,
    rows: &[Row],
) -> Result<(), tokio_postgres::Error> {
    fn column<'r, T>(rows: &'r [Row], value: impl Fn(&'r Row) -> T) -> Vec<T> {
        rows.iter().map(value).collect()
    }
    let status =
        |row: &Row| row.outcome.as_ref().map_or(AuditStatus::Started, |outcome| outcome.status).as_str();
    client
        .execute(
            statement,
            &[
                &column(rows, |row| row.id),
                &column(rows, |row| row.intent.timestamp.as_str()),
                &column(rows, |row| row.parent),
                &column(rows, |row| i64::try_from(row.intent.turn).ok().filter(|turn| *turn > 0)),
                &column(rows, |row| i64::from(row.intent.attempt)),
                &column(rows, |row| row.intent.approved),
                &column(rows, |row| row.intent.session_id.as_str()),
                &column(rows, |row| row.intent.agent_id.as_str()),
                &column(rows, |row| row.intent.principal.as_str()),
                &column(rows, |row| row.intent.tool_name.as_str()),
                &column(rows, |row| row.intent.tool_call_id.as_str()),
                &column(rows, |row| row.intent.spec_hash.as_str()),
                &column(rows, |row| row.intent.approved_by.as_deref()),
                &column(rows, |row| row.parameters.as_str()),
                &column(rows, status),
                &column(rows, |row| row.outcome.as_ref().and_then(|outcome| outcome.result.as_deref())),
                &column(rows, |row| row.outcome.as_ref().and_then(|outcome| outcome.error.as_deref())),
                &column(rows, |row| row.outcome.as_ref().and_then(|outcome| outcome.code.as_deref())),
                &column(rows, |row| row.outcome.as_ref().map(|outcome| outcome.is_error)),
                &column(rows, |row| row.outcome.as_ref().map(|outcome| outcome.duration_ms)),
                &owner,
            ],
        )
        .await
        .map(drop)
}

/// Splits rows into batches.
pub(super) fn batches(rows: &[Row]) -> Vec<Range<usize>> {
    let (mut batches, mut start, mut size) = (Vec::new(), 0, 0);
    for (index, row) in rows.iter().enumerate() {
        size += row.size();
        if index + 1 - start >= MAX_BATCH.0 || size >= MAX_BATCH.1 {
            batches.push(start..index + 1);
            (start, size) = (index + 1, 0);
        }
    }
    if start < rows.len() {
        batches.push(start..rows.len());
    }
    batches
}
