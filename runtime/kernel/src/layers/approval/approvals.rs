//! The calls that wait in a queue: shown, decided about, claimed, and finished.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::entry::QueuedApproval;
use super::error::ApprovalError;
use super::spent::Spent;
use super::state::{ApprovalDecision, ApprovalState};
use crate::base::frozen::Text;
use crate::call::approval::ApprovalRequest;
use crate::call::error::ToolError;
use crate::call::resumption::Ticket;
use crate::call::store::{OnFailure, Store};
use crate::call::waiting::{Caller, millis_of};

/// How long a worker has to start a call that it claimed before another may claim it: five minutes by default.
pub const DEFAULT_CLAIM_EXPIRY: Duration = Duration::from_secs(5 * 60);

/// The pauses between attempts to take back a call that the queue did not take in time.
const CALL_OFF_DELAYS: &[Duration] = &[
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(10),
    Duration::from_secs(30),
    Duration::from_secs(120),
];

/// How long one such attempt may take.
const CALL_OFF_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a change is retried because somebody else was faster.
const MAX_ATTEMPTS: u32 = 100;

/// The calls that wait for an approval in a [store](crate::call::store), for everyone who deals with them: a toolbox puts
/// them there and runs them ([`ToolboxBuilder::approval_queue`](crate::toolbox::ToolboxBuilder::approval_queue),
/// [`Toolbox::resume_decided`](crate::Toolbox::resume_decided)), and whoever decides lists, grants and denies them.
/// Clones share the queue.
///
/// It also remembers which calls were resumed, so that none is resumed twice, and may be given to a toolbox for that
/// alone ([`ToolboxBuilder::approval_store`](crate::toolbox::ToolboxBuilder::approval_store)). A name is taken before
/// its call runs: if the answer of the store is lost, the call does not run, and the request may be used up; then the call
/// has to be made again.
///
/// | state | becomes | when |
/// |---|---|---|
/// | `waiting` | `granted` or `denied` | somebody decides: once, a second decision is refused |
/// | `granted`, `denied` | `claimed` | a worker is about to carry it out: one, whatever processes they are in |
/// | `claimed` | `started` | all layers let the call pass, and it is about to run |
/// | | `granted`, `denied` | the worker gives it back, since a layer did not let it pass this time, such as a rate limit, or its arguments or its seal are not what its toolbox takes: any may claim it, and [`refused`](super::ApprovalClaim::refused) says why this one did not run it |
/// | | `claimed` | the worker does not start it for [`CLAIM_EXPIRY`], since it is gone or cannot reach the queue: another may claim it |
/// | | `finished` | it was denied, and its caller was told |
/// | `started` | `finished` | its outcome is known |
/// | all before `started` | `expired` | its time is over |
///
/// A call that was changed in the queue, or that the toolbox of the worker did not make in this form, because its key
/// or its tool differs, is never started by this worker: it gives it back, and one with the right key can run it.
///
/// So a call runs at most once. A worker that dies before it starts the call has lost nothing. One that dies later may
/// have had the effect or not, so the call is never started again: it stays `started` and is shown so, for a person to
/// look into. A program that resumes a request by itself, with [`Toolbox::resume`](crate::Toolbox::resume), starts
/// and finishes the entry as a worker does.
///
/// # Secrets
///
/// The readable part of an entry holds no secrets: arguments are as approvers see them. The sealed call, whose
/// arguments are what runs, is a row of its own, until it starts or expires: keep the store as safe as they are. The seal is checked before it runs, so a queue that somebody changes makes no other call run.
///
/// # Who may write
///
/// Whoever can write to the queue can grant what waits in it. One who kept a copy of it can also put a row back after
/// its call has run or was denied, and delete its name from those that were used: a process remembers what it has run
/// or refused itself and does not run it again, but another, or the same after a restart, cannot know. No seal helps,
/// since what stood there before was sealed, too. So give only the program and those who decide the right to write, set
/// a short [expiry](crate::toolbox::ToolboxBuilder::approval_expiry), after which nothing that is put back runs, and
/// compare with the records, kept where the queue's writers cannot change them.
#[derive(Clone)]
pub struct Approvals {
    pub(super) store: Arc<dyn Store>,
    pub(super) on_failure: OnFailure,
    /// The names that were taken here, if they may be taken without the store.
    pub(super) own: Arc<Spent>,
    worker: Text,
    lease: Duration,
}

impl Approvals {
    /// Creates the handle of the queue in a store.
    pub fn on(store: impl Store + 'static) -> Approvals {
        Approvals {
            store: Arc::new(store),
            on_failure: OnFailure::Refuse,
            own: Arc::default(),
            worker: Text::EMPTY,
            lease: DEFAULT_CLAIM_EXPIRY,
        }
    }

    /// Sets what becomes of resumed calls while the store cannot be reached: by default they are refused
    /// ([`OnFailure::Refuse`]) with the code `APPROVAL_UNKNOWN` or `INPUT_REQUEST_UNKNOWN`. With [`OnFailure::Degrade`]
    /// each process resumes a request once, so a call may run as often as there are processes: only for calls that may be
    /// repeated. Calls that would wait are answered with an error, whatever is set.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Approvals {
        self.on_failure = on_failure;
        self
    }

    /// Sets the name under which calls are claimed, for people who look for the worker: such as that of a machine and
    /// its process. It has no other effect.
    #[must_use]
    pub fn with_worker(mut self, name: impl Into<Text>) -> Approvals {
        self.worker = name.into();
        self
    }

    /// Sets how long others may have claimed a call without starting it before this one may claim it; [`CLAIM_EXPIRY`]
    /// by default. Even with a short time no call runs twice.
    #[must_use]
    pub fn with_claim_expiry(mut self, time: Duration) -> Approvals {
        self.lease = time;
        self
    }

    /// Returns the calls in these states, those that have waited longest first.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    pub async fn list(&self, states: &[ApprovalState]) -> Result<Vec<QueuedApproval>, ApprovalError> {
        let mut all = self.all().await?;
        all.retain(|entry| states.contains(&entry.state));
        Ok(all)
    }

    /// Returns the calls about which somebody has decided and that no worker has, for
    /// [`Toolbox::resume_decided`](crate::Toolbox::resume_decided). [Damaged](QueuedApproval::damage) ones, which
    /// cannot run, are not among them; [`list`](Self::list) has them.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    pub async fn decided(&self) -> Result<Vec<QueuedApproval>, ApprovalError> {
        let (mut all, now) = (self.open().await?, now());
        all.retain(|entry| entry.damage.is_none() && entry.is_free(self.lease, now));
        Ok(all)
    }

    /// Returns the call with an ID; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    pub async fn get(&self, id: &str) -> Result<Option<QueuedApproval>, ApprovalError> {
        Ok(self.read(id).await?)
    }

    /// Returns the call whose ID begins with a text.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::NotFound`] and [`ApprovalError::Ambiguous`], and if the queue cannot be read.
    pub async fn find(&self, start: &str) -> Result<QueuedApproval, ApprovalError> {
        if let Some(found) = self.get(start).await? {
            return Ok(found);
        }
        let none = || ApprovalError::NotFound { id: start.to_owned() };
        if start.is_empty() {
            return Err(none());
        }
        match self.ids(start).await?.as_slice() {
            [] => Err(none()),
            [id] => self.get(id).await?.ok_or_else(none),
            several => Err(ApprovalError::Ambiguous { id: start.to_owned(), count: several.len() }),
        }
    }

    /// Grants a call: a worker may run it. Returns the entry as it is now.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::NotFound`]; [`ApprovalError::Decided`] with the first decision if there is one;
    /// [`ApprovalError::Expired`]; [`ApprovalError::Taken`] if a program has resumed it by itself;
    /// [`ApprovalError::Damaged`]; and if the queue cannot be read or written.
    pub async fn grant(
        &self,
        id: &str,
        by: impl Into<Text>,
        note: impl Into<String>,
    ) -> Result<QueuedApproval, ApprovalError> {
        self.decide(id, true, by.into(), note.into()).await
    }

    /// Denies a call: it cannot run, and a worker tells its caller. A model reads the note, or, if it is empty, that the
    /// call was denied.
    ///
    /// # Errors
    ///
    /// As those of [`grant`](Self::grant).
    pub async fn deny(
        &self,
        id: &str,
        by: impl Into<Text>,
        note: impl Into<String>,
    ) -> Result<QueuedApproval, ApprovalError> {
        self.decide(id, false, by.into(), note.into()).await
    }

    async fn decide(
        &self,
        id: &str,
        granted: bool,
        by: Text,
        note: String,
    ) -> Result<QueuedApproval, ApprovalError> {
        self.change(id, |entry, at| {
            let (by, note) = (by.clone(), note.clone());
            entry.decide(ApprovalDecision { granted, by, at, note })
        })
        .await
    }

    /// Denies a call whose caller learns of it by other means.
    pub(crate) async fn withdraw(&self, id: &str, by: Text, error: &ToolError) -> Result<(), ApprovalError> {
        let changed = self.change(id, |entry, at| {
            let (by, note) = (by.clone(), String::new());
            entry.decide(ApprovalDecision { granted: false, by, at, note })?;
            entry.finish(Some(error.code()), at);
            Ok(())
        });
        changed.await.map(drop)
    }

    /// Puts a call that waits into the queue.
    pub(super) async fn put(&self, request: &ApprovalRequest) -> Result<(), ApprovalError> {
        self.insert(&QueuedApproval::new(request, now())).await
    }

    /// Makes sure that a call never runs once its caller was told that it does not wait here, although a request to the
    /// queue may still take effect later. Uses the call up, and finishes its row once it is there.
    pub(super) fn give_up(&self, request: &ApprovalRequest) {
        let (approvals, id, until) = (self.clone(), request.queue_id().to_owned(), request.expires_at);
        let calls_off = async move {
            let mut is_used = false;
            for wait in CALL_OFF_DELAYS {
                tokio::time::sleep(*wait).await;
                let done =
                    tokio::time::timeout(CALL_OFF_TIMEOUT, approvals.call_off(&id, until, &mut is_used));
                if matches!(done.await, Ok(true)) {
                    return;
                }
            }
            // Its sealed call may be there without an entry.
            let _ = approvals.unseal(&id).await;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(calls_off);
        }
    }

    /// Uses a call up, unless it already is, and finishes its row. Returns whether there was one.
    async fn call_off(&self, id: &str, until: SystemTime, is_used: &mut bool) -> bool {
        *is_used = *is_used || self.take(id, until).await.is_ok();
        let ended = self.change(id, |entry, now| {
            entry.call_off("APPROVAL_NOT_QUEUED", now);
            Ok(())
        });
        ended.await.is_ok() && *is_used
    }

    /// Claims a call of this caller for this worker. `None` if another has it, or it has been resumed.
    pub(crate) async fn claim(&self, id: &str, caller: &Caller) -> Result<Option<Claimed>, ApprovalError> {
        let claimed = self.change(id, |entry, now| match entry.caller.difference(caller) {
            Some(what) => Err(ApprovalError::OtherCaller { what }),
            None => entry.claim(&self.worker, self.lease, now),
        });
        let claimed = claimed.await;
        match claimed {
            Ok(entry) => {
                let (version, id) = (entry.version, entry.id);
                let lacking = || ApprovalError::Damaged("its sealed call is missing".to_owned());
                let request = *entry.request.ok_or_else(lacking)?;
                let decision = entry.decision.ok_or(ApprovalError::Undecided)?;
                Ok(Some(Claimed { id, version, request, decision }))
            }
            Err(ApprovalError::Taken) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Notes that a call is about to run, if it is in the queue. The ticket knows then that it was started.
    pub(super) async fn start(&self, ticket: &Ticket) -> Result<(), ApprovalError> {
        let started =
            self.change(&ticket.name, |entry, now| entry.start(ticket.claim, &ticket.approver, now)).await;
        match started {
            Ok(entry) => {
                // It is set once: a call uses up a ticket once.
                let _ = ticket.started.set(entry.version);
                Ok(())
            }
            // Not every call that is resumed comes from the queue.
            Err(ApprovalError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Notes the outcome of a call that was started at this version.
    pub(crate) async fn finish(
        &self,
        id: &str,
        version: u64,
        code: Option<&str>,
    ) -> Result<bool, ApprovalError> {
        self.settle(id, version, |entry, now| entry.finish(code, now)).await
    }

    /// Gives back a claim of this version, and notes the error of the call, which has not run.
    pub(crate) async fn give_back(
        &self,
        id: &str,
        version: u64,
        code: Option<&str>,
    ) -> Result<bool, ApprovalError> {
        self.settle(id, version, |entry, _| entry.give_back(code)).await
    }

    /// Changes an entry if it still has a version; returns whether it had.
    async fn settle(
        &self,
        id: &str,
        version: u64,
        change: impl Fn(&mut QueuedApproval, SystemTime),
    ) -> Result<bool, ApprovalError> {
        let changed = self.change(id, |entry, now| {
            if entry.version != version {
                return Err(ApprovalError::Taken);
            }
            change(entry, now);
            Ok(())
        });
        match changed.await {
            Ok(_) => Ok(true),
            Err(ApprovalError::Taken | ApprovalError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Changes the current entry, and tries again if somebody else has changed it meanwhile.
    async fn change(
        &self,
        id: &str,
        change: impl Fn(&mut QueuedApproval, SystemTime) -> Result<(), ApprovalError>,
    ) -> Result<QueuedApproval, ApprovalError> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(mut entry) = self.read(id).await? else {
                return Err(ApprovalError::NotFound { id: id.to_owned() });
            };
            if let Some(damage) = entry.damage {
                return Err(ApprovalError::Damaged(damage));
            }
            change(&mut entry, now())?;
            if let Some(version) = self.replace(&entry).await? {
                entry.version = version;
                return Ok(entry);
            }
        }
        let reason = format!("it was changed {MAX_ATTEMPTS} times while this was tried");
        Err(ApprovalError::Queue(ToolError::failed(reason)))
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("store", &self.store)
            .field("on_failure", &self.on_failure)
            .field("worker", &self.worker)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

/// Returns the time in whole milliseconds, as entries have it.
pub(super) fn now() -> SystemTime {
    let now = SystemTime::now();
    UNIX_EPOCH.checked_add(Duration::from_millis(millis_of(now))).unwrap_or(now)
}

/// A call that this worker has.
pub(crate) struct Claimed {
    pub(crate) id: Text,
    /// The version of the entry that says so.
    pub(crate) version: u64,
    pub(crate) request: ApprovalRequest,
    pub(crate) decision: ApprovalDecision,
}
