//! Reports of a running tool, which end once the call is answered and show no secrets.

use std::sync::Arc;

use crate::base::future::contained;
use crate::call::result::ToolResult;
use crate::call::secrets::Secrets;
use crate::call::span::Attribute;

use super::ToolContext;

/// The target of log lines about calls, by which subscribers filter. Part of the public interface.
#[cfg(feature = "tracing")]
pub(crate) const TARGET: &str = "toolgen_runtime::trace";

impl ToolContext {
    /// Reports a partial result to the callback, if there is one, without the secrets of the call. After the call is
    /// answered, nothing is reported. A panic in the callback does not reach the tool.
    pub fn update(&self, mut result: ToolResult) {
        if let Some(on_update) = self.turn().on_update.as_ref().filter(|_| !self.is_over()) {
            if let Some(secrets) = self.token.secrets() {
                secrets.hide_in(&mut result);
            }
            contained(|| on_update(result));
        }
    }

    /// Reports a line of progress to the callback, if there is one, as [`update`](Self::update) does.
    pub fn progress(&self, line: impl Into<String>) {
        if let Some(on_progress) = self.turn().on_progress.as_ref().filter(|_| !self.is_over()) {
            contained(|| {
                let mut line = line.into();
                if let Some(secrets) = self.token.secrets() {
                    secrets.hide_in_text(&mut line);
                }
                on_progress(line);
            });
        }
    }

    /// Tells operators what they should know of a call that goes on, without the secrets of the call: in the log, and in its
    /// span.
    pub(crate) fn warn(&self, mut line: String) {
        if let Some(secrets) = self.token.secrets() {
            secrets.hide_in_text(&mut line);
        }
        #[cfg(feature = "tracing")]
        tracing::warn!(target: TARGET, "{line}");
        self.add_event("toolgen.warning", &[("message", Attribute::Text(&line))]);
    }

    /// The secrets of this call and of those above it, which nothing but the tool and the model may see.
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
