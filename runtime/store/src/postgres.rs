//! A store in a PostgreSQL database.

pub(super) mod target;
mod tls;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use target::{Target, breaks_connection, error_text};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::store::{Expected, Row, Store, StoreError};

use super::server::{Connect, Failure, OnChange, Server, StoreChange};
use super::times::{millis, part_micros};

/// Creates the tables, and the function that counts. Times are milliseconds since 1970.
///
/// Each statement of the function sees what other transactions committed before it. Calls that increment the same
/// counter wait for each other. Its transaction does not wait for the disk. Occasionally it deletes expired counters.
const TABLES_SQL: &str = "
    CREATE TABLE IF NOT EXISTS toolgen_rows (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        version BIGINT NOT NULL,
        value BYTEA NOT NULL,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (kind, key)
    );
    CREATE INDEX IF NOT EXISTS toolgen_rows_expires_at ON toolgen_rows (expires_at);
    CREATE TABLE IF NOT EXISTS toolgen_counts (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        part BIGINT NOT NULL,
        calls BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (kind, key, part)
    );
    CREATE INDEX IF NOT EXISTS toolgen_counts_expires_at ON toolgen_counts (expires_at);
    CREATE OR REPLACE FUNCTION toolgen_count(of_kind TEXT, keys TEXT[], most BIGINT[], length BIGINT) RETURNS BOOLEAN
    LANGUAGE plpgsql AS $$
    DECLARE
        micros BIGINT;
        now_part BIGINT;
        until BIGINT;
    BEGIN
        PERFORM set_config('synchronous_commit', 'off', true);
        PERFORM pg_advisory_xact_lock(hashtextextended(of_kind || ':' || of.key, 0))
            FROM (SELECT DISTINCT key FROM unnest(keys) AS key ORDER BY key) AS of;
        micros := (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT;
        now_part := micros / length;
        until := micros / 1000 + length * 66 / 1000 + 1;
        DELETE FROM toolgen_counts WHERE kind = of_kind AND key = ANY (keys) AND part < now_part - 64;
        FOR at IN 1 .. array_length(keys, 1) LOOP
            IF (SELECT coalesce(sum(calls), 0) FROM toolgen_counts
                WHERE kind = of_kind AND key = keys[at]) >= most[at] THEN
                RETURN false;
            END IF;
        END LOOP;
        INSERT INTO toolgen_counts SELECT of_kind, key, now_part, 1, until FROM unnest(keys) AS key
            ON CONFLICT (kind, key, part) DO UPDATE SET calls = toolgen_counts.calls + 1;
        IF random() < 0.01 THEN
            DELETE FROM toolgen_counts WHERE (kind, key, part) IN (
                SELECT kind, key, part FROM toolgen_counts WHERE expires_at <= micros / 1000
                LIMIT 1000 FOR UPDATE SKIP LOCKED);
        END IF;
        RETURN true;
    END $$";

/// Whether the tables and the function exist.
const TABLES_EXIST_SQL: &str = "SELECT to_regclass('toolgen_rows') IS NOT NULL AND to_regclass('toolgen_counts') IS NOT NULL \
                     AND to_regproc('toolgen_count') IS NOT NULL";

/// Waits for other programs that are creating the tables, and blocks them until the end of the transaction.
const LOCK_SQL: &str =
    "SELECT pg_advisory_xact_lock(hashtext('toolgen store tables'), hashtext(current_schema()))";

/// Makes commits wait for the disk, and statements see everything that was committed before, regardless of the
/// server's defaults.
const SESSION_SQL: &str = "
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
    SET default_transaction_isolation = 'read committed';
    SET client_min_messages = warning;
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4";

/// Deletes some expired rows before another row is written, unless another transaction is deleting them.
const DELETE_EXPIRED_SQL: &str = "\
    WITH past AS (DELETE FROM toolgen_rows WHERE (kind, key) IN (
        SELECT kind, key FROM toolgen_rows
        WHERE expires_at <= extract(epoch FROM clock_timestamp()) * 1000 AND (kind <> $1 OR key <> $2)
        LIMIT 100 FOR UPDATE SKIP LOCKED))";

/// The server's time, in microseconds.
const NOW_MICROS_SQL: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT";

/// The default time limit of a request, including connecting.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A store in a PostgreSQL database (14 or later), shared by all programs that use it. Clones share the connection.
/// The database may also contain the audit log of a [`PostgresSink`](super::audit::PostgresSink), whose documentation
/// describes the URL.
///
/// The table `toolgen_rows` contains the rows: `kind` (the name of their table), `key`, `version`, `value` and
/// `expires_at` in milliseconds since 1970. The table `toolgen_counts` contains the counters, which the function
/// `toolgen_count` increments. Deployments that share a database need separate schemas
/// (`?options=-csearch_path%3Dshop`).
///
/// Rows are on disk when a request returns. Counters are not: after a power failure of the server, they may lack the
/// last calls. If a response is lost, the request may have taken effect, so no request is retried.
///
/// ```no_run
/// use toolgen_runtime::layers::approval::Approvals;
/// use toolgen_runtime::store::PostgresStore;
/// use toolgen_runtime::{Toolbox, Registry};
///
/// # async fn queued(registry: &Registry, key: &[u8; 32]) -> Result<Toolbox, Box<dyn std::error::Error>> {
/// # let url = "postgres://me@localhost/audit";
/// let approvals = Approvals::on(PostgresStore::connect(url).await?).with_worker("worker-1");
/// let toolbox = Toolbox::builder(registry).approval_key(key).approval_queue(approvals).build()?;
/// # Ok(toolbox)
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresStore(Arc<Server<Database>>);

/// A builder for [`PostgresStore`].
pub struct PostgresBuilder {
    url: String,
    timeout: Duration,
    on_change: Option<OnChange>,
}

impl PostgresBuilder {
    /// Sets the time limit of a request, including connecting. Default: five seconds. No call waits longer for a
    /// request.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> PostgresBuilder {
        self.timeout = timeout;
        self
    }

    /// Sets a callback that is called when the server becomes unreachable, and when it is reachable again: for logs
    /// and alerts. The request that detects the change calls it, and waits for it.
    #[must_use]
    pub fn on_change(mut self, callback: impl Fn(&StoreChange) + Send + Sync + 'static) -> PostgresBuilder {
        self.on_change = Some(Box::new(callback));
        self
    }

    /// Builds the store. It does not connect yet, see [`PostgresStore::ping`]. The first connection creates the
    /// tables if they do not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is not that of a PostgreSQL database.
    pub fn build(self) -> Result<PostgresStore, StoreError> {
        self.build_with(true)
    }

    fn build_with(self, creates_tables: bool) -> Result<PostgresStore, StoreError> {
        let target = Target::parse(&self.url).map_err(StoreError::new)?.writable();
        let database = Database { target, creates_tables };
        Ok(PostgresStore(Arc::new(Server::new(database, self.timeout, self.on_change))))
    }
}

struct Database {
    target: Target,
    creates_tables: bool,
}

impl Connect for Database {
    type Connection = Arc<Client>;

    async fn connect(&self) -> Result<Arc<Client>, Failure> {
        let connecting = async {
            let mut client = self.target.connect().await?;
            client.batch_execute(SESSION_SQL).await?;
            if self.creates_tables {
                create_tables(&mut client).await?;
            }
            Ok(Arc::new(client))
        };
        connecting.await.map_err(|error: Error| Failure::Lost(error_text(&error)))
    }

    fn is_open(client: &Arc<Client>) -> bool {
        !client.is_closed()
    }

    fn display_url(&self) -> String {
        self.target.redacted_url.clone()
    }
}

/// Creates the tables if they do not exist. Several programs may do so concurrently.
async fn create_tables(client: &mut Client) -> Result<(), Error> {
    // Usually the tables exist, and the program may lack the permission to create them.
    if client.query_one(TABLES_EXIST_SQL, &[]).await?.get(0) {
        return Ok(());
    }
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK_SQL).await?;
    transaction.batch_execute(TABLES_SQL).await?;
    transaction.commit().await
}

impl PostgresStore {
    /// Returns a builder for a store in the database at a URL.
    #[must_use]
    pub fn builder(url: impl Into<String>) -> PostgresBuilder {
        PostgresBuilder { url: url.into(), timeout: TIMEOUT, on_change: None }
    }

    /// Connects to a database, and creates the tables if they do not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is not that of a PostgreSQL database, or if the database cannot be reached or
    /// written.
    pub async fn connect(url: &str) -> Result<PostgresStore, StoreError> {
        let store = PostgresStore::builder(url).build()?;
        store.ping().await?;
        Ok(store)
    }

    /// Connects to a database that contains a store, and creates nothing: for programs that show approvals or decide
    /// about them. Returns `None` if the database contains no store.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is not that of a PostgreSQL database, or if the database cannot be reached.
    pub async fn connect_existing(url: &str) -> Result<Option<PostgresStore>, StoreError> {
        let store = PostgresStore::builder(url).build_with(false)?;
        let exists = store.run_query(TABLES_EXIST_SQL, &[]).await?;
        Ok(exists.first().is_some_and(|row| row.get(0)).then_some(store))
    }

    /// Checks that the server is reachable, so that a program can fail at startup.
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot be reached, rejects the login, or does not respond in time.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.run_query("SELECT 1", &[]).await.map(drop)
    }

    /// Returns whether the last request got a response; `true` before the first request.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.is_up()
    }

    /// Sends a statement, in one round trip.
    async fn run_query(
        &self,
        statement: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        self.0
            .request(async |client: Arc<Client>| {
                client.query_typed(statement, values).await.map_err(|error| failure(&error))
            })
            .await
    }

    /// Returns rows in the order of their keys.
    async fn rows(&self, condition: &str, table: &str, key: &str) -> Result<Vec<Row>, StoreError> {
        let statement = format!(
            "SELECT key, version, value, expires_at - {NOW_MICROS_SQL} / 1000 FROM toolgen_rows \
             WHERE kind = $1 AND {condition} AND expires_at > {NOW_MICROS_SQL} / 1000 ORDER BY key COLLATE \"C\""
        );
        let rows = self.run_query(&statement, &[(&table, Type::TEXT), (&key, Type::TEXT)]).await?;
        let to_row = |row: &tokio_postgres::Row| {
            let number = |index| Ok::<_, Error>(u64::try_from(row.try_get::<_, i64>(index)?).unwrap_or(0));
            let remaining = Duration::from_millis(number(3)?);
            Ok(Row { key: row.try_get(0)?, version: number(1)?, value: row.try_get(2)?, left: remaining })
        };
        rows.iter()
            .map(to_row)
            .collect::<Result<_, Error>>()
            .map_err(|reason| self.0.error(&reason.to_string()))
    }
}

fn failure(error: &Error) -> Failure {
    if breaks_connection(error) {
        Failure::Lost(error_text(error))
    } else {
        Failure::Refused(error_text(error))
    }
}

impl Store for PostgresStore {
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        Box::pin(async move { Ok(self.rows("key = $2", table, key).await?.pop()) })
    }

    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        Box::pin(self.rows("starts_with(key, $2)", table, prefix))
    }

    fn put<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        value: &'a [u8],
        ttl: Duration,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        Box::pin(async move {
            let ttl = millis(ttl);
            // A version is a time, so that a row that is deleted and created again always has a later version.
            let set = format!(
                "version = greatest({NOW_MICROS_SQL}, row.version + 1), value = $3, expires_at = {NOW_MICROS_SQL} / 1000 + $4"
            );
            let (statement, version_argument) = match expected {
                Expected::Version(version) => (
                    format!(
                        "UPDATE toolgen_rows AS row SET {set} WHERE kind = $1 AND key = $2 AND version = $5 \
                         AND expires_at > {NOW_MICROS_SQL} / 1000 RETURNING version"
                    ),
                    version.cast_signed(),
                ),
                _ => (
                    format!(
                        "INSERT INTO toolgen_rows AS row VALUES ($1, $2, {NOW_MICROS_SQL}, $3, {NOW_MICROS_SQL} / 1000 + $4) \
                         ON CONFLICT (kind, key) DO UPDATE SET {set} \
                         WHERE $5 = 1 OR row.expires_at <= {NOW_MICROS_SQL} / 1000 RETURNING version"
                    ),
                    i64::from(expected == Expected::Any),
                ),
            };
            let values: [(&(dyn ToSql + Sync), Type); 5] = [
                (&table, Type::TEXT),
                (&key, Type::TEXT),
                (&value, Type::BYTEA),
                (&ttl, Type::INT8),
                (&version_argument, Type::INT8),
            ];
            let rows = self.run_query(&format!("{DELETE_EXPIRED_SQL} {statement}"), &values).await?;
            let version = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
            let version = version.map_err(|reason| self.0.error(&reason.to_string()))?;
            Ok(version.map(i64::cast_unsigned))
        })
    }

    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let statement = format!(
                "DELETE FROM toolgen_rows WHERE kind = $1 AND key = $2 AND ($3 < 0 OR version = $3) \
                 AND expires_at > {NOW_MICROS_SQL} / 1000 RETURNING version"
            );
            // Version 0 stands for a missing row.
            let version_argument = match expected {
                Expected::Any => -1,
                Expected::Absent => 0,
                Expected::Version(version) => version.cast_signed(),
            };
            let values: [(&(dyn ToSql + Sync), Type); 3] =
                [(&table, Type::TEXT), (&key, Type::TEXT), (&version_argument, Type::INT8)];
            Ok(!self.run_query(&statement, &values).await?.is_empty())
        })
    }

    fn count<'a>(
        &'a self,
        table: &'a str,
        counters: &'a [(&'a str, u32)],
        window: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let keys: Vec<&str> = counters.iter().map(|(key, _)| *key).collect();
            let max: Vec<i64> = counters.iter().map(|(_, max)| i64::from(*max)).collect();
            let length = part_micros(window);
            let values: [(&(dyn ToSql + Sync), Type); 4] = [
                (&table, Type::TEXT),
                (&keys, Type::TEXT_ARRAY),
                (&max, Type::INT8_ARRAY),
                (&length, Type::INT8),
            ];
            let rows = self.run_query("SELECT toolgen_count($1, $2, $3, $4)", &values).await?;
            Ok(rows.first().is_some_and(|row| row.get(0)))
        })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("server", &self.0).finish()
    }
}

impl fmt::Debug for PostgresBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a password.
        f.debug_struct("PostgresBuilder").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
