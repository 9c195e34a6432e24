//! The states of a call that waits for an approval.

use std::fmt;

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
