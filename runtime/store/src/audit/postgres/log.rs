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
const CONNECT_TIMEOUT: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(60));

/// The table of a `PostgresSink`.
pub(crate) struct PostgresLog {
    target: Target,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    client: Option<Client>,
    /// The first transaction whose changes were not all read.
    since: i64,
    /// The rows that were read of this transaction and later ones: the ID of each row, and its transaction.
    seen: BTreeMap<i64, i64>,
}

impl PostgresLog {
    pub(crate) fn open(url: &str) -> Result<PostgresLog, AuditError> {
        PostgresLog::to(Target::of(url).map_err(AuditError::new)?)
    }

    fn to(target: Target) -> Result<PostgresLog, AuditError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (client, seen) = (None, BTreeMap::new());
        let mut remote = PostgresLog { target, runtime: Some(runtime), client, since: 0, seen };
        remote.outside(async |remote| {
            let there = "SELECT to_regclass('tool_executions') IS NOT NULL";
            let target = remote.target.clone();
            let client = remote.client().await?;
            match answered(&target, client.query_one(there, &[])).await?.get(0) {
                true => Ok(()),
                false => Err(AuditError::new(format!(
                    "{}: the database contains no audit records (`tool_executions`)",
                    target.shown
                ))),
            }
        })?;
        Ok(remote)
    }

    /// Runs a function on a separate thread: the caller may be in a runtime, which must not block on another runtime.
    fn outside<T: Send>(
        &mut self,
        run: impl AsyncFnOnce(&mut PostgresLog) -> Result<T, AuditError> + Send,
    ) -> Result<T, AuditError> {
        let gone = || AuditError::new("the thread that reads the database has ended");
        let Some(runtime) = self.runtime.take() else { return Err(gone()) };
        let (runtime, done) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let done = runtime.block_on(run(self));
                (runtime, done)
            });
            thread.join().map_err(|_| gone())
        })?;
        self.runtime = Some(runtime);
        if done.is_err() {
            // The next read opens a new connection.
            self.client = None;
        }
        done
    }

    async fn client(&mut self) -> Result<&mut Client, AuditError> {
        let client = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => {
                let target = &self.target;
                let (connecting, answering) = CONNECT_TIMEOUT;
                // The server also cancels the statement when the client has stopped waiting.
                let limit = format!("SET statement_timeout = {}", answering.as_millis());
                within(target, connecting, async {
                    let client = target.connect().await?;
                    client.batch_execute(&limit).await?;
                    Ok(client)
                })
                .await?
            }
        };
        Ok(self.client.insert(client))
    }

    /// Reads the changes of transactions that were not read yet. Transactions that are still running are read again
    /// next time, no matter how late they commit.
    async fn read(&mut self, read: &SyncSender<AuditRecord>) -> Result<(), AuditError> {
        let (target, since) = (self.target.clone(), self.since);
        let known = std::mem::take(&mut self.seen);
        let client = self.client().await?;
        let now = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
        let now = answered(&target, now.start()).await?;
        let running = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
        let running: i64 = answered(&target, now.query_one(running, &[])).await?.get(0);
        let new = if since == 0 {
            format!("SELECT {COLUMNS} FROM tool_executions WHERE changed >= $1 ORDER BY timestamp, id")
        } else {
            // The changes are few, but a server without statistics does not know that.
            answered(&target, now.batch_execute("SET LOCAL enable_seqscan = off")).await?;
            format!(
                "WITH new AS MATERIALIZED (SELECT * FROM tool_executions WHERE changed >= $1) \
                 SELECT {COLUMNS} FROM new ORDER BY timestamp, id"
            )
        };
        let new = answered(&target, now.bind(&new, &[&since])).await?;
        let mut seen = BTreeMap::new();
        loop {
            let rows = answered(&target, now.query_portal(&new, FETCH_ROWS)).await?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                let (id, changed): (i64, i64) = (row.get(0), row.get(21));
                if changed >= running {
                    seen.insert(id, changed);
                }
                if known.get(&id) != Some(&changed) && read.send(record(&target, &row)?).is_err() {
                    // The reader was dropped.
                    return Ok(());
                }
            }
        }
        answered(&target, now.commit()).await?;
        (self.since, self.seen) = (running, seen);
        Ok(())
    }
}

impl AuditLog for PostgresLog {
    fn changes(&mut self, each: &mut dyn FnMut(AuditRecord)) -> Result<(), AuditError> {
        let (read, taken) = sync_channel(usize::try_from(FETCH_ROWS).unwrap_or(1));
        let gone = || AuditError::new("the thread that reads the database has ended");
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || self.outside(async move |remote| remote.read(&read).await));
            for record in taken {
                each(record);
            }
            reading.join().unwrap_or_else(|_| Err(gone()))
        })
    }

    fn record(&mut self, id: &str) -> Result<Option<AuditRecord>, AuditError> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        self.outside(async move |remote| {
            let target = remote.target.clone();
            let one = format!("SELECT {COLUMNS} FROM tool_executions WHERE id = $1");
            let row = answered(&target, remote.client().await?.query_opt(&one, &[&id])).await?;
            row.as_ref().map(|row| record(&target, row)).transpose()
        })
    }

    fn again(&self) -> Result<Box<dyn AuditLog>, AuditError> {
        Ok(Box::new(PostgresLog::to(self.target.clone())?))
    }

    fn name(&self) -> String {
        self.target.shown.clone()
    }
}

/// Waits for a response of the server, with a time limit.
async fn answered<T>(
    target: &Target,
    response: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, AuditError> {
    within(target, CONNECT_TIMEOUT.1, response).await
}

async fn within<T>(
    target: &Target,
    limit: Duration,
    response: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, AuditError> {
    match timeout(limit, response).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(reason)) => Err(AuditError::new(target.error(&reason))),
        Err(_) => Err(AuditError::new(format!(
            "{}: no response within {limit:?}; check that the server is running and reachable",
            target.shown
        ))),
    }
}

impl Drop for PostgresLog {
    fn drop(&mut self) {
        self.client = None;
        if let Some(runtime) = self.runtime.take() {
            // This also works in a runtime.
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for PostgresLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("database", &self.target.shown).finish_non_exhaustive()
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
