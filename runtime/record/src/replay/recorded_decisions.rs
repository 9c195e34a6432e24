//! The approval decisions of a recording, so that no approver is asked again.

use super::live_call::LiveCall;
use super::{RecordedOutcome, Replay};
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::layers::middleware::Approval;

/// The code of a call that an approver denied.
pub(crate) const DENIED: &str = "PERMISSION_DENIED";

impl Replay {
    /// Decides about a call that needs an approval as in the recording. A call without a recorded decision waits; the
    /// missing approval is then a difference.
    pub(super) fn decide(&self, live: &LiveCall) -> Approval {
        let mut state = unpoisoned(self.state.lock());
        if state.difference.is_some() {
            return Approval::Later;
        }
        let inside = state.recorded_index.get(&live.outer_key()).map(|index| index + 1);
        let is_undecided =
            |index: &usize| !state.made_calls.contains(index) && !state.decided_calls.contains(index);
        let undecided = || {
            let calls = self.run.calls.iter().enumerate();
            calls.filter(|(index, call)| call.inside == inside && is_undecided(index))
        };
        let group = undecided().map(|(_, call)| call.group).min();
        let recorded = undecided().find(|(_, call)| {
            Some(call.group) == group
                && call.tool == live.tool.as_str()
                && live.differences(&call.arguments).is_empty()
        });
        let Some((index, call)) = recorded else { return Approval::Later };
        state.decided_calls.insert(index);
        match (&call.approved, &call.outcome) {
            (Some(by), _) if by.is_empty() => Approval::Approved,
            (Some(by), _) => Approval::ApprovedBy(by.clone().into()),
            (None, RecordedOutcome::Refused { code, message }) if code == DENIED => {
                Approval::Rejected(message.clone())
            }
            (None, _) => Approval::Later,
        }
    }
}
