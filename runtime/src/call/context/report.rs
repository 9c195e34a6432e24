//! What a running tool reports, and that it reports nothing once it is answered.

use crate::call::callback::tell;
use crate::call::result::ToolResult;

use super::ToolContext;

impl ToolContext {
    /// Reports what the tool has so far, if somebody watches. Once the call is answered nothing is passed on, and a
    /// panic of whoever watches is theirs.
    pub fn update(&self, result: ToolResult) {
        if let Some(on_update) = self.surroundings().on_update.as_ref().filter(|_| !self.is_over()) {
            tell(|| on_update(result));
        }
    }

    /// Reports a line of progress, if somebody watches, as [`update`](Self::update) does.
    pub fn progress(&self, line: impl Into<String>) {
        if let Some(on_progress) = self.surroundings().on_progress.as_ref().filter(|_| !self.is_over()) {
            tell(|| on_progress(line.into()));
        }
    }

    /// Says that the call is answered: whoever still holds a copy of this context can neither report nor call.
    pub(crate) fn end(&self) {
        self.token.end();
    }

    /// The call, or one that it belongs to, is answered.
    pub(crate) fn is_over(&self) -> bool {
        self.token.is_over()
    }
}

/// Ends a call when it goes, however that comes about.
pub(crate) struct Ending<'a>(pub(crate) &'a ToolContext);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
