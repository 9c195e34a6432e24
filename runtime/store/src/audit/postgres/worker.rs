//! The thread that communicates with the database. It keeps the connection open while nothing is written, so that
//! other programs see that this program is alive, and reconnects when the connection breaks.

use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::task::{Poll, ready};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::error::SqlState;
use toolgen_record::audit::AuditError;

use super::link::{Setup, TaskError, Writer, WriterConnection};
use super::rows::{self, Row};
use super::schema::today;
use crate::postgres::target::{breaks_connection, class, is_temporary};

/// The interval of connection checks while nothing is written.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The interval of connection checks while the database is known to be unreachable, and calls are rejected.
const CHECK_INTERVAL_DOWN: Duration = Duration::from_millis(250);

/// The delay after a failed attempt: the first, and the maximum.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// The time limit for disconnecting from the server.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Number of IDs that a sink reserves at a time.
pub(super) const ID_BLOCK: i64 = 1 << 16;

/// The result of a write: the number of records that the database rejects because of their content, and the reason.
pub(super) type WriteResult = Result<(usize, Option<AuditError>), AuditError>;

/// A job of a sink for its worker, with its deadline and the channel for the response.
enum Job {
    Write(Vec<Row>, Instant, SyncSender<(Vec<Row>, WriteResult)>),
    ReserveIds(Instant, SyncSender<Result<i64, AuditError>>),
    Recover(SyncSender<Result<usize, AuditError>>),
}

impl Job {
    /// Responds to a job that cannot be done now. If the sink was dropped, no response is needed.
    fn refuse(self, error: AuditError) {
        match self {
            Job::Write(rows, _, response) => drop(response.send((rows, Err(error)))),
            Job::ReserveIds(_, response) => drop(response.send(Err(error))),
            Job::Recover(response) => drop(response.send(Err(error))),
        }
    }
}

/// The sink's handle to the worker.
pub(super) struct Worker {
    jobs: Option<UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// The value of the column `owner` in the records of this sink.
    pub(super) owner: String,
    wait_timeout: Duration,
}

impl Worker {
    /// Starts the thread, connects, and migrates the tables.
    pub(super) fn start(setup: Setup) -> Result<Worker, AuditError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let timeout = setup.wait_timeout;
        let (jobs, receiver) = unbounded_channel();
        let (ready, is_ready) = sync_channel(1);
        let run = move || {
            runtime.block_on(async {
                let mut state = State::new(setup);
                let deadline = Instant::now() + timeout;
                let result = state.run_with_retries(deadline, async |state| state.open().await).await;
                let is_open = result.is_ok();
                // The caller waits for this result, so sending cannot fail.
                let _ = ready.send(result);
                if is_open {
                    state.run(receiver).await;
                }
            });
        };
        let thread = std::thread::Builder::new().name("tool-audit-db".into()).spawn(run)?;
        let owner = is_ready.recv().unwrap_or_else(|_| Err(thread_ended_error()))?;
        Ok(Worker { jobs: Some(jobs), thread: Some(thread), owner, wait_timeout: timeout })
    }

    fn send_job<T>(&self, job: impl FnOnce(SyncSender<T>) -> Job) -> Option<T> {
        let (sender, receiver) = sync_channel(1);
        self.jobs.as_ref()?.send(job(sender)).ok()?;
        receiver.recv().ok()
    }

    /// Returns the deadline of a job that starts now.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.wait_timeout
    }

    /// Writes rows, and returns them with the result.
    pub(super) fn write(&self, rows: Vec<Row>, deadline: Instant) -> (Vec<Row>, WriteResult) {
        self.send_job(|response| Job::Write(rows, deadline, response))
            .unwrap_or_else(|| (Vec::new(), Err(thread_ended_error())))
    }

    /// Returns the first ID of a block of [`ID_BLOCK`] IDs, reserved for this process.
    pub(super) fn reserve_ids(&self, deadline: Instant) -> Result<i64, AuditError> {
        self.send_job(|response| Job::ReserveIds(deadline, response))
            .unwrap_or_else(|| Err(thread_ended_error()))
    }

    /// Closes the calls of writers that have ended.
    pub(super) fn recover(&self) -> Result<usize, AuditError> {
        self.send_job(Job::Recover).unwrap_or_else(|| Err(thread_ended_error()))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by the missing responses.
            let _ = thread.join();
        }
    }
}

fn thread_ended_error() -> AuditError {
    AuditError::new("the thread that writes to the database has ended")
}

struct State {
    setup: Setup,
    connection: Option<WriterConnection>,
    writer: Option<Writer>,
    /// The last day on which partitions were created ahead and outdated partitions were dropped.
    maintained_day: String,
    /// The reason why the database is unreachable. It is set when a job times out, and cleared when the database is
    /// reachable again. Until then, other jobs are rejected immediately.
    outage: Option<AuditError>,
}

impl State {
    fn new(setup: Setup) -> State {
        State { setup, connection: None, writer: None, maintained_day: String::new(), outage: None }
    }

    async fn run(mut self, mut jobs: UnboundedReceiver<Job>) {
        let heartbeat_interval = self.setup.lease / 4;
        let mut last_heartbeat = Instant::now();
        loop {
            let interval = if self.outage.is_some() { CHECK_INTERVAL_DOWN } else { CHECK_INTERVAL };
            match timeout(interval.min(heartbeat_interval), jobs.recv()).await {
                Ok(Some(job)) => self.run_job(job).await,
                Ok(None) => break,
                Err(_) => {}
            }
            if self.is_broken() || last_heartbeat.elapsed() >= heartbeat_interval {
                self.maintain_connection(&mut jobs).await;
                last_heartbeat = Instant::now();
            }
        }
        if let (Some(connection), Some(writer)) = (&self.connection, &self.writer) {
            // If this message is lost, the lease expires instead.
            let _ = timeout(DISCONNECT_TIMEOUT, connection.end(writer)).await;
        }
    }

    fn is_broken(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.client.is_closed())
    }

    async fn run_job(&mut self, job: Job) {
        if let Some(error) = &self.outage {
            return job.refuse(error.clone());
        }
        // If the sink was dropped, no response is needed.
        match job {
            Job::Write(rows, deadline, response) => {
                let result = self.run_with_retries(deadline, async |state| state.write(&rows).await).await;
                let _ = response.send((rows, result));
            }
            Job::ReserveIds(deadline, response) => {
                let _ = response
                    .send(self.run_with_retries(deadline, async |state| state.reserve_ids().await).await);
            }
            Job::Recover(response) => {
                let deadline = Instant::now() + self.setup.wait_timeout;
                let _ =
                    response.send(self.run_with_retries(deadline, async |state| state.recover().await).await);
            }
        }
    }

    /// Retries a task until it succeeds, the error is permanent, or the deadline passes. If the database is
    /// unreachable then, that is recorded in `outage`.
    async fn run_with_retries<T>(
        &mut self,
        deadline: Instant,
        task: impl AsyncFnMut(&mut State) -> Result<T, TaskError>,
    ) -> Result<T, AuditError> {
        let result = self.retry_until(deadline, task).await;
        if let Err(error) = &result
            && self.is_broken()
        {
            self.outage = Some(error.clone());
        }
        result
    }

    async fn retry_until<T>(
        &mut self,
        deadline: Instant,
        mut task: impl AsyncFnMut(&mut State) -> Result<T, TaskError>,
    ) -> Result<T, AuditError> {
        let (mut delay, mut last_error) = (BACKOFF.0, None);
        loop {
            match timeout_at(deadline, task(self)).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(TaskError::Final(reason))) => return Err(reason),
                Ok(Err(TaskError::Busy(reason))) => last_error = Some(reason),
                Ok(Err(TaskError::Database(reason))) => {
                    let error = AuditError::new(self.setup.target.error(&reason));
                    if breaks_connection(&reason) {
                        self.connection = None;
                    }
                    if !is_temporary(&reason) {
                        return Err(error);
                    }
                    last_error = Some(error);
                }
                Err(_) => {
                    // The outcome of the task is unknown, and a late response would be mistaken for the response to the
                    // next task.
                    self.connection = None;
                    return Err(last_error.unwrap_or_else(|| self.timeout_error()));
                }
            }
            if Instant::now() + delay >= deadline {
                return Err(last_error.unwrap_or_else(|| self.timeout_error()));
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(BACKOFF.1);
        }
    }

    fn timeout_error(&self) -> AuditError {
        let Setup { target, wait_timeout: limit, .. } = &self.setup;
        AuditError::new(format!("{}: no response within {limit:?}", target.redacted_url))
    }

    async fn open(&mut self) -> Result<String, TaskError> {
        let today = today();
        self.connection().await?;
        self.maintain(&today).await?;
        Ok(self.writer.as_ref().map(|writer| writer.owner.clone()).unwrap_or_default())
    }

    /// Returns the connection. Connects if there is no connection.
    async fn connection(&mut self) -> Result<(&mut WriterConnection, &Writer), TaskError> {
        if self.is_broken() {
            self.connection = None;
            self.connection = Some(WriterConnection::open(&self.setup, &mut self.writer).await?);
        }
        match (&mut self.connection, &self.writer) {
            (Some(connection), Some(writer)) => Ok((connection, writer)),
            _ => Err(TaskError::Final(thread_ended_error())),
        }
    }

    /// Reconnects if the connection is broken, and updates the heartbeat. Jobs that arrive in the meantime are
    /// rejected if the database is known to be unreachable.
    async fn maintain_connection(&mut self, jobs: &mut UnboundedReceiver<Job>) {
        let (limit, outage) = (self.setup.wait_timeout, self.outage.clone());
        let result = {
            let mut heartbeat = pin!(timeout(limit, self.send_heartbeat()));
            poll_fn(|context| {
                if let Poll::Ready(result) = heartbeat.as_mut().poll(context) {
                    return Poll::Ready(Some(result));
                }
                let Some(error) = &outage else { return Poll::Pending };
                while let Some(job) = ready!(jobs.poll_recv(context)) {
                    job.refuse(error.clone());
                }
                // The sink was dropped.
                Poll::Ready(None)
            })
            .await
        };
        match result {
            Some(Ok(result)) => self.handle_maintenance(result),
            Some(Err(_)) => {
                let error = self.timeout_error();
                self.connection = None;
                self.outage = Some(error.clone());
                self.handle_maintenance(Err(TaskError::Busy(error)));
            }
            None => self.connection = None,
        }
    }

    async fn send_heartbeat(&mut self) -> Result<(), TaskError> {
        let setup = self.setup.clone();
        let (connection, writer) = self.connection().await?;
        connection.send_heartbeat(&setup, writer).await?;
        let today = today();
        if self.maintained_day == today { Ok(()) } else { self.maintain(&today).await }
    }

    /// Records the result of the maintenance. Jobs report their own write errors, so this only schedules an early
    /// retry.
    fn handle_maintenance(&mut self, result: Result<(), TaskError>) {
        match result {
            Ok(()) => self.outage = None,
            Err(TaskError::Busy(reason) | TaskError::Final(reason)) => log::maintenance_failed(&reason),
            Err(TaskError::Database(reason)) => {
                log::maintenance_failed(&AuditError::new(self.setup.target.error(&reason)));
                if breaks_connection(&reason) {
                    self.connection = None;
                }
            }
        }
    }

    /// Maintains the partitions once a day, and again if a lock prevented that.
    async fn maintain(&mut self, today: &str) -> Result<(), TaskError> {
        let setup = self.setup.clone();
        let (connection, _) = self.connection().await?;
        match connection.maintain(&setup, today).await {
            Ok(()) => self.maintained_day = today.to_owned(),
            // At startup, the program does not wait for readers of outdated partitions.
            Err(reason) if reason.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                log::maintenance_failed(&AuditError::new(setup.target.error(&reason)));
            }
            Err(reason) => return Err(reason.into()),
        }
        Ok(())
    }

    async fn reserve_ids(&mut self) -> Result<i64, TaskError> {
        let (connection, _) = self.connection().await?;
        let number: i64 =
            connection.client.query_one("SELECT nextval('tool_audit_blocks')", &[]).await?.get(0);
        number
            .checked_mul(ID_BLOCK)
            .ok_or_else(|| TaskError::Final(AuditError::new("all record IDs are used")))
    }

    async fn recover(&mut self) -> Result<usize, TaskError> {
        let setup = self.setup.clone();
        let (connection, writer) = self.connection().await?;
        Ok(connection.recover(&setup, writer).await?)
    }

    /// Writes rows in batches, so that rows that the database rejects because of their content do not block others.
    async fn write(&mut self, rows: &[Row]) -> Result<(usize, Option<AuditError>), TaskError> {
        let target = self.setup.target.clone();
        let (connection, writer) = self.connection().await?;
        let (mut lost, mut reason, mut may_retry) = (0, None, true);
        let mut remaining: Vec<Range<usize>> = rows::batches(rows);
        remaining.reverse();
        while let Some(range) = remaining.pop() {
            let Some(batch) = rows.get(range.clone()) else { continue };
            let result = connection.write(&writer.owner, batch).await;
            let Err(error) = result else { continue };
            let code = error.code();
            if code == Some(&SqlState::CHECK_VIOLATION) && may_retry {
                // The partition was dropped by another program.
                may_retry = false;
                connection.days.clear();
                remaining.push(range);
            } else if !class(&error).is_some_and(|class| ["22", "23", "54"].contains(&class)) {
                return Err(error.into());
            } else if batch.len() > 1 {
                let middle = range.start + batch.len() / 2;
                remaining.extend([middle..range.end, range.start..middle]);
            } else {
                lost += batch.iter().map(|row| row.records).sum::<usize>();
                reason = Some(AuditError::new(target.error(&error)));
            }
        }
        Ok((lost, reason))
    }
}

/// Log messages for operators.
mod log {
    use super::AuditError;

    pub(super) fn maintenance_failed(reason: &AuditError) {
        #[cfg(feature = "tracing")]
        tracing::warn!(target: "toolgen::audit", error = %reason, "The audit database could not be maintained");
        let _ = reason;
    }
}
