//! The states of a call that waits for an approval, its decision, its claim and its outcome.

use std::fmt;
use std::time::SystemTime;

use crate::base::frozen::Text;

/// The state of the approval of a call. [`Approvals`](super::Approvals) documents the transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ApprovalState {
    /// The call is not decided yet.
    Waiting,
    /// The call may run, and no worker has claimed it.
    Granted,
    /// The call must not run, and its caller has not been notified.
    Denied,
    /// A worker has claimed the call but has not started it: the worker checks it, or it waits for its turn.
    Claimed,
    /// The call runs. If it stays in this state, the program ended before the outcome was known, and the call may have
    /// had its effect.
    Started,
    /// The call has an outcome.
    Finished,
    /// The call expired before it started. Rows do not store this state: it follows from the time.
    Expired,
}

impl ApprovalState {
    /// All states.
    pub const ALL: [ApprovalState; 7] = [
        ApprovalState::Waiting,
        ApprovalState::Granted,
        ApprovalState::Denied,
        ApprovalState::Claimed,
        ApprovalState::Started,
        ApprovalState::Finished,
        ApprovalState::Expired,
    ];

    /// Returns the name of the state: `waiting`, `granted`, `denied`, `claimed`, `started`, `finished` or `expired`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ApprovalState::Waiting => "waiting",
            ApprovalState::Granted => "granted",
            ApprovalState::Denied => "denied",
            ApprovalState::Claimed => "claimed",
            ApprovalState::Started => "started",
            ApprovalState::Finished => "finished",
            ApprovalState::Expired => "expired",
        }
    }

    /// Returns the state of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<ApprovalState> {
        ApprovalState::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for ApprovalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A decision about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalDecision {
    /// Whether the call may run.
    pub granted: bool,
    /// Name of the approver.
    pub by: Text,
    /// Time of the decision.
    pub at: SystemTime,
    /// Reason of the approver. A model reads the note of a denial.
    pub note: String,
}

/// The claim of a worker on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalClaim {
    /// The name of the worker, see [`Approvals::with_worker`](super::Approvals::with_worker); may be empty.
    pub worker: Text,
    /// Time of the claim.
    pub at: SystemTime,
    /// The code of the error with which the worker released the call without having run it, such as `RATE_LIMITED`, or
    /// `APPROVAL_INVALID` if its toolbox did not make this call, or not in this form. `None` until it does.
    pub refused: Option<String>,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalOutcome {
    /// The [code](crate::ToolError::code) of the error; `None` if there was none.
    pub error_code: Option<String>,
    /// Time of the outcome.
    pub at: SystemTime,
}
