//! Observers, which follow a call from its name to its result: records, spans, and replays that replace the tool.
//!
//! A [`Layer`](super::Layer) at [`Stage::Record`](super::Stage::Record) creates an [`Observer`] for each call,
//! including calls of unknown tools, regardless of how the call ends. If the call is abandoned, its observers are
//! dropped. An observer that panics before the tool runs fails the call; later panics are ignored.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use toolgen_runtime::layers::redact::Secrets;
//! use toolgen_runtime::layers::{Called, Layer, Observer, Outcome, Stage};
//! use toolgen_runtime::{BoxFuture, ToolContext};
//!
//! /// Counts calls that fail, and those that are abandoned.
//! #[derive(Clone, Default)]
//! struct Failures(Arc<AtomicU32>);
//!
//! impl Layer for Failures {
//!     fn stage(&self) -> Stage {
//!         Stage::Record
//!     }
//!
//!     fn observe(&self, _: &Called<'_>, _: &mut ToolContext) -> Option<Box<dyn Observer>> {
//!         self.0.fetch_add(1, Ordering::Relaxed);
//!         Some(Box::new(self.clone()))
//!     }
//! }
//!
//! impl Observer for Failures {
//!     fn finish(self: Box<Self>, outcome: &Outcome, _: Option<Arc<Secrets>>) -> Option<BoxFuture<'static, ()>> {
//!         if outcome.is_ok() {
//!             self.0.fetch_sub(1, Ordering::Relaxed);
//!         }
//!         None
//!     }
//! }
//! # let _ = Failures::default();
//! ```

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::layer::Outcome;
use super::middleware::Approval;
use super::redact::{Secrets, ToolRedactor};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::ToolCall;
use crate::call::error::ToolError;
use crate::call::tool::AgentTool;

/// A call that starts.
pub struct Called<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) tool: Option<&'a Arc<dyn AgentTool>>,
    pub(crate) redactor: &'a dyn Fn() -> ToolRedactor,
    pub(crate) started: SystemTime,
}

impl<'a> Called<'a> {
    /// The call, as sent.
    #[must_use]
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// The tool, if there is one of that name.
    #[must_use]
    pub fn tool(&self) -> Option<&'a Arc<dyn AgentTool>> {
        self.tool
    }

    /// When the call arrived.
    #[must_use]
    pub fn started(&self) -> SystemTime {
        self.started
    }

    /// Creates the redactor of the call.
    #[must_use]
    pub fn redactor(&self) -> ToolRedactor {
        (self.redactor)()
    }
}

impl fmt::Debug for Called<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Called").field("name", &self.call.name).finish_non_exhaustive()
    }
}

/// Follows one call. See the [module](self).
pub trait Observer: Send {
    /// Runs a step of the call, or of an inner observer, with the task-local state of this observer, such as its
    /// current span. Called only for observers of [`Stage::Trace`](super::Stage::Trace).
    fn within(&self, step: &mut dyn FnMut()) {
        step();
    }

    /// Notes the arguments that the tool will get, if they differ from those sent.
    fn arguments(&mut self, arguments: &Value) {
        let _ = arguments;
    }

    /// Notes the arguments that the tool would get if the call were approved; `complete` computes them.
    fn completed(&mut self, complete: &dyn Fn() -> Result<Value, ToolError>) {
        let _ = complete;
    }

    /// Notes that the call was approved, and the approver; empty if not named.
    fn approved(&mut self, by: &Text) {
        let _ = by;
    }

    /// Decides about the call, which needs an approval, instead of the approver.
    fn decide(&self) -> Option<Approval> {
        None
    }

    /// Notes that the tool is about to run; it may run again if it asks for input. The returned future is awaited
    /// before the tool runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool must not run.
    fn intent(&mut self) -> Result<Option<BoxFuture<'_, Result<(), ToolError>>>, ToolError> {
        Ok(None)
    }

    /// Returns the outcome instead of running the tool.
    fn answer(&self) -> Option<Outcome> {
        None
    }

    /// Notes the outcome, with the secrets of the call known by then. The returned future is awaited before the
    /// outcome is returned.
    fn finish(
        self: Box<Self>,
        outcome: &Outcome,
        secrets: Option<Arc<Secrets>>,
    ) -> Option<BoxFuture<'static, ()>> {
        let _ = (outcome, secrets);
        None
    }
}
