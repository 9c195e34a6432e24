//! Reports of a running tool, which end when the call has its result, and contain no secrets.

use std::sync::Arc;

use crate::base::future::catch_panic;
use crate::call::result::ToolResult;
use crate::call::secrets::Secrets;
use crate::call::span::Attribute;

use super::ToolContext;

/// The target of log lines about calls, by which subscribers filter. Part of the public interface.
#[cfg(feature = "tracing")]
pub(crate) const TARGET: &str = "toolgen_runtime::trace";

impl ToolContext {
    /// Reports a partial result to the callback, if there is one, with the secrets of the call redacted. Nothing is
    /// reported after the call has its result. A panic in the callback does not reach the tool.
    pub fn update(&self, mut result: ToolResult) {
        if let Some(on_update) = self.turn().on_update.as_ref().filter(|_| !self.is_over()) {
            if let Some(secrets) = self.token.secrets() {
                secrets.hide_in(&mut result);
            }
            catch_panic(|| on_update(result));
        }
    }

    /// Reports a line of progress to the callback, if there is one, like [`update`](Self::update).
    pub fn progress(&self, line: impl Into<String>) {
        if let Some(on_progress) = self.turn().on_progress.as_ref().filter(|_| !self.is_over()) {
            catch_panic(|| {
                let mut line = line.into();
                if let Some(secrets) = self.token.secrets() {
                    secrets.hide_in_text(&mut line);
                }
                on_progress(line);
            });
        }
    }

    /// Warns operators about a call that continues, with the secrets of the call redacted: in the log, and in the
    /// span of the call.
    pub(crate) fn warn(&self, mut line: String) {
        if let Some(secrets) = self.token.secrets() {
            secrets.hide_in_text(&mut line);
        }
        #[cfg(feature = "tracing")]
        tracing::warn!(target: TARGET, "{line}");
        self.add_event("toolgen.warning", &[("message", Attribute::Text(&line))]);
    }

    /// The secrets of this call and of those above it, which only the tool and the model may see.
    #[doc(hidden)]
    pub fn secrets(&self) -> Option<Arc<Secrets>> {
        self.token.secrets()
    }

    /// Adds secrets to those of this call.
    #[doc(hidden)]
    pub fn hide(&self, secrets: &Secrets) {
        if !secrets.is_empty() {
            self.token.hide(secrets);
        }
    }

    /// Marks the call as ended: remaining copies of this context can neither report nor call.
    pub(crate) fn end(&self) {
        self.token.end();
    }

    /// Whether this call, or one above it, has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.token.is_over()
    }
}

/// Ends a call when dropped, on every path.
pub(crate) struct Ending<'a>(pub(crate) &'a ToolContext);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
