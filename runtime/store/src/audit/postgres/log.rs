//! Reads the audit log in a PostgreSQL database.

use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::{Client, IsolationLevel, Row};
use toolgen_record::audit::{AuditError, AuditLog, AuditRecord};

use crate::postgres::target::Target;

/// Maximum number of rows per fetch, and of records that wait for their reader.
const FETCH_ROWS: i32 = 500;

/// The columns of a record, in the order of [`record`].
const COLUMNS: &str = "id, parent, owner, coalesce(turn, 0), session_id, agent_id, principal, tool_name, tool_call_id, \
                       parameters::text, to_char(timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), \
                       spec_hash, attempt, approved, approved_by, status, result::text, error, error_code, \
                       coalesce(is_error, false), coalesce(duration_ms, 0), changed";

/// The time limits for connecting, and for each response of the server. A suspended server, or a proxy without a
/// server, accepts connections but never responds.
const TIMEOUTS: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(60));

/// The table of a `PostgresSink`.
pub(crate) struct PostgresLog {
    target: Target,
    /// `None` only while a task runs or the log is dropped.
    runtime: Option<Runtime>,
    client: Option<Client>,
    /// The first transaction with changes that were not read.
    first_unread: i64,
    /// The rows of this and later transactions that were already read: the ID of each row, and its transaction.
    read_rows: BTreeMap<i64, i64>,
}

impl PostgresLog {
    pub(crate) fn open(url: &str) -> Result<PostgresLog, AuditError> {
        PostgresLog::connect(Target::parse(url).map_err(AuditError::new)?)
    }

    fn connect(target: Target) -> Result<PostgresLog, AuditError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (client, read_rows) = (None, BTreeMap::new());
        let mut log = PostgresLog { target, runtime: Some(runtime), client, first_unread: 0, read_rows };
        log.run_on_thread(async |log| {
            let table_exists = "SELECT to_regclass('tool_executions') IS NOT NULL";
            let target = log.target.clone();
            let client = log.client().await?;
            match response_of(&target, client.query_one(table_exists, &[])).await?.get(0) {
                true => Ok(()),
                false => Err(AuditError::new(format!(
                    "{}: the database contains no audit records (`tool_executions`)",
                    target.redacted_url
                ))),
            }
        })?;
        Ok(log)
    }

    /// Runs a function on a separate thread: the caller may be in a runtime, which must not block on another runtime.
    fn run_on_thread<T: Send>(
        &mut self,
        task: impl AsyncFnOnce(&mut PostgresLog) -> Result<T, AuditError> + Send,
    ) -> Result<T, AuditError> {
        let thread_ended = || AuditError::new("the thread that reads the database has ended");
        let Some(runtime) = self.runtime.take() else { return Err(thread_ended()) };
        let (runtime, result) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let result = runtime.block_on(task(self));
                (runtime, result)
            });
            thread.join().map_err(|_| thread_ended())
        })?;
        self.runtime = Some(runtime);
        if result.is_err() {
            // The next read opens a new connection.
            self.client = None;
        }
        result
    }

    async fn client(&mut self) -> Result<&mut Client, AuditError> {
        let client = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => {
                let target = &self.target;
                let (connect_limit, response_limit) = TIMEOUTS;
                // The server also cancels the statement when the client has stopped waiting.
                let set_timeout = format!("SET statement_timeout = {}", response_limit.as_millis());
                with_time_limit(target, connect_limit, async {
                    let client = target.connect().await?;
                    client.batch_execute(&set_timeout).await?;
                    Ok(client)
                })
                .await?
            }
        };
        Ok(self.client.insert(client))
    }

    /// Reads the changes of transactions that were not read yet. Transactions that are still running are read again
    /// next time, no matter how late they commit.
    async fn read(&mut self, sender: &SyncSender<AuditRecord>) -> Result<(), AuditError> {
        let (target, first_unread) = (self.target.clone(), self.first_unread);
        let old_rows = std::mem::take(&mut self.read_rows);
        let client = self.client().await?;
        let builder =
            client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
        let transaction = response_of(&target, builder.start()).await?;
        let snapshot = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
        let oldest_running: i64 = response_of(&target, transaction.query_one(snapshot, &[])).await?.get(0);
        let query = if first_unread == 0 {
            format!("SELECT {COLUMNS} FROM tool_executions WHERE changed >= $1 ORDER BY timestamp, id")
        } else {
            // There are few changes, but a server without statistics does not know that.
            response_of(&target, transaction.batch_execute("SET LOCAL enable_seqscan = off")).await?;
            format!(
                "WITH new AS MATERIALIZED (SELECT * FROM tool_executions WHERE changed >= $1) \
                 SELECT {COLUMNS} FROM new ORDER BY timestamp, id"
            )
        };
        let portal = response_of(&target, transaction.bind(&query, &[&first_unread])).await?;
        let mut rows_read = BTreeMap::new();
        loop {
            let rows = response_of(&target, transaction.query_portal(&portal, FETCH_ROWS)).await?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                let (id, changed): (i64, i64) = (row.get(0), row.get(21));
                if changed >= oldest_running {
                    rows_read.insert(id, changed);
                }
                if old_rows.get(&id) != Some(&changed) && sender.send(record(&target, &row)?).is_err() {
                    // The reader was dropped.
                    return Ok(());
                }
            }
        }
        response_of(&target, transaction.commit()).await?;
        (self.first_unread, self.read_rows) = (oldest_running, rows_read);
        Ok(())
    }
}

impl AuditLog for PostgresLog {
    fn changes(&mut self, each: &mut dyn FnMut(AuditRecord)) -> Result<(), AuditError> {
        let (sender, receiver) = sync_channel(usize::try_from(FETCH_ROWS).unwrap_or(1));
        let thread_ended = || AuditError::new("the thread that reads the database has ended");
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || self.run_on_thread(async move |log| log.read(&sender).await));
            for record in receiver {
                each(record);
            }
            thread.join().unwrap_or_else(|_| Err(thread_ended()))
        })
    }

    fn record(&mut self, id: &str) -> Result<Option<AuditRecord>, AuditError> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        self.run_on_thread(async move |log| {
            let target = log.target.clone();
            let query = format!("SELECT {COLUMNS} FROM tool_executions WHERE id = $1");
            let row = response_of(&target, log.client().await?.query_opt(&query, &[&id])).await?;
            row.as_ref().map(|row| record(&target, row)).transpose()
        })
    }

    fn again(&self) -> Result<Box<dyn AuditLog>, AuditError> {
        Ok(Box::new(PostgresLog::connect(self.target.clone())?))
    }

    fn name(&self) -> String {
        self.target.redacted_url.clone()
    }
}

/// Waits for a response of the server, with a time limit.
async fn response_of<T>(
    target: &Target,
    response: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, AuditError> {
    with_time_limit(target, TIMEOUTS.1, response).await
}

async fn with_time_limit<T>(
    target: &Target,
    limit: Duration,
    response: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, AuditError> {
    match timeout(limit, response).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(reason)) => Err(AuditError::new(target.error(&reason))),
        Err(_) => Err(AuditError::new(format!(
            "{}: no response within {limit:?}; check that the server is running and reachable",
            target.redacted_url
        ))),
    }
}

impl Drop for PostgresLog {
    fn drop(&mut self) {
        self.client = None;
        if let Some(runtime) = self.runtime.take() {
            // Unlike dropping the runtime, this also works within another runtime.
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for PostgresLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("database", &self.target.redacted_url).finish_non_exhaustive()
    }
}

fn record(target: &Target, row: &Row) -> Result<AuditRecord, AuditError> {
    let text = |column: usize| row.try_get::<_, Option<String>>(column);
    let number = |column: usize| row.try_get::<_, i64>(column).map(|number| number.max(0));
    // Invalid JSON is returned as a string.
    let json = |column: usize| {
        let parsed = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok::<_, tokio_postgres::Error>(text(column)?.map(parsed))
    };
    let read = || {
        let members = json!({
            "turn": number(3)?, "session_id": text(4)?, "agent_id": text(5)?, "principal": text(6)?,
            "tool_name": text(7)?, "tool_call_id": text(8)?, "parameters": json(9)?, "timestamp": text(10)?,
            "spec_hash": text(11)?, "attempt": number(12)?, "approved": row.try_get::<_, bool>(13)?,
            "approved_by": text(14)?, "status": text(15)?, "result": json(16)?, "error": text(17)?,
            "error_code": text(18)?, "is_error": row.try_get::<_, bool>(19)?, "duration_ms": number(20)?,
        });
        let parent = row.try_get::<_, Option<i64>>(1)?.map(|parent| parent.to_string());
        Ok((row.try_get::<_, i64>(0)?.to_string(), parent, row.try_get(2)?, members))
    };
    let (id, parent, owner, members) = read().map_err(|reason| AuditError::new(target.error(&reason)))?;
    AuditRecord::read(id, parent, owner, members)
}
