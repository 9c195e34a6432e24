//! The states of a call that waits for an approval, and what came of each.

use std::fmt;
use std::time::SystemTime;

use crate::base::frozen::Text;

/// The state of the approval of a call. See [`Approvals`](super::Approvals) for how one state leads to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ApprovalState {
    /// Nobody has decided yet.
    Waiting,
    /// It may run, and no worker has it.
    Granted,
    /// It may not run, and its caller has not been told.
    Denied,
    /// A worker has it but has not started it: it checks the call, or waits for its turn.
    Claimed,
    /// It runs. If it stays in this state, the program ended before the outcome was known: the call may have had its
    /// effect.
    Started,
    /// It has an outcome.
    Finished,
    /// Its time was over before it started. Rows do not have this state: it follows from the time.
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
    pub fn named(name: &str) -> Option<ApprovalState> {
        ApprovalState::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for ApprovalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What somebody decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalDecision {
    /// Whether the call may run.
    pub granted: bool,
    /// Who decided.
    pub by: Text,
    /// When.
    pub at: SystemTime,
    /// Why, in their words. A model reads the note of a denial.
    pub note: String,
}

/// The claim of a worker on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalClaim {
    /// The name of the worker, see [`Approvals::with_worker`](super::Approvals::with_worker); may be empty.
    pub worker: Text,
    /// Since when.
    pub at: SystemTime,
    /// The code of the error with which the worker gave the call back without having run it, such as `RATE_LIMITED`,
    /// or `APPROVAL_INVALID` if its toolbox did not make this call, or not like this. `None` as long as it has not.
    pub refused: Option<String>,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalOutcome {
    /// The [code](crate::ToolError::code) of the error; `None` if there was none.
    pub error_code: Option<String>,
    /// When.
    pub at: SystemTime,
}
