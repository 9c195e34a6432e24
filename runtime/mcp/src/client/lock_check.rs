//! Allows calls of a locked tool only while the server's descriptor matches the lock.

use serde_json::Value;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::mcp::drift::drift;
use toolgen_kernel::spec::plan::McpPlan;

use super::error::CHANGED;
use super::session::ToolList;

/// Compares a locked tool with the server's current list.
///
/// # Errors
///
/// Returns an error if the tool has changed or is missing, and says what to do.
pub(super) fn check_unchanged(plan: &McpPlan, tool_list: &ToolList) -> Result<(), ToolError> {
    let McpPlan { server, tool, descriptor } = plan;
    let change = match tool_list.descriptor(tool) {
        Some(current) if *current == **descriptor => return Ok(()),
        Some("") => "is listed more than once",
        Some(_) => "has changed since it was locked",
        None => "is gone",
    };
    let text = format!(
        "the tool `{tool}` of the MCP server `{}` {change}, so it is not called. Use another tool: only a person can \
         review the change and lock the tool again (`cargo toolgen mcp lock`)",
        server.alias
    );
    let detail = match tool_list.descriptor(tool) {
        Some(current) if !current.is_empty() => text.clone() + &describe_changes(descriptor, current),
        _ => text.clone(),
    };
    Err(ToolError::failed_with(CHANGED, text).with_operator_detail(detail))
}

/// Renders the changes of a tool, one per line, as `cargo toolgen mcp verify` prints them.
fn describe_changes(locked: &str, current: &str) -> String {
    let (Ok(locked), Ok(current)) =
        (serde_json::from_str::<Value>(locked), serde_json::from_str::<Value>(current))
    else {
        return format!("\nlocked: {locked}\nnow:    {current}");
    };
    drift(&[locked], &[current], &[]).iter().map(|change| format!("\n{change}")).collect()
}
