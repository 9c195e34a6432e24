//! Tools that call other tools.

use super::context::Context;
use super::tools::Draft;

impl<'a> Context<'a> {
    /// Gives the composed tools among the drafts their calls and effects. All other drafts have theirs.
    pub(super) fn lower_composes(&mut self, drafts: &mut [Draft<'a>]) {
        let _ = drafts;
    }
}
