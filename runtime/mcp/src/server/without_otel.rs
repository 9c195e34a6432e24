//! Replaces `otel` in builds without that feature.

use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::{RequestContext, RoleServer};
use toolgen_kernel::call::Turn;

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

    pub(super) fn add_to(&self, turn: Turn) -> Turn {
        turn
    }

    pub(super) fn end(self, _: &Result<CallToolResponse, ErrorData>) {}
}
