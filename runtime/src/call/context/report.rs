//! Reports of a running tool, which end once the call is answered.

use crate::call::callback::tell;
use crate::call::result::ToolResult;

use super::ToolContext;

impl ToolContext {
    /// Reports a partial result to the callback, if there is one. After the call is answered, nothing is reported. A
    /// panic in the callback does not reach the tool.
    pub fn update(&self, result: ToolResult) {
        if let Some(on_update) = self.turn().on_update.as_ref().filter(|_| !self.is_over()) {
            tell(|| on_update(result));
        }
    }

    /// Reports a line of progress to the callback, if there is one, as [`update`](Self::update) does.
    pub fn progress(&self, line: impl Into<String>) {
        if let Some(on_progress) = self.turn().on_progress.as_ref().filter(|_| !self.is_over()) {
            tell(|| on_progress(line.into()));
        }
    }

    /// Marks the call as answered: remaining copies of this context can neither report nor call.
    pub(crate) fn end(&self) {
        self.token.end();
    }

    /// Whether this call, or one above it, is answered.
    pub(crate) fn is_over(&self) -> bool {
        self.token.is_over()
    }
}

/// Ends a call when dropped, whatever the cause.
pub(crate) struct Ending<'a>(pub(crate) &'a ToolContext);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
