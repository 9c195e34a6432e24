//! What surrounds a call of a tool.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::dialect::{Dialect, JSON_SCHEMA};
use crate::result::ToolResult;
use crate::services::Services;

/// Takes what a tool has so far, for people who watch; a model never sees it.
pub type OnUpdate = Arc<dyn Fn(ToolResult) + Send + Sync>;

/// Takes a line of progress.
pub type OnProgress = Arc<dyn Fn(String) + Send + Sync>;

/// What surrounds a call of a tool: who it is, how it is stopped and whom it keeps informed.
///
/// ```
/// use toolgen_runtime::ToolContext;
///
/// let ctx = ToolContext::new("call-1", "add").with_on_progress(|line| drop(line));
/// assert_eq!(ctx.tool_name, "add");
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// The model's name for the call.
    pub tool_call_id: String,
    /// The tool that is called.
    pub tool_name: String,
    /// Fires when the caller gives up, and when time is up.
    pub cancel: CancellationToken,
    /// Takes what the tool has so far.
    pub on_update: Option<OnUpdate>,
    /// Takes lines of progress.
    pub on_progress: Option<OnProgress>,
    /// The most time the caller grants. A tool's own timeout may be shorter, never longer.
    pub timeout: Option<Duration>,
    /// The dialect the arguments come in: that of the provider whose model wrote them.
    pub dialect: &'static Dialect,
    /// What the program lends its tools.
    pub services: Services,
}

impl ToolContext {
    /// A call that nobody can stop and nobody watches.
    pub fn new(tool_call_id: impl Into<String>, tool_name: impl Into<String>) -> ToolContext {
        ToolContext {
            tool_call_id: tool_call_id.into(),
            tool_name: tool_name.into(),
            cancel: CancellationToken::new(),
            on_update: None,
            on_progress: None,
            timeout: None,
            dialect: &JSON_SCHEMA,
            services: Services::default(),
        }
    }

    /// Stops the call when this token, or one it is a child of, fires.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> ToolContext {
        self.cancel = cancel;
        self
    }

    /// Hands over what the tool has so far.
    #[must_use]
    pub fn with_on_update(mut self, on_update: impl Fn(ToolResult) + Send + Sync + 'static) -> ToolContext {
        self.on_update = Some(Arc::new(on_update));
        self
    }

    /// Hands over lines of progress.
    #[must_use]
    pub fn with_on_progress(mut self, on_progress: impl Fn(String) + Send + Sync + 'static) -> ToolContext {
        self.on_progress = Some(Arc::new(on_progress));
        self
    }

    /// Grants at most this much time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> ToolContext {
        self.timeout = Some(timeout);
        self
    }

    /// Says which provider's model wrote the arguments.
    #[must_use]
    pub fn with_dialect(mut self, dialect: &'static Dialect) -> ToolContext {
        self.dialect = dialect;
        self
    }

    /// Lends a service, which takes the place of one of the same type.
    #[must_use]
    pub fn with_service<T: Send + Sync + ?Sized + 'static>(mut self, service: Arc<T>) -> ToolContext {
        self.services = self.services.with(service);
        self
    }

    /// The service of a type.
    #[must_use]
    pub fn service<T: Send + Sync + ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.services.get()
    }

    /// The context of a call that this call makes: stopped with it, not the other way round.
    #[must_use]
    pub fn child(&self, tool_call_id: impl Into<String>, tool_name: impl Into<String>) -> ToolContext {
        ToolContext {
            tool_call_id: tool_call_id.into(),
            tool_name: tool_name.into(),
            cancel: self.cancel.child_token(),
            ..self.clone()
        }
    }

    /// Reports what the tool has so far, if somebody watches.
    pub fn update(&self, result: ToolResult) {
        if let Some(on_update) = &self.on_update {
            on_update(result);
        }
    }

    /// Reports a line of progress, if somebody watches.
    pub fn progress(&self, line: impl Into<String>) {
        if let Some(on_progress) = &self.on_progress {
            on_progress(line.into());
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Prints as itself, without quotes.
        struct Callback;
        impl fmt::Debug for Callback {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("<callback>")
            }
        }
        f.debug_struct("ToolContext")
            .field("tool_call_id", &self.tool_call_id)
            .field("tool_name", &self.tool_name)
            .field("cancelled", &self.cancel.is_cancelled())
            .field("on_update", &self.on_update.as_ref().map(|_| Callback))
            .field("on_progress", &self.on_progress.as_ref().map(|_| Callback))
            .field("timeout", &self.timeout)
            .field("dialect", &self.dialect.name)
            .field("services", &self.services)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callbacks_print_as_such() {
        let ctx = ToolContext::new("1", "t").with_on_update(drop).with_timeout(Duration::from_secs(1));
        let shown = format!("{ctx:?}");
        assert!(
            shown.contains("on_update: Some(<callback>), on_progress: None, timeout: Some(1s)"),
            "{shown}"
        );
    }

    #[test]
    fn a_child_is_stopped_with_its_parent_and_not_the_other_way_round() {
        let parent = ToolContext::new("1", "a");
        let (first, second) = (parent.child("2", "b"), parent.child("3", "c"));
        first.cancel.cancel();
        assert!(!parent.cancel.is_cancelled() && !second.cancel.is_cancelled());
        parent.cancel.cancel();
        assert!(second.cancel.is_cancelled());
    }
}
