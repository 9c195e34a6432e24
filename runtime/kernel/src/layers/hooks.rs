//! Hooks that observe calls from outside, and can stop them before any layer sees them.

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::result::ToolResult;
use crate::call::{ToolCall, ToolResponse};

/// The result of a call that a hook skipped.
pub const SKIPPED_BY_HOOK: &str = "Tool execution skipped by before_tool_execution hook.";

/// The result of a call whose hook timed out.
pub const SKIPPED_BY_LATE_HOOK: &str =
    "Tool execution skipped: the before_tool_execution hook did not answer in time.";

/// Observes the calls of a [`Toolbox`](crate::Toolbox), in this order: `before_tool_execution`, the event of the call,
/// the updates of the tool, the event of the result, `after_tool_execution`.
///
/// If a hook panics before a call, or takes longer than
/// [`callback_timeout`](crate::toolbox::ToolboxBuilder::callback_timeout), the call is refused. After a call, a panic
/// is ignored, and a hook that times out is dropped so that the result is not delayed.
pub trait Hooks: Send + Sync {
    /// Returns whether the call proceeds. It is also called for unknown tools. If it returns false, the result of the
    /// call is [`SKIPPED_BY_HOOK`], without events and without [`after_tool_execution`](Self::after_tool_execution).
    fn before_tool_execution<'a>(&'a self, call: &'a ToolCall, ctx: &'a ToolContext) -> BoxFuture<'a, bool> {
        let _ = (call, ctx);
        Box::pin(std::future::ready(true))
    }

    /// Called after the call has a result.
    fn after_tool_execution<'a>(
        &'a self,
        response: &'a ToolResponse,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, ()> {
        let _ = (response, ctx);
        Box::pin(std::future::ready(()))
    }

    /// Returns whether an update of a running tool is passed on. If not, there is neither an event nor a call of
    /// [`after_tool_execution_update`](Self::after_tool_execution_update).
    fn before_tool_execution_update(&self, call_id: &str, tool: &str, update: &ToolResult) -> bool {
        let _ = (call_id, tool, update);
        true
    }

    /// Called after an update of a running tool was passed on.
    fn after_tool_execution_update(&self, call_id: &str, tool: &str, update: &ToolResult) {
        let _ = (call_id, tool, update);
    }
}
