//! Lets a locked tool be called only while its server describes it as in the lock.

use super::error::CHANGED;
use super::session::Listed;
use crate::call::error::ToolError;
use crate::spec::plan::McpPlan;

/// Checks a locked tool against what its server says now.
///
/// # Errors
///
/// If the tool has changed or is gone, with what to do about it.
pub(super) fn check(plan: &McpPlan, listed: &Listed) -> Result<(), ToolError> {
    let McpPlan { server, tool, descriptor } = plan;
    let what = match listed.descriptor(tool) {
        Some(now) if *now == **descriptor => return Ok(()),
        Some("") => "is there several times",
        Some(_) => "has changed since it was locked",
        None => "is gone",
    };
    let text = format!(
        "the tool `{tool}` of the MCP server `{}` {what}, so it is not called. Use another tool: only a person can look \
         at the change and lock the tool again (`cargo toolgen mcp lock`)",
        server.alias
    );
    let detail = match listed.descriptor(tool) {
        Some(now) if !now.is_empty() => format!("{text}\nlocked: {descriptor}\nnow:    {now}"),
        _ => text.clone(),
    };
    Err(ToolError::failed_with(CHANGED, text).with_operator_detail(detail))
}
