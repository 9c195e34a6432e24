//! Watching calls from outside, and stopping them before anything else looks at them.

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::result::ToolResult;
use crate::call::{ToolCall, ToolResponse};

/// What a skipped call is answered with.
pub const SKIPPED_BY_HOOK: &str = "Tool execution skipped by before_tool_execution hook.";

/// What a call is answered with whose hook takes too long.
pub const SKIPPED_BY_LATE_HOOK: &str =
    "Tool execution skipped: the before_tool_execution hook did not answer in time.";

/// Watches the calls of a [`Provider`](crate::Provider), in this order: `before_tool_execution`, the event of the
/// call, the updates of the tool, the event of the answer, `after_tool_execution`.
///
/// A hook that panics before a call, or takes longer than
/// [`callback_timeout`](crate::provider::ProviderBuilder::callback_timeout), has said no; elsewhere its panic is ignored,
/// and one that takes too long after a call is given up, so that the answer does not wait for it.
pub trait Hooks: Send + Sync {
    /// Whether the call goes on; asked for unknown tools, too. After a no the call is answered with
    /// [`SKIPPED_BY_HOOK`], without events and without [`after_tool_execution`](Self::after_tool_execution).
    fn before_tool_execution<'a>(&'a self, call: &'a ToolCall, ctx: &'a ToolContext) -> BoxFuture<'a, bool> {
        let _ = (call, ctx);
        Box::pin(std::future::ready(true))
    }

    /// The call was answered.
    fn after_tool_execution<'a>(
        &'a self,
        response: &'a ToolResponse,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, ()> {
        let _ = (response, ctx);
        Box::pin(std::future::ready(()))
    }

    /// Whether an update of a running tool goes on to those who watch. After a no there is neither an event nor
    /// [`after_tool_execution_update`](Self::after_tool_execution_update).
    fn before_tool_execution_update(&self, call_id: &str, tool: &str, update: &ToolResult) -> bool {
        let _ = (call_id, tool, update);
        true
    }

    /// An update of a running tool was passed on.
    fn after_tool_execution_update(&self, call_id: &str, tool: &str, update: &ToolResult) {
        let _ = (call_id, tool, update);
    }
}
