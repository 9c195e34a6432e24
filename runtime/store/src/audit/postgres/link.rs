//! The connection to the database, and its writer.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio_postgres::{Client, Statement};
use toolgen_record::audit::{AuditError, AuditStatus};

use super::rows::{self, Row};
use super::schema;
use crate::postgres::target::Target;

/// The settings of a sink.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) target: Target,
    /// The name of the program; empty if it has none.
    pub(super) name: String,
    pub(super) lease: Duration,
    pub(super) wait_timeout: Duration,
    pub(super) retention: Option<Duration>,
}

/// The error of a task.
pub(super) enum TaskError {
    Database(tokio_postgres::Error),
    /// The error is temporary.
    Busy(AuditError),
    /// A retry does not help.
    Final(AuditError),
}

impl From<tokio_postgres::Error> for TaskError {
    fn from(error: tokio_postgres::Error) -> Self {
        TaskError::Database(error)
    }
}

/// A connection that is ready to write.
pub(super) struct WriterConnection {
    pub(super) client: Client,
    write: Statement,
    /// The days whose partitions exist.
    pub(super) days: BTreeSet<String>,
    /// Whether the connection holds the lock that shows that the writer is alive.
    holds_lock: bool,
}

/// The row of a sink in the table of writers.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) number: i32,
    /// The value of the column `owner` in its records.
    pub(super) owner: String,
}

/// Acquires the lock of a writer. The server holds it as long as the connection exists.
const WRITER_LOCK_SQL: &str =
    "SELECT pg_try_advisory_lock(hashtext('toolgen audit writer ' || current_schema()), $1)";
/// Acquires the lock of the program's name, which only one program may hold at a time.
const NAME_LOCK_SQL: &str =
    "SELECT pg_try_advisory_lock(hashtext('toolgen audit name ' || current_schema()), hashtext($1::text))";

impl WriterConnection {
    /// Connects, and records that the writer is alive.
    pub(super) async fn open(
        setup: &Setup,
        writer: &mut Option<Writer>,
    ) -> Result<WriterConnection, TaskError> {
        let mut client = setup.target.connect().await?;
        // Commits wait for the disk, regardless of the server's default. With keepalives, a machine that disappears
        // does not hold its locks for hours.
        client
            .batch_execute(
                "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
                 SET client_min_messages = warning; SET timezone = 'UTC';
                 SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4",
            )
            .await?;
        schema::migrate(&mut client, &setup.target).await.map_err(TaskError::Final)?;
        let write = rows::prepare(&client).await?;
        let mut connection = WriterConnection { client, write, days: BTreeSet::new(), holds_lock: false };
        let registered = match writer {
            Some(registered) => registered.clone(),
            None => {
                let new_writer = connection.register(setup).await?;
                writer.insert(new_writer).clone()
            }
        };
        connection.send_heartbeat(setup, &registered).await?;
        Ok(connection)
    }

    async fn register(&self, setup: &Setup) -> Result<Writer, TaskError> {
        if !setup.name.is_empty()
            && !self.client.query_one(NAME_LOCK_SQL, &[&setup.name]).await?.get::<_, bool>(0)
        {
            // The other program may have just ended. The server releases its lock as soon as it notices.
            let (url, name) = (&setup.target.redacted_url, &setup.name);
            return Err(TaskError::Busy(AuditError::new(format!(
                "{url}: another program writes its records as `{name}`: stop it, or give this one another name"
            ))));
        }
        let next = "SELECT nextval('tool_audit_numbers')::integer";
        let number: i32 = self.client.query_one(next, &[]).await?.get(0);
        let owner =
            if setup.name.is_empty() { number.to_string() } else { format!("{}-{number}", setup.name) };
        Ok(Writer { number, owner })
    }

    /// Updates the heartbeat of the writer.
    pub(super) async fn send_heartbeat(
        &mut self,
        setup: &Setup,
        writer: &Writer,
    ) -> Result<(), tokio_postgres::Error> {
        let Writer { number, owner } = writer;
        let upsert = "INSERT INTO tool_audit_writers (number, owner, name, seen, lease) \
                    VALUES ($1, $2, $3, now(), make_interval(secs => $4)) \
                    ON CONFLICT (number) DO UPDATE SET seen = now()";
        self.client.execute(upsert, &[number, owner, &setup.name, &setup.lease.as_secs_f64()]).await?;
        if !self.holds_lock {
            // The lock may be held by a broken connection of this writer that the server has not noticed yet, or by
            // another writer that checks this lock. Until the next heartbeat, the time of this heartbeat shows that the
            // writer is alive.
            self.holds_lock = self.client.query_one(WRITER_LOCK_SQL, &[number]).await?.get(0);
            if !setup.name.is_empty() {
                self.client.query_one(NAME_LOCK_SQL, &[&setup.name]).await?;
            }
        }
        Ok(())
    }

    /// Creates the partition of a day if it does not exist.
    async fn ensure_partition(
        &mut self,
        day: &str,
        with_next_days: bool,
    ) -> Result<(), tokio_postgres::Error> {
        if !self.days.contains(day) {
            schema::create_partitions(&mut self.client, day, with_next_days).await?;
            self.days.insert(day.to_owned());
        }
        Ok(())
    }

    /// Writes rows, and creates the partitions that they need.
    pub(super) async fn write(&mut self, owner: &str, rows: &[Row]) -> Result<(), tokio_postgres::Error> {
        for row in rows {
            self.ensure_partition(row.day(), false).await?;
        }
        rows::write(&self.client, &self.write, owner, rows).await
    }

    /// Creates the partitions of the coming days, and drops those beyond the retention.
    pub(super) async fn maintain(&mut self, setup: &Setup, today: &str) -> Result<(), tokio_postgres::Error> {
        schema::create_partitions(&mut self.client, today, true).await?;
        if let Some(retention) = setup.retention
            && schema::drop_partitions(&mut self.client, retention).await? > 0
        {
            self.days.clear();
        }
        Ok(())
    }

    /// Closes the calls of writers that have ended, and returns their number.
    pub(super) async fn recover(
        &mut self,
        setup: &Setup,
        writer: &Writer,
    ) -> Result<usize, tokio_postgres::Error> {
        // A server that was down for long has no recent heartbeats.
        let dead_writers = "SELECT number, owner FROM tool_audit_writers WHERE number <> $1 AND (($2 <> '' AND name = $2) \
                    OR seen = '-infinity' OR (seen + lease < now() AND pg_postmaster_start_time() + lease < now()))";
        let lock =
            "SELECT pg_try_advisory_xact_lock(hashtext('toolgen audit writer ' || current_schema()), $1)";
        let mut closed_calls = 0;
        for row in self.client.query(dead_writers, &[&writer.number, &setup.name]).await? {
            let (number, owner): (i32, String) = (row.get(0), row.get(1));
            let transaction = self.client.transaction().await?;
            if transaction.query_one(lock, &[&number]).await?.get::<_, bool>(0) {
                closed_calls += close_calls(transaction.client(), "owner = $4", &owner).await?;
                transaction.execute("DELETE FROM tool_audit_writers WHERE number = $1", &[&number]).await?;
            }
            transaction.commit().await?;
        }
        // Some calls have no known writer, for example after a dump was restored without the writers.
        let without_writer = "owner <> $4 AND owner NOT IN (SELECT owner FROM tool_audit_writers)";
        closed_calls += close_calls(&self.client, without_writer, &writer.owner).await?;
        Ok(usize::try_from(closed_calls).unwrap_or(usize::MAX))
    }

    /// Records that the writer has ended.
    pub(super) async fn end(&self, writer: &Writer) -> Result<(), tokio_postgres::Error> {
        let delete = "DELETE FROM tool_audit_writers WHERE number = $1 AND NOT EXISTS \
                    (SELECT FROM tool_executions WHERE owner = $2 AND status = 'started')";
        self.client.execute(delete, &[&writer.number, &writer.owner]).await?;
        let mark_ended = "UPDATE tool_audit_writers SET seen = '-infinity' WHERE number = $1";
        self.client.execute(mark_ended, &[&writer.number]).await.map(drop)
    }
}

/// Sets the outcome of an owner's running calls to `unknown`. The owner is `$4` in `condition`.
async fn close_calls(client: &Client, condition: &str, owner: &str) -> Result<u64, tokio_postgres::Error> {
    let text = format!(
        "UPDATE tool_executions SET status = $1, error = $3, error_code = 'UNKNOWN', is_error = true, \
         changed = pg_current_xact_id()::text::bigint WHERE status = 'started' AND $2 = 'started' AND {condition}"
    );
    let (unknown, started) = (AuditStatus::Unknown.as_str(), AuditStatus::Started.as_str());
    let reason = "the program ended before the outcome was recorded";
    client.execute(&text, &[&unknown, &started, &reason, &owner]).await
}
