//! A call in a queue: the data that people may see, and the transitions between its states.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_core::de::Error as _;
use serde_core::{Serialize, Serializer};
use serde_json::{Value, json};

use super::error::ApprovalError;
use super::state::{ApprovalClaim, ApprovalDecision, ApprovalOutcome, ApprovalState};
use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::base::redacted_debug::discreet_debug;
use crate::call::approval::ApprovalRequest;
use crate::call::callee::Callee;
use crate::call::store::Row;
use crate::call::waiting::{Caller, millis_of, seal_name};

/// A call that waits, or has waited, for an approval in a queue, without the secrets in its arguments.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct QueuedApproval {
    /// The unique ID: 32 hexadecimal digits.
    pub id: Text,
    /// The state.
    pub state: ApprovalState,
    /// The model's ID of the call.
    pub call_id: Text,
    /// The name of the tool.
    pub tool: Text,
    /// The caller. A worker resumes the call for the same caller.
    pub caller: Caller,
    /// The arguments as people may see them, without secrets.
    pub redacted_arguments: Value,
    /// The reasons why the call needs an approval.
    pub reasons: Vec<String>,
    /// The nested tools that the call may use, see [`ApprovalRequest::calls`].
    pub calls: Vec<Callee>,
    /// When the call began to wait.
    pub requested_at: SystemTime,
    /// When the call can no longer be resumed.
    pub expires_at: SystemTime,
    /// The decision, if there is one.
    pub decision: Option<ApprovalDecision>,
    /// The worker that has claimed the call, or the last one that released it.
    pub claim: Option<ApprovalClaim>,
    /// The outcome, if it is known.
    pub outcome: Option<ApprovalOutcome>,
    /// Why the row cannot be read, if something else changed it. Such a call cannot be decided about and cannot run,
    /// and its data may be incomplete.
    pub damage: Option<String>,
    pub(super) request: Option<Box<ApprovalRequest>>,
    pub(super) version: u64,
}

discreet_debug!(QueuedApproval:
    id, state, call_id, tool, caller, reasons, calls, requested_at, expires_at, decision, claim, outcome, damage; redacted_arguments);

/// `{"id", "state", "call_id", "tool", "shown", "reasons", "asked_at", "expires_at"}`, with times in milliseconds
/// since 1970, and, if known, `principal`, `session_id`, `agent_id`, an array `calls`, `decision` (`{"granted", "by",
/// "at", "note"}`), `claim` (`{"worker", "at"}`, and possibly `refused`), `outcome` (`{"error_code", "at"}`), and
/// `damage`.
impl Serialize for QueuedApproval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = json!({
            "id": self.id, "state": self.state.as_str(), "call_id": self.call_id, "tool": self.tool,
            "shown": self.redacted_arguments, "reasons": self.reasons,
            "asked_at": millis_of(self.requested_at), "expires_at": millis_of(self.expires_at),
        });
        self.caller.write(&mut out);
        if !self.calls.is_empty() {
            out["calls"] = json!(self.calls);
        }
        if let Some(ApprovalDecision { granted, by, at, note }) = &self.decision {
            out["decision"] = json!({ "granted": granted, "by": by, "at": millis_of(*at), "note": note });
        }
        if let Some(ApprovalClaim { worker, at, refused }) = &self.claim {
            out["claim"] = json!({ "worker": worker, "at": millis_of(*at) });
            if let Some(code) = refused {
                out["claim"]["refused"] = json!(code);
            }
        }
        if let Some(ApprovalOutcome { error_code, at }) = &self.outcome {
            out["outcome"] = json!({ "error_code": error_code, "at": millis_of(*at) });
        }
        if let Some(damage) = &self.damage {
            out["damage"] = json!(damage);
        }
        out.serialize(serializer)
    }
}

impl QueuedApproval {
    /// Returns the entry of a call that starts to wait now.
    pub(super) fn new(request: &ApprovalRequest, now: SystemTime) -> QueuedApproval {
        let mut entry =
            QueuedApproval::blank(Text::copy_of(seal_name(&request.seal)), now, request.expires_at);
        entry.set_call_data(request);
        entry.request = Some(Box::new(request.clone()));
        entry
    }

    fn blank(id: Text, requested_at: SystemTime, expires_at: SystemTime) -> QueuedApproval {
        QueuedApproval {
            id,
            state: ApprovalState::Waiting,
            call_id: Text::EMPTY,
            tool: Text::EMPTY,
            caller: Caller::default(),
            redacted_arguments: Value::Null,
            reasons: Vec::new(),
            calls: Vec::new(),
            requested_at,
            expires_at,
            decision: None,
            claim: None,
            outcome: None,
            damage: None,
            request: None,
            version: 1,
        }
    }

    /// Copies the data of the call from its request.
    fn set_call_data(&mut self, request: &ApprovalRequest) {
        self.call_id.clone_from(&request.id);
        self.tool.clone_from(&request.name);
        self.caller.clone_from(&request.caller);
        self.redacted_arguments.clone_from(&request.redacted_arguments);
        self.reasons.clone_from(&request.reasons);
        self.calls.clone_from(&request.calls);
        self.expires_at = request.expires_at;
    }

    /// Returns the entry of a row and its sealed call, as of now. An unreadable row becomes a damaged entry: an error
    /// would hide all other entries from people and workers.
    pub(super) fn from_row(row: Row, request: Option<&Row>, now: SystemTime) -> QueuedApproval {
        // A damaged row is shown regardless of its times.
        let far_future = now.checked_add(Duration::from_secs(1 << 36)).unwrap_or(now);
        let mut entry = QueuedApproval::blank(Text::from(row.key), UNIX_EPOCH, far_future);
        entry.version = row.version;
        if let Err(error) = entry.read(&row.value, request.map(|row| row.value.as_slice()), now) {
            entry.damage = Some(error.to_string());
        }
        let can_expire = matches!(
            entry.state,
            ApprovalState::Waiting | ApprovalState::Granted | ApprovalState::Claimed | ApprovalState::Denied
        );
        if can_expire && entry.expires_at <= now {
            entry.state = ApprovalState::Expired;
        }
        entry
    }

    fn read(
        &mut self,
        bytes: &[u8],
        request: Option<&[u8]>,
        now: SystemTime,
    ) -> Result<(), serde_json::Error> {
        let value: Value = serde_json::from_slice(bytes)?;
        let mut members = Members::read(value, "the entry of the queue")?;
        let state: Text = members.take("state")?;
        // An unknown state comes from a later version of the library: this version must not act on the call.
        self.state = ApprovalState::by_name(&state).unwrap_or(ApprovalState::Finished);
        self.requested_at = take_time(&mut members, "asked_at")?;
        self.expires_at = take_time(&mut members, "expires_at")?;
        self.call_id = members.take("call_id")?;
        self.tool = members.take("tool")?;
        self.caller = Caller::read(&mut members)?;
        self.redacted_arguments = members.take("shown")?;
        self.reasons = members.take("reasons")?;
        self.calls = members.or_default("calls")?;
        if let Some(mut decision) = take_object(&mut members, "decision")? {
            self.decision = Some(ApprovalDecision {
                granted: decision.take("granted")?,
                by: decision.take("by")?,
                at: take_time(&mut decision, "at")?,
                note: decision.take("note")?,
            });
        }
        if let Some(mut claim) = take_object(&mut members, "claim")? {
            self.claim = Some(ApprovalClaim {
                worker: claim.take("worker")?,
                at: take_time(&mut claim, "at")?,
                refused: claim.or_default("refused")?,
            });
        }
        if let Some(mut outcome) = take_object(&mut members, "outcome")? {
            let error_code = outcome.or_default("error_code")?;
            self.outcome = Some(ApprovalOutcome { error_code, at: take_time(&mut outcome, "at")? });
        }
        // A call that was started cannot run again, even if its sealed call still exists.
        let has_started = matches!(self.state, ApprovalState::Started | ApprovalState::Finished);
        if let Some(request) = request.filter(|_| !has_started) {
            let request: ApprovalRequest = serde_json::from_slice(request)?;
            if seal_name(&request.seal) != self.id.as_str() {
                return Err(serde_json::Error::custom("its sealed call is that of another row"));
            }
            // Approvers see the call that will run, not other data in its row.
            self.set_call_data(&request);
            self.request = Some(Box::new(request));
        }
        let missing = |part: &str| Err(serde_json::Error::custom(format!("{part} is missing")));
        match self.state {
            ApprovalState::Started | ApprovalState::Finished | ApprovalState::Expired => Ok(()),
            // The call has expired, so its sealed call is deleted.
            _ if self.expires_at <= now => Ok(()),
            _ if self.request.is_none() => missing("its sealed call"),
            ApprovalState::Granted | ApprovalState::Denied | ApprovalState::Claimed
                if self.decision.is_none() =>
            {
                missing("the decision about it")
            }
            _ => Ok(()),
        }
    }

    /// Returns the stored JSON, which people may see.
    pub(super) fn to_json(&self) -> Result<String, ApprovalError> {
        serde_json::to_string(self).map_err(|error| ApprovalError::Damaged(error.to_string()))
    }

    /// Returns the sealed call as stored.
    pub(super) fn sealed_call(&self) -> Result<Option<String>, ApprovalError> {
        let request = self.request.as_deref().map(serde_json::to_string).transpose();
        request.map_err(|error| ApprovalError::Damaged(error.to_string()))
    }

    /// Whether a worker may claim the call: it was decided but not started, and no worker has claimed it, or the claim
    /// is older than `lease`.
    pub(super) fn is_claimable(&self, lease: Duration, now: SystemTime) -> bool {
        let is_claim_expired = || {
            self.claim.as_ref().is_none_or(|claim| claim.at.checked_add(lease).is_none_or(|end| end <= now))
        };
        match self.state {
            ApprovalState::Granted | ApprovalState::Denied => true,
            ApprovalState::Claimed => is_claim_expired(),
            _ => false,
        }
    }

    pub(super) fn decide(&mut self, decision: ApprovalDecision) -> Result<(), ApprovalError> {
        if let Some(first) = &self.decision {
            return Err(ApprovalError::Decided(Box::new(first.clone())));
        }
        match self.state {
            ApprovalState::Waiting => {}
            ApprovalState::Expired => return Err(ApprovalError::Expired),
            _ => return Err(ApprovalError::Taken),
        }
        self.state = if decision.granted { ApprovalState::Granted } else { ApprovalState::Denied };
        self.decision = Some(decision);
        Ok(())
    }

    pub(super) fn claim(
        &mut self,
        worker: &Text,
        lease: Duration,
        now: SystemTime,
    ) -> Result<(), ApprovalError> {
        match self.state {
            ApprovalState::Waiting => return Err(ApprovalError::Undecided),
            ApprovalState::Expired => return Err(ApprovalError::Expired),
            _ if !self.is_claimable(lease, now) => return Err(ApprovalError::Taken),
            _ => {}
        }
        self.state = ApprovalState::Claimed;
        self.claim = Some(ApprovalClaim { worker: worker.clone(), at: now, refused: None });
        Ok(())
    }

    /// Starts the call for the worker that claimed this version, or for a program that resumes it itself and names an
    /// approver.
    pub(super) fn start(
        &mut self,
        claimed: Option<u64>,
        approver: &Text,
        now: SystemTime,
    ) -> Result<(), ApprovalError> {
        match (self.state, claimed) {
            (ApprovalState::Claimed, Some(version)) if version == self.version => {}
            (ApprovalState::Waiting, None) => {
                let (by, note) = (approver.clone(), String::new());
                self.decision = Some(ApprovalDecision { granted: true, by, at: now, note });
            }
            (ApprovalState::Granted, None) => {}
            (ApprovalState::Denied, None) => {
                return Err(match &self.decision {
                    Some(first) => ApprovalError::Decided(Box::new(first.clone())),
                    None => ApprovalError::Taken,
                });
            }
            (ApprovalState::Expired, _) => return Err(ApprovalError::Expired),
            _ => return Err(ApprovalError::Taken),
        }
        self.state = ApprovalState::Started;
        Ok(())
    }

    pub(super) fn finish(&mut self, error_code: Option<&str>, now: SystemTime) {
        self.state = ApprovalState::Finished;
        self.outcome = Some(ApprovalOutcome { error_code: error_code.map(str::to_owned), at: now });
        self.request = None;
    }

    /// Finishes an entry that no caller waits for, regardless of the decision about it.
    pub(super) fn call_off(&mut self, code: &str, now: SystemTime) {
        if !matches!(self.state, ApprovalState::Started | ApprovalState::Finished) {
            self.finish(Some(code), now);
        }
    }

    /// Releases a claim, so that any worker can try, and keeps the reason.
    pub(super) fn give_back(&mut self, code: Option<&str>) {
        let is_granted = self.decision.as_ref().is_some_and(|decision| decision.granted);
        self.state = if is_granted { ApprovalState::Granted } else { ApprovalState::Denied };
        if let Some(claim) = &mut self.claim {
            claim.refused = code.map(str::to_owned);
        }
    }
}

fn take_object(members: &mut Members, name: &str) -> Result<Option<Members>, serde_json::Error> {
    if !members.has(name) {
        return Ok(None);
    }
    let value: Value = members.take(name)?;
    Members::read(value, "the entry of the queue").map(Some)
}

fn take_time(members: &mut Members, name: &str) -> Result<SystemTime, serde_json::Error> {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(members.take(name)?));
    time.ok_or_else(|| serde_json::Error::custom(format!("`{name}` is not a time")))
}
