//! Replaces `otel` in builds without that feature.

use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::{RequestContext, RoleServer};
use toolgen_kernel::call::context::ToolContext;

use super::SharedState;

/// No span.
pub(super) struct RequestSpan;

impl RequestSpan {
    pub(super) fn begin(
        _: &SharedState,
        _: &CallToolRequestParams,
        _: &RequestContext<RoleServer>,
    ) -> RequestSpan {
        RequestSpan
    }

    pub(super) fn add_to(&self, ctx: ToolContext) -> ToolContext {
        ctx
    }

    pub(super) fn end(self, _: &Result<CallToolResponse, ErrorData>) {}
}
