//! Records in a PostgreSQL database.

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
use worker::{BLOCK, Worker};

/// How many records are kept by default while the database cannot be written.
const DEFAULT_MAX_BUFFERED: usize = 8192;

/// How long a program may be silent by default before others consider its calls ended.
const DEFAULT_LEASE: Duration = Duration::from_secs(60);

/// How long to wait for the database by default.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Writes records to a PostgreSQL database (14 or later), in the table `tool_executions`, which has the columns of an
/// `SqliteSink`, with the types that PostgreSQL has for them. Several programs may write to one database, and start at
/// the same time: the first one creates the tables and brings them up to date.
///
/// The table has a partition for each day (of UTC), made ahead of time; [`retention`](PostgresSinkBuilder::retention)
/// drops whole ones. The programs that write are in `tool_audit_writers`.
///
/// A separate thread writes the records, as many at once as there are. A commit is on disk before it is answered. When
/// the connection breaks, or the server stops, it is made again, and records in flight are written again: a record that
/// was already written stays as it is. While that takes longer than the [`wait_timeout`](PostgresSinkBuilder::wait_timeout),
/// records are kept in memory, up to a limit. A durable call does not wait for that: it is refused.
///
/// The URL says how the database is reached, as for PostgreSQL's own programs:
/// `postgres://user:password@host:5432/database?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem`. `sslmode` is
/// `verify-full`: TLS, with a certificate that is valid for the host, by the system's certificates or those of
/// `sslrootcert` alone. `require` and `verify-ca` mean the same here, and `disable` is plain text, which is used to
/// another machine only with this word; on this one (`localhost`, 127.0.0.1, `::1`, a socket) it is the default.
/// `prefer` and `allow` are refused.
///
/// Locks of the connection show that a program is alive, so a pooler in between must give each client a connection of
/// its own.
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
    /// The rows of running calls.
    ids: BTreeMap<u64, i64>,
    /// The ids that are left.
    block: Range<i64>,
    /// The calls with something that is not committed, in the order in which they came.
    waiting: Vec<Row>,
    /// The places of calls in `waiting`.
    places: BTreeMap<u64, usize>,
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
    /// Names the program. No two programs may have the same name at the same time, and one that is restarted keeps its
    /// own: [`recover`](PostgresSink::recover) then closes the calls that it had when it ended at once. Without a name,
    /// it waits for the [`lease`](Self::lease).
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> PostgresSinkBuilder {
        self.name = name.into();
        self
    }

    /// Sets how long this program may be out of reach of the database before others may consider its calls ended; one
    /// minute by default. A server that was down itself waits as long for all programs after it has started.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> PostgresSinkBuilder {
        self.lease = lease;
        self
    }

    /// Sets how long to wait for the database, while it restarts, for instance; five seconds by default. A durable call
    /// waits about as long before it is refused; calls that come while the database is known to be out of reach are
    /// refused at once, until it is reached again.
    #[must_use]
    pub fn wait_timeout(mut self, patience: Duration) -> PostgresSinkBuilder {
        self.wait_timeout = patience;
        self
    }

    /// Sets how long records are kept in the database: forever by default. Whole days that ended longer ago are
    /// dropped, when a program starts and once a day. If several programs set a retention, the shortest counts.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> PostgresSinkBuilder {
        self.retention = Some(retention);
        self
    }

    /// Sets how many records are kept in memory while the database cannot be written; 8192 by default. Later ones are
    /// lost and counted in [`Auditor::errors`](toolgen_record::audit::Auditor::errors). A call has two records.
    #[must_use]
    pub fn max_buffered(mut self, records: usize) -> PostgresSinkBuilder {
        self.max_buffered = records;
        self
    }

    /// Connects, and creates the tables if they do not exist. This blocks, also in an asynchronous function.
    ///
    /// # Errors
    ///
    /// If the URL is not one, the database cannot be reached or written within the [`wait_timeout`](Self::wait_timeout), its
    /// tables are newer than this program, or another program has the name. No error contains the password.
    pub fn open(self) -> Result<PostgresSink, AuditError> {
        let PostgresSinkBuilder { url, name, lease, wait_timeout: patience, retention, max_buffered: kept } =
            self;
        let target = Target::of(&url).map_err(AuditError::new)?.writable();
        let displayed = target.shown.clone();
        let worker = Worker::start(Setup { target, name, lease, wait_timeout: patience, retention })?;
        let (ids, waiting, places) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        Ok(PostgresSink {
            worker,
            redacted_url: displayed,
            ids,
            block: 0..0,
            waiting,
            places,
            max_buffered: kept,
            durable: false,
        })
    }
}

impl PostgresSink {
    /// Opens the database at this URL.
    ///
    /// # Errors
    ///
    /// As [`PostgresSinkBuilder::open`].
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

    /// Marks the calls that were running when their program ended as `unknown`, and returns how many there are: those
    /// of earlier programs with this [name](PostgresSinkBuilder::name), and those of programs that have been gone for
    /// longer than their [lease](PostgresSinkBuilder::lease). Calls of other programs stay as they are. If a program
    /// that was out of reach for this long comes back, its outcomes replace `unknown`.
    ///
    /// # Errors
    ///
    /// If the database cannot be read or written.
    pub fn recover(&mut self) -> Result<usize, AuditError> {
        self.worker.recover()
    }

    /// Gives each call that waits its id, and that of the call that made it.
    fn number(&mut self, deadline: Instant) -> Result<(), AuditError> {
        for row in &mut self.waiting {
            if row.id.is_some() {
                continue;
            }
            let known = self.ids.get(&row.key).copied();
            let id = match known.or_else(|| self.block.next()) {
                Some(id) => id,
                None => {
                    let first = self.worker.block(deadline)?;
                    self.block = first + 1..first.saturating_add(BLOCK);
                    first
                }
            };
            self.ids.insert(row.key, id);
            (row.id, row.parent) = (Some(id), self.ids.get(&row.above).copied());
        }
        Ok(())
    }

    /// Keeps what could not be written, up to the limit, and returns how many records are kept and how many are lost.
    fn keep(&mut self) -> (usize, usize) {
        let before: usize = self.waiting.iter().map(|row| row.records).sum();
        if self.durable {
            // Calls whose intent is not on disk are refused, and that is their outcome. What the others did stays to be
            // written.
            self.waiting.retain(Row::is_over);
        }
        let mut kept = 0;
        let (max, ids) = (self.max_buffered, &mut self.ids);
        self.waiting.retain(|row| {
            let fits = kept + row.records <= max;
            if fits {
                kept += row.records;
            } else if row.is_over() {
                ids.remove(&row.key);
            }
            fits
        });
        self.places = self.waiting.iter().enumerate().map(|(index, row)| (row.key, index)).collect();
        (kept, before - kept)
    }
}

impl AuditSink for PostgresSink {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        let row = Row::of(intent)?;
        self.places.insert(row.key, self.waiting.len());
        self.waiting.push(row);
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        // Both at once, if the intent is not written yet.
        if let Some(row) = self.places.get(&intent.key).and_then(|index| self.waiting.get_mut(*index)) {
            row.end(outcome)?;
            row.records += 1;
            return Ok(());
        }
        let mut row = Row::of(intent)?;
        row.end(outcome)?;
        self.places.insert(row.key, self.waiting.len());
        self.waiting.push(row);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let deadline = self.worker.deadline();
        let written = self.number(deadline).and_then(|()| {
            let (rows, written) = self.worker.write(std::mem::take(&mut self.waiting), deadline);
            self.waiting = rows;
            written
        });
        match written {
            Ok((refused, error)) => {
                for row in self.waiting.drain(..).filter(Row::is_over) {
                    self.ids.remove(&row.key);
                }
                self.places.clear();
                error.map_or(Ok(()), |error| Err(error.with_buffered(0, refused)))
            }
            Err(error) => {
                let (kept, lost) = self.keep();
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
            .field("waiting", &self.waiting.len())
            .field("durable", &self.durable)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PostgresSinkBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the URL, which has a password.
        f.debug_struct("PostgresSinkBuilder")
            .field("name", &self.name)
            .field("lease", &self.lease)
            .field("patience", &self.wait_timeout)
            .field("retention", &self.retention)
            .field("kept", &self.max_buffered)
            .finish_non_exhaustive()
    }
}

/// Opens the log in the PostgreSQL database at this URL, in the form that [`PostgresSink`] takes; with the feature
/// `postgres`. Nothing is written. This blocks, as all reading from the database does, also in an asynchronous function.
///
/// # Errors
///
/// If the URL is not one, the database cannot be reached, or has no records of calls. No error contains the password.
pub fn connect(url: &str) -> Result<AuditReader, AuditError> {
    PostgresLog::open(url).map(AuditReader::of)
}
