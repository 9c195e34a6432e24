//! The queue of waiting calls: list, decide, claim and finish them.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::entry::QueuedApproval;
use super::error::ApprovalError;
use super::state::{ApprovalDecision, ApprovalState};
use super::used_names::UsedNames;
use crate::base::frozen::Text;
use crate::call::approval::ApprovalRequest;
use crate::call::error::ToolError;
use crate::call::resumption::Ticket;
use crate::call::store::{OnFailure, Store};
use crate::call::waiting::{Caller, millis_of};

/// Default time that a worker has to start a call that it claimed, before another worker may claim it: five minutes.
pub const DEFAULT_CLAIM_EXPIRY: Duration = Duration::from_secs(5 * 60);

/// Delays between attempts to withdraw a call that the queue did not accept in time.
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

/// Timeout of one attempt to withdraw a call.
const CALL_OFF_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of attempts to change a row while other processes change it.
const MAX_ATTEMPTS: u32 = 100;

/// The calls that wait for an approval in a [store](crate::call::store). A toolbox adds calls and runs them
/// ([`ToolboxBuilder::approval_queue`](crate::toolbox::ToolboxBuilder::approval_queue),
/// [`Toolbox::resume_decided`](crate::Toolbox::resume_decided)); approvers list, grant and deny them. Clones share the
/// queue.
///
/// The queue also remembers which calls were resumed, so that no call is resumed twice, and may be passed to a toolbox
/// for that purpose alone ([`ToolboxBuilder::approval_store`](crate::toolbox::ToolboxBuilder::approval_store)). A name
/// is taken before its call runs. If the response of the store is lost, the call does not run, but its request may be
/// used; the call must then be made again.
///
/// | state | becomes | when |
/// |---|---|---|
/// | `waiting` | `granted` or `denied` | a person decides: once, a second decision is rejected |
/// | `granted`, `denied` | `claimed` | a worker claims it: exactly one, across all processes |
/// | `claimed` | `started` | all layers let the call pass, and it is about to run |
/// | | `granted`, `denied` | the worker releases it: a layer, such as a rate limit, did not let it pass this time, or its arguments or its seal are invalid for the worker's toolbox. Any worker may claim it, and [`refused`](super::ApprovalClaim::refused) has the code of the error |
/// | | `claimed` | the worker does not start it within [`DEFAULT_CLAIM_EXPIRY`], because it exited or cannot reach the queue: another may claim it |
/// | | `finished` | the call was denied, and its caller was notified |
/// | `started` | `finished` | its outcome is known |
/// | any state before `started` | `expired` | the call has expired |
///
/// A worker never starts a call that was changed in the queue, or that its toolbox did not create in this form because
/// its key or its tool differs. It releases the call, and a worker with the right key can run it.
///
/// So a call runs at most once. If a worker dies before it starts the call, nothing is lost. If it dies later, the
/// call may have had its effect, so the call is never started again: it stays `started` and is shown in
/// that state, so that a person can investigate. A program that resumes a request itself, with
/// [`Toolbox::resume`](crate::Toolbox::resume), starts and finishes the entry as a worker does.
///
/// # Secrets
///
/// The readable part of an entry holds no secrets: arguments are redacted as for approvers. The sealed call contains
/// the original arguments. It is a separate row until the call starts or expires: protect the store as you protect
/// those arguments. The seal is verified before the call runs, so changes to the queue cannot make another call run.
///
/// # Write access
///
/// A process that can write to the queue can grant the calls that wait in it. If it kept a copy of a row, it can also
/// restore the row after its call has run or was denied, and delete its name from the used names. Each process
/// remembers the calls that it ran or denied itself and does not run them again, but other processes, or the same one
/// after a restart, cannot know. The seal does not help, because the old row was also sealed. So give write access
/// only to your program and to the approvers, and set a short
/// [expiry](crate::toolbox::ToolboxBuilder::approval_expiry), after which no restored row runs. Compare the queue with
/// audit records that its writers cannot change.
#[derive(Clone)]
pub struct Approvals {
    pub(super) store: Arc<dyn Store>,
    pub(super) on_failure: OnFailure,
    /// The names that were taken in this process, if names may be taken without the store.
    pub(super) local_names: Arc<UsedNames>,
    worker: Text,
    lease: Duration,
}

impl Approvals {
    /// Creates the handle of the queue in a store.
    pub fn on(store: impl Store + 'static) -> Approvals {
        Approvals {
            store: Arc::new(store),
            on_failure: OnFailure::Refuse,
            local_names: Arc::default(),
            worker: Text::EMPTY,
            lease: DEFAULT_CLAIM_EXPIRY,
        }
    }

    /// Sets what happens to resumed calls while the store cannot be reached. By default they are refused
    /// ([`OnFailure::Refuse`]) with the code `APPROVAL_UNKNOWN` or `INPUT_REQUEST_UNKNOWN`. With
    /// [`OnFailure::Degrade`] each process resumes a request once, so a call may run once per process: use it only for
    /// calls that are safe to repeat. Calls that would have to wait get an error with either setting.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Approvals {
        self.on_failure = on_failure;
        self
    }

    /// Sets the name of the worker in its claims, so that people can find the worker: for example, the machine and
    /// the process ID. It has no other effect.
    #[must_use]
    pub fn with_worker(mut self, name: impl Into<Text>) -> Approvals {
        self.worker = name.into();
        self
    }

    /// Sets the time after which this worker may claim a call that another worker claimed but did not start. Default:
    /// [`DEFAULT_CLAIM_EXPIRY`]. Even with a short time no call runs twice.
    #[must_use]
    pub fn with_claim_expiry(mut self, time: Duration) -> Approvals {
        self.lease = time;
        self
    }

    /// Returns the calls in these states, those that have waited longest first.
    ///
    /// # Errors
    ///
    /// Returns an error if the queue cannot be read.
    pub async fn list(&self, states: &[ApprovalState]) -> Result<Vec<QueuedApproval>, ApprovalError> {
        let mut all = self.all().await?;
        all.retain(|entry| states.contains(&entry.state));
        Ok(all)
    }

    /// Returns the calls that were decided and are not claimed by a worker, for
    /// [`Toolbox::resume_decided`](crate::Toolbox::resume_decided). [Damaged](QueuedApproval::damage) calls, which
    /// cannot run, are omitted; [`list`](Self::list) returns them.
    ///
    /// # Errors
    ///
    /// Returns an error if the queue cannot be read.
    pub async fn decided(&self) -> Result<Vec<QueuedApproval>, ApprovalError> {
        let (mut all, now) = (self.pending().await?, now());
        all.retain(|entry| entry.damage.is_none() && entry.is_claimable(self.lease, now));
        Ok(all)
    }

    /// Returns the call with this ID; `None` if there is no such call.
    ///
    /// # Errors
    ///
    /// Returns an error if the queue cannot be read.
    pub async fn get(&self, id: &str) -> Result<Option<QueuedApproval>, ApprovalError> {
        Ok(self.read(id).await?)
    }

    /// Returns the call whose ID begins with a prefix.
    ///
    /// # Errors
    ///
    /// Returns [`ApprovalError::NotFound`], [`ApprovalError::Ambiguous`], or an error if the queue cannot be read.
    pub async fn find(&self, prefix: &str) -> Result<QueuedApproval, ApprovalError> {
        if let Some(entry) = self.get(prefix).await? {
            return Ok(entry);
        }
        let not_found = || ApprovalError::NotFound { id: prefix.to_owned() };
        if prefix.is_empty() {
            return Err(not_found());
        }
        match self.ids(prefix).await?.as_slice() {
            [] => Err(not_found()),
            [id] => self.get(id).await?.ok_or_else(not_found),
            ids => Err(ApprovalError::Ambiguous { id: prefix.to_owned(), count: ids.len() }),
        }
    }

    /// Grants a call, so that a worker may run it. Returns the changed entry.
    ///
    /// # Errors
    ///
    /// Returns [`ApprovalError::NotFound`]; [`ApprovalError::Decided`] with the first decision if there is one;
    /// [`ApprovalError::Expired`]; [`ApprovalError::Taken`] if a program has resumed the call itself;
    /// [`ApprovalError::Damaged`]; or an error if the queue cannot be read or written.
    pub async fn grant(
        &self,
        id: &str,
        by: impl Into<Text>,
        note: impl Into<String>,
    ) -> Result<QueuedApproval, ApprovalError> {
        self.decide(id, true, by.into(), note.into()).await
    }

    /// Denies a call: it cannot run, and a worker notifies its caller. The model reads the note or, if the note is
    /// empty, that the call was denied.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`grant`](Self::grant).
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

    /// Denies a call whose caller is notified by other means.
    pub(crate) async fn withdraw(&self, id: &str, by: Text, error: &ToolError) -> Result<(), ApprovalError> {
        let changed = self.change(id, |entry, at| {
            let (by, note) = (by.clone(), String::new());
            entry.decide(ApprovalDecision { granted: false, by, at, note })?;
            entry.finish(Some(error.code()), at);
            Ok(())
        });
        changed.await.map(drop)
    }

    /// Adds a waiting call to the queue.
    pub(super) async fn put(&self, request: &ApprovalRequest) -> Result<(), ApprovalError> {
        self.insert(&QueuedApproval::new(request, now())).await
    }

    /// Ensures that a call never runs after its caller got the error that it could not be queued. The request to the
    /// queue may still take effect later, so this marks the call as used, and finishes its row as soon as the row
    /// exists.
    pub(super) fn spawn_call_off(&self, request: &ApprovalRequest) {
        let (approvals, id, expires_at) = (self.clone(), request.queue_id().to_owned(), request.expires_at);
        let task = async move {
            let mut is_used = false;
            for delay in CALL_OFF_DELAYS {
                tokio::time::sleep(*delay).await;
                let attempt =
                    tokio::time::timeout(CALL_OFF_TIMEOUT, approvals.call_off(&id, expires_at, &mut is_used));
                if matches!(attempt.await, Ok(true)) {
                    return;
                }
            }
            // The sealed call may exist without an entry.
            let _ = approvals.delete_sealed_call(&id).await;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(task);
        }
    }

    /// Marks a call as used, unless it already is, and finishes its row. Returns whether there was a row.
    async fn call_off(&self, id: &str, expires_at: SystemTime, is_used: &mut bool) -> bool {
        *is_used = *is_used || self.take(id, expires_at).await.is_ok();
        let change = self.change(id, |entry, now| {
            entry.call_off("APPROVAL_NOT_QUEUED", now);
            Ok(())
        });
        change.await.is_ok() && *is_used
    }

    /// Claims a call of this caller for this worker. Returns `None` if another worker has claimed the call, or if it
    /// has been resumed.
    pub(crate) async fn claim(&self, id: &str, caller: &Caller) -> Result<Option<Claimed>, ApprovalError> {
        let claimed = self.change(id, |entry, now| match entry.caller.difference(caller) {
            Some(what) => Err(ApprovalError::OtherCaller { what }),
            None => entry.claim(&self.worker, self.lease, now),
        });
        let claimed = claimed.await;
        match claimed {
            Ok(entry) => {
                let (version, id) = (entry.version, entry.id);
                let missing = || ApprovalError::Damaged("its sealed call is missing".to_owned());
                let request = *entry.request.ok_or_else(missing)?;
                let decision = entry.decision.ok_or(ApprovalError::Undecided)?;
                Ok(Some(Claimed { id, version, request, decision }))
            }
            Err(ApprovalError::Taken) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Records that a call is about to run, if it is in the queue. The ticket then holds the version at which it was
    /// started.
    pub(super) async fn start(&self, ticket: &Ticket) -> Result<(), ApprovalError> {
        let started =
            self.change(&ticket.name, |entry, now| entry.start(ticket.claim, &ticket.approver, now)).await;
        match started {
            Ok(entry) => {
                // This is set only once, because a call uses a ticket once.
                let _ = ticket.started.set(entry.version);
                Ok(())
            }
            // A resumed call does not have to come from the queue.
            Err(ApprovalError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Records the outcome of a call that was started at this version.
    pub(crate) async fn finish(
        &self,
        id: &str,
        version: u64,
        code: Option<&str>,
    ) -> Result<bool, ApprovalError> {
        self.settle(id, version, |entry, now| entry.finish(code, now)).await
    }

    /// Releases a claim of this version, and stores the error of the call, which has not run.
    pub(crate) async fn give_back(
        &self,
        id: &str,
        version: u64,
        code: Option<&str>,
    ) -> Result<bool, ApprovalError> {
        self.settle(id, version, |entry, _| entry.give_back(code)).await
    }

    /// Changes an entry if it still has a version; returns whether it did.
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

    /// Changes the current entry, and retries if another process has changed it in the meantime.
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
        let reason = format!("it was changed during each of {MAX_ATTEMPTS} attempts");
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

/// Returns the current time in whole milliseconds, as stored in entries.
pub(super) fn now() -> SystemTime {
    let now = SystemTime::now();
    UNIX_EPOCH.checked_add(Duration::from_millis(millis_of(now))).unwrap_or(now)
}

/// A call that this worker has claimed.
pub(crate) struct Claimed {
    pub(crate) id: Text,
    /// The version of the entry with this claim.
    pub(crate) version: u64,
    pub(crate) request: ApprovalRequest,
    pub(crate) decision: ApprovalDecision,
}
