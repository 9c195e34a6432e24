//! The audit log in a PostgreSQL database.

mod link;
mod log;
mod rows;
mod schema;
mod worker;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use tokio::time::Instant;

use crate::postgres::target::Target;
use link::Setup;
use log::PostgresLog;
use rows::Row;
use toolgen_record::audit::{AuditError, AuditIntent, AuditOutcome, AuditReader, AuditSink};
use worker::{ID_BLOCK, Worker};

/// The default maximum number of buffered records while the database cannot be written.
const DEFAULT_MAX_BUFFERED: usize = 8192;

/// The default time without a heartbeat after which other programs treat the calls of a program as ended.
const DEFAULT_LEASE: Duration = Duration::from_secs(60);

/// The default time to wait for the database.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Writes audit records to a PostgreSQL database (14 or later), in the table `tool_executions`. It has the columns of
/// an `SqliteSink`, with the corresponding PostgreSQL types. Several programs may write to one database, and start
/// concurrently: the first one creates or migrates the tables.
///
/// The table has a partition for each day (UTC), created ahead of time. [`retention`](PostgresSinkBuilder::retention)
/// drops whole partitions. The table `tool_audit_writers` lists the programs that write.
///
/// A separate thread writes the records in batches. Commits wait for the disk. When the connection breaks, or the
/// server stops, the thread reconnects and writes records in flight again; records that were already written do not
/// change. If that takes longer than the [`wait_timeout`](PostgresSinkBuilder::wait_timeout), records are buffered in
/// memory, up to a limit. A durable call does not wait for that and is rejected.
///
/// The URL has the same form as for PostgreSQL's own programs:
/// `postgres://user:password@host:5432/database?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem`. The default
/// `sslmode` is `verify-full`: TLS, with a certificate that is valid for the host and signed by a certificate
/// authority of the system, or only by those of `sslrootcert`. `require` and `verify-ca` have the same meaning.
/// `disable` is plain text; it is the default for this machine (`localhost`, 127.0.0.1, `::1`, a socket), and must be
/// explicit for other machines. `prefer` and `allow` are rejected.
///
/// Locks of the connection show that a program is alive, so a connection pooler must give each client a dedicated
/// connection.
///
/// ```no_run
/// use std::time::Duration;
/// use toolgen_runtime::layers::audit::Auditor;
/// use toolgen_runtime::store::audit::PostgresSink;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let url = "postgres://me@localhost/audit";
/// let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
/// let mut sink = PostgresSink::builder(url).name("worker-1").retention(days(90)).open()?;
/// sink.recover()?;
/// let auditor = Auditor::builder(sink).durable(true).start()?;
/// # Ok(())
/// # }
/// ```
pub struct PostgresSink {
    worker: Worker,
    redacted_url: String,
    /// The database IDs of running calls.
    ids: BTreeMap<u64, i64>,
    /// The reserved IDs that are not used yet.
    free_ids: Range<i64>,
    /// The calls with records that are not committed, in order.
    pending: Vec<Row>,
    /// The indices of calls in `pending`.
    positions: BTreeMap<u64, usize>,
    max_buffered: usize,
    durable: bool,
}

/// A builder for a [`PostgresSink`].
#[derive(Clone)]
pub struct PostgresSinkBuilder {
    url: String,
    name: String,
    lease: Duration,
    wait_timeout: Duration,
    retention: Option<Duration>,
    max_buffered: usize,
}

impl PostgresSinkBuilder {
    /// Names the program. Programs that run concurrently must have different names, and a restarted program keeps its
    /// name: [`recover`](PostgresSink::recover) then closes the calls that it left open, immediately. Without a name,
    /// `recover` waits for the [`lease`](Self::lease) to expire.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> PostgresSinkBuilder {
        self.name = name.into();
        self
    }

    /// Sets how long this program may fail to reach the database before other programs may close its calls. Default:
    /// one minute. After a restart, the server gives all programs the same time.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> PostgresSinkBuilder {
        self.lease = lease;
        self
    }

    /// Sets how long to wait for the database, for example while it restarts. Default: five seconds. A durable call
    /// waits about as long before it is rejected. Calls that arrive while the database is known to be unreachable are
    /// rejected immediately.
    #[must_use]
    pub fn wait_timeout(mut self, timeout: Duration) -> PostgresSinkBuilder {
        self.wait_timeout = timeout;
        self
    }

    /// Sets how long records are kept in the database. Default: forever. Whole days that ended earlier are dropped,
    /// when a program starts and once a day. If several programs set a retention, the shortest one applies.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> PostgresSinkBuilder {
        self.retention = Some(retention);
        self
    }

    /// Sets the maximum number of records that are buffered in memory while the database cannot be written. Default:
    /// 8192. Further records are lost and counted in [`Auditor::errors`](toolgen_record::audit::Auditor::errors). A
    /// call has two records.
    #[must_use]
    pub fn max_buffered(mut self, records: usize) -> PostgresSinkBuilder {
        self.max_buffered = records;
        self
    }

    /// Connects, and creates the tables if they do not exist. This function blocks, even in an asynchronous context.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is invalid, the database cannot be reached or written within the
    /// [`wait_timeout`](Self::wait_timeout), its tables are newer than this program, or another program uses the
    /// name. No error contains the password.
    pub fn open(self) -> Result<PostgresSink, AuditError> {
        let PostgresSinkBuilder { url, name, lease, wait_timeout, retention, max_buffered } = self;
        let target = Target::parse(&url).map_err(AuditError::new)?.writable();
        let redacted_url = target.redacted_url.clone();
        let worker = Worker::start(Setup { target, name, lease, wait_timeout, retention })?;
        let (ids, pending, positions) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        Ok(PostgresSink {
            worker,
            redacted_url,
            ids,
            free_ids: 0..0,
            pending,
            positions,
            max_buffered,
            durable: false,
        })
    }
}

impl PostgresSink {
    /// Opens the database at this URL with the default settings.
    ///
    /// # Errors
    ///
    /// See [`PostgresSinkBuilder::open`].
    pub fn open(url: &str) -> Result<PostgresSink, AuditError> {
        PostgresSink::builder(url).open()
    }

    /// Returns a builder for a sink that writes to the database at this URL.
    #[must_use]
    pub fn builder(url: &str) -> PostgresSinkBuilder {
        PostgresSinkBuilder {
            url: url.to_owned(),
            name: String::new(),
            lease: DEFAULT_LEASE,
            wait_timeout: DEFAULT_TIMEOUT,
            retention: None,
            max_buffered: DEFAULT_MAX_BUFFERED,
        }
    }

    /// Sets the outcome of calls whose program ended while they were running to `unknown`, and returns their number.
    /// These are the calls of earlier programs with this [name](PostgresSinkBuilder::name), and those of programs
    /// that did not reach the database for longer than their [lease](PostgresSinkBuilder::lease). Calls of other
    /// programs are not changed. If such a program reaches the database again, its outcomes replace `unknown`.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be read or written.
    pub fn recover(&mut self) -> Result<usize, AuditError> {
        self.worker.recover()
    }

    /// Assigns an ID to each pending call, and sets the ID of its parent call.
    fn assign_ids(&mut self, deadline: Instant) -> Result<(), AuditError> {
        for row in &mut self.pending {
            if row.id.is_some() {
                continue;
            }
            let existing_id = self.ids.get(&row.key).copied();
            let id = match existing_id.or_else(|| self.free_ids.next()) {
                Some(id) => id,
                None => {
                    let first = self.worker.reserve_ids(deadline)?;
                    self.free_ids = first + 1..first.saturating_add(ID_BLOCK);
                    first
                }
            };
            self.ids.insert(row.key, id);
            (row.id, row.parent) = (Some(id), self.ids.get(&row.outer).copied());
        }
        Ok(())
    }

    /// Buffers the records that could not be written, up to the limit. Returns the numbers of buffered and of lost
    /// records.
    fn retain_buffered(&mut self) -> (usize, usize) {
        let record_count: usize = self.pending.iter().map(|row| row.records).sum();
        if self.durable {
            // Calls whose intent could not be written are rejected, so they have no other outcome to write. The
            // outcomes of the other calls remain to be written.
            self.pending.retain(Row::has_ended);
        }
        let mut kept = 0;
        let (max, ids) = (self.max_buffered, &mut self.ids);
        self.pending.retain(|row| {
            let is_kept = kept + row.records <= max;
            if is_kept {
                kept += row.records;
            } else if row.has_ended() {
                ids.remove(&row.key);
            }
            is_kept
        });
        self.positions = self.pending.iter().enumerate().map(|(index, row)| (row.key, index)).collect();
        (kept, record_count - kept)
    }
}

impl AuditSink for PostgresSink {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        let row = Row::new(intent)?;
        self.positions.insert(row.key, self.pending.len());
        self.pending.push(row);
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        // If the intent is not written yet, the outcome is written with it.
        if let Some(row) = self.positions.get(&intent.key).and_then(|index| self.pending.get_mut(*index)) {
            row.end(outcome)?;
            row.records += 1;
            return Ok(());
        }
        let mut row = Row::new(intent)?;
        row.end(outcome)?;
        self.positions.insert(row.key, self.pending.len());
        self.pending.push(row);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let deadline = self.worker.deadline();
        let result = self.assign_ids(deadline).and_then(|()| {
            let (rows, written) = self.worker.write(std::mem::take(&mut self.pending), deadline);
            self.pending = rows;
            written
        });
        match result {
            Ok((refused, error)) => {
                for row in self.pending.drain(..).filter(Row::has_ended) {
                    self.ids.remove(&row.key);
                }
                self.positions.clear();
                error.map_or(Ok(()), |error| Err(error.with_buffered(0, refused)))
            }
            Err(error) => {
                let (kept, lost) = self.retain_buffered();
                Err(error.with_buffered(kept, lost))
            }
        }
    }

    fn make_durable(&mut self) -> Result<(), AuditError> {
        self.durable = true;
        Ok(())
    }
}

impl fmt::Debug for PostgresSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSink")
            .field("database", &self.redacted_url)
            .field("owner", &self.worker.owner)
            .field("waiting", &self.pending.len())
            .field("durable", &self.durable)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PostgresSinkBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL is omitted, because it may contain a password.
        f.debug_struct("PostgresSinkBuilder")
            .field("name", &self.name)
            .field("lease", &self.lease)
            .field("patience", &self.wait_timeout)
            .field("retention", &self.retention)
            .field("kept", &self.max_buffered)
            .finish_non_exhaustive()
    }
}

/// Opens the audit log in the PostgreSQL database at this URL, which has the form that [`PostgresSink`] takes.
/// Requires the feature `postgres`. Nothing is written. This function and the reader block, even in an asynchronous
/// context.
///
/// # Errors
///
/// Returns an error if the URL is invalid, or if the database cannot be reached or contains no audit records. No
/// error contains the password.
pub fn connect(url: &str) -> Result<AuditReader, AuditError> {
    PostgresLog::open(url).map(AuditReader::of)
}
