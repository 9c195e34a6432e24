//! The record of a call, as the context knows it.

use std::sync::Arc;

use super::ToolContext;

/// The place of a call's record: the auditor that keeps it, its number there, and its number in a replay; 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) auditor: u64,
    pub(crate) key: u64,
    pub(crate) replayed: u64,
}

impl ToolContext {
    /// The record of this call, or of the one that makes it.
    #[cfg(feature = "audit")]
    pub(crate) fn recorded(&self) -> Option<Recorded> {
        self.recorded.as_deref().copied()
    }

    /// Notes the record of this call, which is above those of the calls that it makes.
    pub(crate) fn set_recorded(&mut self, recorded: Option<Recorded>) {
        if let Some(mut recorded) = recorded {
            if let (0, Some(above)) = (recorded.replayed, &self.recorded) {
                recorded.replayed = above.replayed;
            }
            self.recorded = Some(Arc::new(recorded));
        }
    }
}
