//! Allows calls of a locked tool only while the server's descriptor matches the lock.

use serde_json::Value;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::mcp::drift::drift;
use toolgen_kernel::spec::plan::McpPlan;

use super::error::CHANGED;
use super::session::Listed;

/// Compares a locked tool with the server's current list.
///
/// # Errors
///
/// Returns an error if the tool has changed or is missing, and says what to do.
pub(super) fn check_unchanged(plan: &McpPlan, listed: &Listed) -> Result<(), ToolError> {
    let McpPlan { server, tool, descriptor } = plan;
    let what = match listed.descriptor(tool) {
        Some(now) if *now == **descriptor => return Ok(()),
        Some("") => "is listed more than once",
        Some(_) => "has changed since it was locked",
        None => "is gone",
    };
    let text = format!(
        "the tool `{tool}` of the MCP server `{}` {what}, so it is not called. Use another tool: only a person can \
         review the change and lock the tool again (`cargo toolgen mcp lock`)",
        server.alias
    );
    let detail = match listed.descriptor(tool) {
        Some(now) if !now.is_empty() => text.clone() + &told(descriptor, now),
        _ => text.clone(),
    };
    Err(ToolError::failed_with(CHANGED, text).with_operator_detail(detail))
}

/// Renders the changes of a tool, one per line, as `cargo toolgen mcp verify` prints them.
fn told(locked: &str, now: &str) -> String {
    let (Ok(locked), Ok(now)) = (serde_json::from_str::<Value>(locked), serde_json::from_str::<Value>(now))
    else {
        return format!("\nlocked: {locked}\nnow:    {now}");
    };
    drift(&[locked], &[now], &[]).iter().map(|change| format!("\n{change}")).collect()
}
