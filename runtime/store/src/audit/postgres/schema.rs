//! The tables of the audit log in PostgreSQL: their migrations, and their daily partitions.

use std::time::{Duration, SystemTime};

use tokio_postgres::Client;
use toolgen_kernel::base::time::rfc3339;
use toolgen_record::audit::AuditError;

use crate::postgres::target::Target;

/// The changes of each version of the tables. A released version is never changed.
const VERSIONS: &[&str] = &[
    "
    CREATE TABLE tool_executions (
        id BIGINT NOT NULL,
        session_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        tool_name TEXT NOT NULL,
        parameters JSON,
        result JSON,
        error TEXT,
        duration_ms BIGINT,
        timestamp TIMESTAMPTZ NOT NULL,
        tool_call_id TEXT NOT NULL,
        is_error BOOLEAN,
        error_code TEXT,
        spec_hash TEXT NOT NULL,
        attempt BIGINT NOT NULL,
        status TEXT NOT NULL,
        approved BOOLEAN NOT NULL,
        approved_by TEXT NOT NULL,
        principal TEXT NOT NULL,
        owner TEXT NOT NULL,
        turn BIGINT,
        parent BIGINT,
        -- The transaction that wrote the row last, by which readers find what is new.
        changed BIGINT NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
        PRIMARY KEY (id, timestamp)
    ) PARTITION BY RANGE (timestamp);
    CREATE INDEX tool_executions_timestamp ON tool_executions (timestamp);
    CREATE INDEX tool_executions_started ON tool_executions (owner) WHERE status = 'started';
    CREATE INDEX tool_executions_changed ON tool_executions (changed);
    CREATE SEQUENCE tool_audit_blocks;
    CREATE SEQUENCE tool_audit_numbers AS INTEGER;
    CREATE TABLE tool_audit_writers (
        number INTEGER PRIMARY KEY,
        owner TEXT NOT NULL UNIQUE,
        -- The name that the program gave itself. Empty: none.
        name TEXT NOT NULL,
        -- When it last reported, and how long it may be silent.
        seen TIMESTAMPTZ NOT NULL,
        lease INTERVAL NOT NULL
    );",
    // NULL means that no person approved the call; this applies to the partitions as well.
    "ALTER TABLE tool_executions ALTER COLUMN approved_by DROP NOT NULL;
    DO $$ DECLARE day regclass; BEGIN
        FOR day IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'tool_executions'::regclass LOOP
            EXECUTE format('ALTER TABLE %s ALTER COLUMN approved_by DROP NOT NULL', day);
        END LOOP;
    END $$;"];

/// Number of days whose partitions are created ahead of time.
const PARTITION_DAYS_AHEAD: i32 = 3;

/// How long the removal of a partition may block other writers before it is postponed.
const PARTITION_DROP_TIMEOUT: &str = "500ms";

/// Waits for other programs that are changing the tables, and blocks them until the end of the transaction.
const LOCK_SQL: &str =
    "SELECT pg_advisory_xact_lock(hashtext('toolgen audit tables'), hashtext(current_schema()))";

/// Migrates the tables to the newest version. Several programs may do so concurrently.
pub(super) async fn migrate(client: &mut Client, target: &Target) -> Result<(), AuditError> {
    let to_error = |reason: tokio_postgres::Error| AuditError::new(target.error(&reason));
    let newest = i32::try_from(VERSIONS.len()).unwrap_or(i32::MAX);
    // Usually the tables are up to date, and the program may lack the permission to change them.
    if version(client).await.map_err(to_error)? == newest {
        return Ok(());
    }
    let transaction = client.transaction().await.map_err(to_error)?;
    transaction.batch_execute(LOCK_SQL).await.map_err(to_error)?;
    let version = version(transaction.client()).await.map_err(to_error)?;
    if version > newest {
        return Err(AuditError::new(format!(
            "{}: its tables have version {version}, and this program knows those up to {newest}: build it with a newer \
             toolgen-runtime",
            target.redacted_url
        )));
    }
    let existing = usize::try_from(version).unwrap_or(0);
    if existing == 0 {
        let table = "CREATE TABLE IF NOT EXISTS tool_audit_versions (
            version INTEGER PRIMARY KEY, since TIMESTAMPTZ NOT NULL DEFAULT now())";
        transaction.batch_execute(table).await.map_err(to_error)?;
    }
    for (version, sql) in (1_i32..).zip(VERSIONS).skip(existing) {
        transaction.batch_execute(sql).await.map_err(to_error)?;
        let insert = "INSERT INTO tool_audit_versions (version) VALUES ($1)";
        transaction.execute(insert, &[&version]).await.map_err(to_error)?;
    }
    transaction.commit().await.map_err(to_error)
}

/// Returns the version of the tables, or 0 if they do not exist.
async fn version(client: &Client) -> Result<i32, tokio_postgres::Error> {
    // `to_regclass` does not work here: if it found no table before the lock, it finds none after it.
    let table_exists = "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'tool_audit_versions' \
                    AND relnamespace = current_schema()::regnamespace)";
    if !client.query_one(table_exists, &[]).await?.get::<_, bool>(0) {
        return Ok(0);
    }
    let newest = "SELECT coalesce(max(version), 0) FROM tool_audit_versions";
    Ok(client.query_one(newest, &[]).await?.get(0))
}

/// Creates the partitions of a day, such as `2026-01-31`, and possibly of the next days, if they do not exist.
pub(super) async fn create_partitions(
    client: &mut Client,
    day: &str,
    with_next_days: bool,
) -> Result<(), tokio_postgres::Error> {
    let missing = "SELECT to_char(day, 'YYYYMMDD'), to_char(day, 'YYYY-MM-DD'), to_char(day + interval '1 day', 'YYYY-MM-DD') \
                   FROM (SELECT $1::text::date + n AS day FROM generate_series(0, $2) AS n) AS days \
                   WHERE NOT EXISTS (SELECT FROM pg_class WHERE relname = 'tool_executions_' || to_char(day, 'YYYYMMDD') \
                   AND relnamespace = current_schema()::regnamespace)";
    let next_days = if with_next_days { PARTITION_DAYS_AHEAD } else { 0 };
    if client.query(missing, &[&day, &next_days]).await?.is_empty() {
        return Ok(());
    }
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK_SQL).await?;
    for row in transaction.query(missing, &[&day, &next_days]).await? {
        let [name, from, to]: [String; 3] = [row.get(0), row.get(1), row.get(2)];
        // The partition is attached instead of created in place, which would wait for all readers and block all
        // writers.
        let sql = format!(
            "CREATE TABLE tool_executions_{name} (LIKE tool_executions INCLUDING ALL);
             ALTER TABLE tool_executions ATTACH PARTITION tool_executions_{name}
             FOR VALUES FROM ('{from} 00:00:00+00') TO ('{to} 00:00:00+00')"
        );
        transaction.batch_execute(&sql).await?;
    }
    transaction.commit().await
}

/// Drops the partitions of days that ended longer ago than the retention, and returns their number.
pub(super) async fn drop_partitions(
    client: &mut Client,
    retention: Duration,
) -> Result<usize, tokio_postgres::Error> {
    let expired = "SELECT relname::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid \
               WHERE inhparent = 'tool_executions'::regclass AND relname ~ '^tool_executions_[0-9]{8}$' \
               AND (to_date(right(relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' \
               <= now() - make_interval(secs => $1) ORDER BY relname";
    let days = client.query(expired, &[&retention.as_secs_f64()]).await?;
    for row in &days {
        let day: String = row.get(0);
        let transaction = client.transaction().await?;
        transaction.batch_execute(LOCK_SQL).await?;
        transaction
            .batch_execute(&format!(
                "SET LOCAL lock_timeout = '{PARTITION_DROP_TIMEOUT}'; DROP TABLE IF EXISTS {day}"
            ))
            .await?;
        transaction.commit().await?;
    }
    Ok(days.len())
}

/// Returns the day, such as `2026-01-31`, by the clock of this machine, which also sets the times of records.
pub(super) fn today() -> String {
    let mut now = rfc3339(SystemTime::now());
    now.truncate(10);
    now
}
