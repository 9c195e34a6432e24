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

use super::link::{Link, Problem, Setup, Writer};
use super::rows::{self, Row};
use super::schema::today;
use crate::postgres::target::{breaks, class, may_pass};

/// The interval of connection checks while nothing is written.
const TICK: Duration = Duration::from_secs(1);

/// The interval of connection checks while the database is known to be unreachable, and calls are rejected.
const TICK_DOWN: Duration = Duration::from_millis(250);

/// The delay after a failed attempt: the first, and the maximum.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// The time limit for disconnecting from the server.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Number of IDs that a sink reserves at a time.
pub(super) const BLOCK: i64 = 1 << 16;

/// The result of a write: the number of records that the database rejects because of their content, and the reason.
pub(super) type Written = Result<(usize, Option<AuditError>), AuditError>;

/// A job of a sink for its worker, with its deadline and the channel for the response.
enum Job {
    Write(Vec<Row>, Instant, SyncSender<(Vec<Row>, Written)>),
    Block(Instant, SyncSender<Result<i64, AuditError>>),
    Recover(SyncSender<Result<usize, AuditError>>),
}

impl Job {
    /// Responds to a job that cannot be done now. If the sink was dropped, no response is needed.
    fn refuse(self, error: AuditError) {
        match self {
            Job::Write(rows, _, response) => drop(response.send((rows, Err(error)))),
            Job::Block(_, response) => drop(response.send(Err(error))),
            Job::Recover(response) => drop(response.send(Err(error))),
        }
    }
}

/// The sink's handle of the worker.
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
        let patience = setup.wait_timeout;
        let (jobs, taken) = unbounded_channel();
        let (started, is_started) = sync_channel(1);
        let work = move || {
            runtime.block_on(async {
                let mut state = State::new(setup);
                let deadline = Instant::now() + patience;
                let opened = state.patiently(deadline, async |state| state.open().await).await;
                let is_open = opened.is_ok();
                // The caller is the sink that waits for this.
                let _ = started.send(opened);
                if is_open {
                    state.run(taken).await;
                }
            });
        };
        let thread = std::thread::Builder::new().name("tool-audit-db".into()).spawn(work)?;
        let owner = is_started.recv().unwrap_or_else(|_| Err(ended()))?;
        Ok(Worker { jobs: Some(jobs), thread: Some(thread), owner, wait_timeout: patience })
    }

    fn ask<T>(&self, job: impl FnOnce(SyncSender<T>) -> Job) -> Option<T> {
        let (response, answered) = sync_channel(1);
        self.jobs.as_ref()?.send(job(response)).ok()?;
        answered.recv().ok()
    }

    /// Returns the deadline of a job that starts now.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.wait_timeout
    }

    /// Writes rows, and returns them with the result.
    pub(super) fn write(&self, rows: Vec<Row>, deadline: Instant) -> (Vec<Row>, Written) {
        self.ask(|response| Job::Write(rows, deadline, response))
            .unwrap_or_else(|| (Vec::new(), Err(ended())))
    }

    /// Returns the first ID of a block of [`BLOCK`] IDs, reserved for this process.
    pub(super) fn block(&self, deadline: Instant) -> Result<i64, AuditError> {
        self.ask(|response| Job::Block(deadline, response)).unwrap_or_else(|| Err(ended()))
    }

    /// Closes the calls of writers that have ended.
    pub(super) fn recover(&self) -> Result<usize, AuditError> {
        self.ask(Job::Recover).unwrap_or_else(|| Err(ended()))
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

fn ended() -> AuditError {
    AuditError::new("the thread that talks to the database has ended")
}

struct State {
    setup: Setup,
    link: Option<Link>,
    writer: Option<Writer>,
    /// The last day on which partitions were created ahead, and old ones dropped.
    maintained: String,
    /// The reason why the database is unreachable. It is set when a job times out, and cleared when the database is
    /// reachable again. Until then, other jobs do not wait as long.
    down: Option<AuditError>,
}

impl State {
    fn new(setup: Setup) -> State {
        State { setup, link: None, writer: None, maintained: String::new(), down: None }
    }

    async fn run(mut self, mut jobs: UnboundedReceiver<Job>) {
        let pulse = self.setup.lease / 4;
        let mut beaten = Instant::now();
        loop {
            let tick = if self.down.is_some() { TICK_DOWN } else { TICK };
            match timeout(tick.min(pulse), jobs.recv()).await {
                Ok(Some(job)) => self.serve(job).await,
                Ok(None) => break,
                Err(_) => {}
            }
            if self.is_broken() || beaten.elapsed() >= pulse {
                self.look_after(&mut jobs).await;
                beaten = Instant::now();
            }
        }
        if let (Some(link), Some(writer)) = (&self.link, &self.writer) {
            // If this message is lost, the lease expires instead.
            let _ = timeout(DISCONNECT_TIMEOUT, link.end(writer)).await;
        }
    }

    fn is_broken(&self) -> bool {
        self.link.as_ref().is_none_or(|link| link.client.is_closed())
    }

    async fn serve(&mut self, job: Job) {
        if let Some(error) = &self.down {
            return job.refuse(error.clone());
        }
        // If the sink was dropped, no response is needed.
        match job {
            Job::Write(rows, deadline, response) => {
                let written = self.patiently(deadline, async |state| state.write(&rows).await).await;
                let _ = response.send((rows, written));
            }
            Job::Block(deadline, response) => {
                let _ = response.send(self.patiently(deadline, async |state| state.block().await).await);
            }
            Job::Recover(response) => {
                let deadline = Instant::now() + self.setup.wait_timeout;
                let _ = response.send(self.patiently(deadline, async |state| state.recover().await).await);
            }
        }
    }

    /// Retries a task until it succeeds, the error is permanent, or the deadline passes. If the database is
    /// unreachable then, that is recorded in `down`.
    async fn patiently<T>(
        &mut self,
        deadline: Instant,
        task: impl AsyncFnMut(&mut State) -> Result<T, Problem>,
    ) -> Result<T, AuditError> {
        let done = self.until(deadline, task).await;
        if let Err(error) = &done
            && self.is_broken()
        {
            self.down = Some(error.clone());
        }
        done
    }

    async fn until<T>(
        &mut self,
        deadline: Instant,
        mut task: impl AsyncFnMut(&mut State) -> Result<T, Problem>,
    ) -> Result<T, AuditError> {
        let (mut wait, mut last) = (BACKOFF.0, None);
        loop {
            match timeout_at(deadline, task(self)).await {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(Problem::Final(reason))) => return Err(reason),
                Ok(Err(Problem::Busy(reason))) => last = Some(reason),
                Ok(Err(Problem::Database(reason))) => {
                    let text = AuditError::new(self.setup.target.error(&reason));
                    if breaks(&reason) {
                        self.link = None;
                    }
                    if !may_pass(&reason) {
                        return Err(text);
                    }
                    last = Some(text);
                }
                Err(_) => {
                    // The outcome of the task is unknown, and a late response would be mistaken for that of the next
                    // task.
                    self.link = None;
                    return Err(last.unwrap_or_else(|| self.late()));
                }
            }
            if Instant::now() + wait >= deadline {
                return Err(last.unwrap_or_else(|| self.late()));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(BACKOFF.1);
        }
    }

    fn late(&self) -> AuditError {
        let Setup { target, wait_timeout: patience, .. } = &self.setup;
        AuditError::new(format!("{}: no response within {patience:?}", target.shown))
    }

    async fn open(&mut self) -> Result<String, Problem> {
        let today = today();
        self.link().await?;
        self.maintain(&today).await?;
        Ok(self.writer.as_ref().map(|writer| writer.owner.clone()).unwrap_or_default())
    }

    /// Returns the connection. Connects if there is no connection.
    async fn link(&mut self) -> Result<(&mut Link, &Writer), Problem> {
        if self.is_broken() {
            self.link = None;
            self.link = Some(Link::open(&self.setup, &mut self.writer).await?);
        }
        match (&mut self.link, &self.writer) {
            (Some(link), Some(writer)) => Ok((link, writer)),
            _ => Err(Problem::Final(ended())),
        }
    }

    /// Reconnects if the connection is broken, and updates the heartbeat. Jobs that arrive in the meantime are
    /// rejected if the database is known to be unreachable.
    async fn look_after(&mut self, jobs: &mut UnboundedReceiver<Job>) {
        let (patience, down) = (self.setup.wait_timeout, self.down.clone());
        let tended = {
            let mut tending = pin!(timeout(patience, self.tend()));
            poll_fn(|context| {
                if let Poll::Ready(tended) = tending.as_mut().poll(context) {
                    return Poll::Ready(Some(tended));
                }
                let Some(error) = &down else { return Poll::Pending };
                while let Some(job) = ready!(jobs.poll_recv(context)) {
                    job.refuse(error.clone());
                }
                // The sink was dropped.
                Poll::Ready(None)
            })
            .await
        };
        match tended {
            Some(Ok(tended)) => self.tended(tended),
            Some(Err(_)) => {
                let error = self.late();
                self.link = None;
                self.down = Some(error.clone());
                self.tended(Err(Problem::Busy(error)));
            }
            None => self.link = None,
        }
    }

    async fn tend(&mut self) -> Result<(), Problem> {
        let setup = self.setup.clone();
        let (link, writer) = self.link().await?;
        link.beat(&setup, writer).await?;
        let today = today();
        if self.maintained == today { Ok(()) } else { self.maintain(&today).await }
    }

    /// Records the result of the maintenance. Jobs report their own write errors, so this only schedules an early
    /// retry.
    fn tended(&mut self, tended: Result<(), Problem>) {
        match tended {
            Ok(()) => self.down = None,
            Err(Problem::Busy(reason) | Problem::Final(reason)) => log::neglected(&reason),
            Err(Problem::Database(reason)) => {
                log::neglected(&AuditError::new(self.setup.target.error(&reason)));
                if breaks(&reason) {
                    self.link = None;
                }
            }
        }
    }

    /// Maintains the partitions once a day, and again if a lock prevented that.
    async fn maintain(&mut self, today: &str) -> Result<(), Problem> {
        let setup = self.setup.clone();
        let (link, _) = self.link().await?;
        match link.maintain(&setup, today).await {
            Ok(()) => self.maintained = today.to_owned(),
            // At startup, the program does not wait for readers of outdated partitions.
            Err(reason) if reason.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                log::neglected(&AuditError::new(setup.target.error(&reason)));
            }
            Err(reason) => return Err(reason.into()),
        }
        Ok(())
    }

    async fn block(&mut self) -> Result<i64, Problem> {
        let (link, _) = self.link().await?;
        let number: i64 = link.client.query_one("SELECT nextval('tool_audit_blocks')", &[]).await?.get(0);
        number.checked_mul(BLOCK).ok_or_else(|| Problem::Final(AuditError::new("all record IDs are used")))
    }

    async fn recover(&mut self) -> Result<usize, Problem> {
        let setup = self.setup.clone();
        let (link, writer) = self.link().await?;
        Ok(link.recover(&setup, writer).await?)
    }

    /// Writes rows in batches, so that rows that the database rejects because of their content do not block others.
    async fn write(&mut self, rows: &[Row]) -> Result<(usize, Option<AuditError>), Problem> {
        let target = self.setup.target.clone();
        let (link, writer) = self.link().await?;
        let (mut lost, mut reason, mut anew) = (0, None, true);
        let mut remaining: Vec<Range<usize>> = rows::pieces(rows);
        remaining.reverse();
        while let Some(range) = remaining.pop() {
            let Some(some) = rows.get(range.clone()) else { continue };
            let written = link.write(&writer.owner, some).await;
            let Err(error) = written else { continue };
            let code = error.code();
            if code == Some(&SqlState::CHECK_VIOLATION) && anew {
                // The partition was dropped by another program.
                anew = false;
                link.days.clear();
                remaining.push(range);
            } else if !class(&error).is_some_and(|class| ["22", "23", "54"].contains(&class)) {
                return Err(error.into());
            } else if some.len() > 1 {
                let middle = range.start + some.len() / 2;
                remaining.extend([middle..range.end, range.start..middle]);
            } else {
                lost += some.iter().map(|row| row.records).sum::<usize>();
                reason = Some(AuditError::new(target.error(&error)));
            }
        }
        Ok((lost, reason))
    }
}

/// Log messages for operators.
mod log {
    use super::AuditError;

    pub(super) fn neglected(reason: &AuditError) {
        #[cfg(feature = "tracing")]
        tracing::warn!(target: "toolgen::audit", error = %reason, "The audit database could not be looked after");
        let _ = reason;
    }
}
