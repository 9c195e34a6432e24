//! Keeps waiting calls, and the names of those that were resumed, in a PostgreSQL database.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio_postgres::{Client, Row};

use super::error::ApprovalError;
use super::queue::{ApprovalQueue, ApprovalState, QueueRow, forget_expired, millis, signed};
use super::{APPROVALS_KEPT, ApprovalStore, SLACK};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;
use crate::layers::postgres::{Target, breaks};

/// Creates the tables. Times are milliseconds since 1970.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS tool_approvals (name TEXT PRIMARY KEY, expires_at BIGINT NOT NULL);
    CREATE INDEX IF NOT EXISTS tool_approvals_expires_at ON tool_approvals (expires_at);
    CREATE TABLE IF NOT EXISTS tool_approval_queue (
        id TEXT PRIMARY KEY,
        version BIGINT NOT NULL,
        state TEXT NOT NULL,
        asked_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        entry JSON NOT NULL,
        request JSON
    );
    CREATE INDEX IF NOT EXISTS tool_approval_queue_state ON tool_approval_queue (state, asked_at);
    CREATE INDEX IF NOT EXISTS tool_approval_queue_expires_at ON tool_approval_queue (expires_at);";

/// Whether the tables exist.
const THERE: &str =
    "SELECT to_regclass('tool_approval_queue') IS NOT NULL AND to_regclass('tool_approvals') IS NOT NULL";

/// Waits until no other program is creating the tables, and keeps others from it until the end of the transaction.
const ALONE: &str =
    "SELECT pg_advisory_xact_lock(hashtext('toolgen approval tables'), hashtext(current_schema()))";

/// Makes a commit be on disk when it is answered, whatever the default of the server.
const DURABLE: &str = "
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
    SET client_min_messages = warning;
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4";

const COLUMNS: &str = "id, version, state, asked_at, expires_at, entry::text, request::text";

/// Forgets the sealed calls of rows that have expired.
const STRIPPED: &str =
    "UPDATE tool_approval_queue SET request = NULL WHERE expires_at <= $1 AND request IS NOT NULL";

/// How long a request may take by default, with the connection that it may need.
const PATIENCE: Duration = Duration::from_secs(5);

/// Remembers which calls were resumed in a PostgreSQL database (14 or later), in the table `tool_approvals`, so that
/// only one of all programs resumes a request, once. Clones share the connection. The database may be that of a
/// [`PostgresSink`](crate::layers::audit::PostgresSink), whose documentation says what the URL means.
///
/// As an [`ApprovalQueue`] it keeps calls that wait in the table `tool_approval_queue`, which has the columns of that of
/// `SqliteApprovals`. `cargo toolgen approvals` and `cargo toolgen timeline --approvals` take the URL, too.
///
/// What it stores is on disk when it is answered. A request whose answer is lost may have had its effect, so none that
/// writes is repeated: a call may be used up without having run, but none runs twice. While the database cannot be
/// reached, calls that would wait are answered with an error, and none is resumed.
///
/// ```no_run
/// use toolgen_runtime::layers::approval::{Approvals, PostgresApprovals};
/// use toolgen_runtime::{Provider, Registry};
///
/// # async fn queued(registry: &Registry, key: &[u8; 32]) -> Result<Provider, Box<dyn std::error::Error>> {
/// # let url = "postgres://me@localhost/audit";
/// let approvals = Approvals::new(PostgresApprovals::connect(url).await?).with_worker("worker-1");
/// let provider = Provider::builder(registry).approval_key(key).approval_queue(approvals).build()?;
/// # Ok(provider)
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresApprovals(Arc<Inner>);

struct Inner {
    target: Target,
    patience: Duration,
    /// Whether missing tables are created.
    makes_tables: bool,
    client: tokio::sync::Mutex<Option<Arc<Client>>>,
}

impl PostgresApprovals {
    /// Connects to a database, and creates the tables if they do not exist.
    ///
    /// # Errors
    ///
    /// If the URL is not that of a database, or the database cannot be reached or written.
    pub async fn connect(url: &str) -> Result<PostgresApprovals, ApprovalError> {
        let store = PostgresApprovals::of(Target::of(url).map_err(failed)?.writable(), true);
        store.client().await.map_err(failed)?;
        Ok(store)
    }

    /// Connects to a database if calls wait or have waited in it, and creates nothing: for those who show them or
    /// decide about them. `None` if the database has no queue.
    ///
    /// # Errors
    ///
    /// If the URL is not that of a database, or the database cannot be reached.
    pub async fn connect_existing(url: &str) -> Result<Option<PostgresApprovals>, ApprovalError> {
        let store = PostgresApprovals::of(Target::of(url).map_err(failed)?.writable(), false);
        let there = store.asked(async |client| client.query_one(THERE, &[]).await).await.map_err(failed)?;
        Ok(there.get::<_, bool>(0).then_some(store))
    }

    fn of(target: Target, makes_tables: bool) -> PostgresApprovals {
        let client = tokio::sync::Mutex::default();
        PostgresApprovals(Arc::new(Inner { target, patience: PATIENCE, makes_tables, client }))
    }

    /// Returns the connection, and connects if there is none.
    async fn client(&self) -> Result<Arc<Client>, String> {
        let inner = &*self.0;
        let mut held = inner.client.lock().await;
        if let Some(client) = held.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        *held = None;
        let opened = async {
            let mut client = inner.target.connect().await?;
            client.batch_execute(DURABLE).await?;
            if inner.makes_tables {
                make_tables(&mut client).await?;
            }
            Ok::<_, tokio_postgres::Error>(Arc::new(client))
        };
        let opened = tokio::time::timeout(inner.patience, opened).await.map_err(|_| self.late())?;
        let client = opened.map_err(|why| inner.target.error(&why))?;
        Ok(Arc::clone(held.insert(client)))
    }

    /// Sends a request to the database, with a time limit.
    async fn asked<T>(
        &self,
        ask: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, String> {
        let inner = &*self.0;
        let client = self.client().await?;
        match tokio::time::timeout(inner.patience, ask(&client)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(why)) => {
                if breaks(&why) {
                    self.forget(&client).await;
                }
                Err(inner.target.error(&why))
            }
            Err(_) => {
                self.forget(&client).await;
                Err(self.late())
            }
        }
    }

    /// Lets the next request connect again, unless another one has.
    async fn forget(&self, broken: &Arc<Client>) {
        let mut held = self.0.client.lock().await;
        if held.as_ref().is_some_and(|client| Arc::ptr_eq(client, broken)) {
            *held = None;
        }
    }

    fn late(&self) -> String {
        format!("{}: no answer within {:?}", self.0.target.shown, self.0.patience)
    }

    async fn taken(&self, name: &str, expires_at: SystemTime) -> Result<bool, String> {
        let past = millis(SystemTime::now().checked_sub(SLACK).unwrap_or(UNIX_EPOCH));
        let until = millis(expires_at);
        let added = "INSERT INTO tool_approvals VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.asked(async |client| {
            client.execute("DELETE FROM tool_approvals WHERE expires_at < $1", &[&past]).await?;
            Ok(client.execute(added, &[&name, &until]).await? == 1)
        })
        .await
    }

    async fn inserted(&self, row: &QueueRow) -> Result<(), String> {
        let now = SystemTime::now();
        let past = millis(now.checked_sub(APPROVALS_KEPT).unwrap_or(UNIX_EPOCH));
        let added =
            "INSERT INTO tool_approval_queue VALUES ($1, $2, $3, $4, $5, $6::text::json, $7::text::json)";
        self.asked(async |client| {
            client.execute("DELETE FROM tool_approval_queue WHERE expires_at < $1", &[&past]).await?;
            client.execute(STRIPPED, &[&millis(now)]).await?;
            let (id, state, version) = (row.id.as_str(), row.state.as_str(), signed(row.version));
            let (asked_at, expires_at) = (millis(row.asked_at), millis(row.expires_at));
            client
                .execute(added, &[&id, &version, &state, &asked_at, &expires_at, &row.entry, &row.request])
                .await
        })
        .await
        .map(drop)
    }

    async fn row(&self, id: &str) -> Result<Option<QueueRow>, String> {
        let one = format!("SELECT {COLUMNS} FROM tool_approval_queue WHERE id = $1");
        let row = self.asked(async |client| client.query_opt(&one, &[&id]).await).await?;
        let mut row = row.as_ref().map(row_of).transpose().map_err(|why| self.0.target.error(&why))?;
        self.forget_expired(row.as_mut()).await;
        Ok(row)
    }

    async fn starting(&self, start: &str) -> Result<Vec<Text>, String> {
        let all = "SELECT id FROM tool_approval_queue WHERE starts_with(id, $1) ORDER BY id";
        let rows = self.asked(async |client| client.query(all, &[&start]).await).await?;
        let ids: Result<_, _> = rows.iter().map(|row| row.try_get::<_, String>(0).map(Text::from)).collect();
        ids.map_err(|why| self.0.target.error(&why))
    }

    /// Forgets the sealed calls of rows that have expired. A database that is only read keeps them.
    async fn forget_expired<'r>(&self, rows: impl IntoIterator<Item = &'r mut QueueRow>) {
        let now = SystemTime::now();
        if forget_expired(rows, now) {
            let _ = self.asked(async |client| client.execute(STRIPPED, &[&millis(now)]).await).await;
        }
    }

    async fn rows(&self, states: &[ApprovalState]) -> Result<Vec<QueueRow>, String> {
        let all =
            format!("SELECT {COLUMNS} FROM tool_approval_queue WHERE state = ANY ($1) ORDER BY asked_at, id");
        let states: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let rows = self.asked(async |client| client.query(&all, &[&states]).await).await?;
        let rows: Result<Vec<_>, _> = rows.iter().map(row_of).collect();
        let mut rows = rows.map_err(|why| self.0.target.error(&why))?;
        self.forget_expired(&mut rows).await;
        Ok(rows)
    }

    async fn replaced(&self, row: &QueueRow, version: u64) -> Result<bool, String> {
        let changed = "UPDATE tool_approval_queue SET version = $3, state = $4, asked_at = $5, expires_at = $6, \
                       entry = $7::text::json, request = $8::text::json WHERE id = $1 AND version = $2";
        let (id, state) = (row.id.as_str(), row.state.as_str());
        let (before, after) = (signed(version), signed(row.version));
        let (asked_at, expires_at) = (millis(row.asked_at), millis(row.expires_at));
        let rows = self
            .asked(async |client| {
                client
                    .execute(
                        changed,
                        &[&id, &before, &after, &state, &asked_at, &expires_at, &row.entry, &row.request],
                    )
                    .await
            })
            .await?;
        Ok(rows == 1)
    }
}

/// Creates the tables if they do not exist. Several programs may do so at once.
async fn make_tables(client: &mut Client) -> Result<(), tokio_postgres::Error> {
    // Most programs find everything in place, and may lack the right to make it.
    if client.query_one(THERE, &[]).await?.get(0) {
        return Ok(());
    }
    let alone = client.transaction().await?;
    alone.batch_execute(ALONE).await?;
    alone.batch_execute(TABLES).await?;
    alone.commit().await
}

/// Returns a row, or a damaged one if it cannot be read; only its ID must be there.
fn row_of(row: &Row) -> Result<QueueRow, tokio_postgres::Error> {
    let id = Text::from(row.try_get::<_, String>(0)?);
    let state = row.try_get::<_, &str>(2).ok().and_then(ApprovalState::named);
    let damaged = |why: tokio_postgres::Error| {
        QueueRow::damaged(id, state.unwrap_or(ApprovalState::Finished), &why.to_string())
    };
    Ok(whole_row(row).unwrap_or_else(damaged))
}

fn whole_row(row: &Row) -> Result<QueueRow, tokio_postgres::Error> {
    let time = |index: usize| {
        let millis = u64::try_from(row.try_get::<_, i64>(index)?).unwrap_or_default();
        Ok::<_, tokio_postgres::Error>(
            UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH),
        )
    };
    let state: &str = row.try_get(2)?;
    Ok(QueueRow {
        id: Text::from(row.try_get::<_, String>(0)?),
        version: u64::try_from(row.try_get::<_, i64>(1)?).unwrap_or_default(),
        // A state of a later version: nothing is done with what nobody here knows.
        state: ApprovalState::named(state).unwrap_or(ApprovalState::Finished),
        asked_at: time(3)?,
        expires_at: time(4)?,
        entry: row.try_get(5)?,
        request: row.try_get(6)?,
    })
}

fn failed(why: String) -> ApprovalError {
    ApprovalError::Queue(ToolError::failed(why))
}

impl ApprovalStore for PostgresApprovals {
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        Box::pin(async move { self.taken(name, expires_at).await.map_err(ToolError::failed) })
    }
}

impl ApprovalQueue for PostgresApprovals {
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async move { self.inserted(&row).await.map_err(ToolError::failed) })
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>> {
        Box::pin(async move { self.row(id).await.map_err(ToolError::failed) })
    }

    fn list<'a>(&'a self, states: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>> {
        Box::pin(async move { self.rows(states).await.map_err(ToolError::failed) })
    }

    fn ids<'a>(&'a self, start: &'a str) -> BoxFuture<'a, Result<Vec<Text>, ToolError>> {
        Box::pin(async move { self.starting(start).await.map_err(ToolError::failed) })
    }

    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        Box::pin(async move { self.replaced(&row, version).await.map_err(ToolError::failed) })
    }
}

impl fmt::Debug for PostgresApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresApprovals").field("database", &self.0.target.shown).finish_non_exhaustive()
    }
}
