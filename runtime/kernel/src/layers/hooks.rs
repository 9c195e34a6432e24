//! Hooks that observe calls from outside, and can stop them before any layer sees them.

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::result::ToolResult;
use crate::call::{ToolCall, ToolResponse};

/// The answer to a call that a hook skipped.
pub const SKIPPED_BY_HOOK: &str = "Tool execution skipped by before_tool_execution hook.";

/// The answer to a call whose hook took too long.
pub const SKIPPED_BY_LATE_HOOK: &str =
    "Tool execution skipped: the before_tool_execution hook did not answer in time.";

/// Observes the calls of a [`Toolbox`](crate::Toolbox), in this order: `before_tool_execution`, the event of the
/// call, the updates of the tool, the event of the answer, `after_tool_execution`.
///
/// A hook that panics before a call, or takes longer than
/// [`callback_timeout`](crate::toolbox::ToolboxBuilder::callback_timeout), refuses the call; elsewhere its panic is
/// ignored, and one that takes too long after a call is dropped, so that the answer does not wait for it.
pub trait Hooks: Send + Sync {
    /// Returns whether the call proceeds; called for unknown tools, too. If not, the call is answered with
    /// [`SKIPPED_BY_HOOK`], without events and without [`after_tool_execution`](Self::after_tool_execution).
    fn before_tool_execution<'a>(&'a self, call: &'a ToolCall, ctx: &'a ToolContext) -> BoxFuture<'a, bool> {
        let _ = (call, ctx);
        Box::pin(std::future::ready(true))
    }

    /// Called when the call was answered.
    fn after_tool_execution<'a>(
        &'a self,
        response: &'a ToolResponse,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, ()> {
        let _ = (response, ctx);
        Box::pin(std::future::ready(()))
    }

    /// Returns whether an update of a running tool is passed on. If not, there is neither an event nor
    /// [`after_tool_execution_update`](Self::after_tool_execution_update).
    fn before_tool_execution_update(&self, call_id: &str, tool: &str, update: &ToolResult) -> bool {
        let _ = (call_id, tool, update);
        true
    }

    /// Called when an update of a running tool was passed on.
    fn after_tool_execution_update(&self, call_id: &str, tool: &str, update: &ToolResult) {
        let _ = (call_id, tool, update);
    }
}
