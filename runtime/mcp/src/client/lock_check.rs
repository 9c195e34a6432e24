//! Lets a locked tool be called only while its server describes it as in the lock.

use serde_json::Value;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::mcp::drift::drift;
use toolgen_kernel::spec::plan::McpPlan;

use super::error::CHANGED;
use super::session::Listed;

/// Checks a locked tool against what its server says now.
///
/// # Errors
///
/// If the tool has changed or is gone, with what to do about it.
pub(super) fn check_unchanged(plan: &McpPlan, listed: &Listed) -> Result<(), ToolError> {
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
        Some(now) if !now.is_empty() => text.clone() + &told(descriptor, now),
        _ => text.clone(),
    };
    Err(ToolError::failed_with(CHANGED, text).with_operator_detail(detail))
}

/// Returns the changes of a tool, one a line, as `cargo toolgen mcp verify` shows them.
fn told(locked: &str, now: &str) -> String {
    let (Ok(locked), Ok(now)) = (serde_json::from_str::<Value>(locked), serde_json::from_str::<Value>(now))
    else {
        return format!("\nlocked: {locked}\nnow:    {now}");
    };
    drift(&[locked], &[now], &[]).iter().map(|change| format!("\n{change}")).collect()
}
