//! Calls tools in tests, as a model would.

use serde_json::Value;

use crate::call::Turn;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::{AgentTool, DEFAULT_TIMEOUT, call_without_layers};

/// Calls a tool with arguments as a model sends them, in a context without services.
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::{testing, tool};
///
/// /// Adds.
/// #[tool(undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolgen_runtime::ToolError> {
/// assert_eq!(testing::call(&add::tool(), json!({"a": 1, "b": 2})).await?.details, json!(3));
/// assert!(testing::call(&add::tool(), json!({"a": 1})).await.is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The errors of [`call_without_layers`].
pub async fn call(tool: &dyn AgentTool, params: Value) -> Result<ToolResult, ToolError> {
    call_in(tool, params, &Turn::new("test").call_context("test-call", tool.name())).await
}

/// Calls a tool in a context of the test.
///
/// # Errors
///
/// The errors of [`call_without_layers`].
pub async fn call_in(
    tool: &dyn AgentTool,
    params: Value,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    call_without_layers(tool, params, ctx, DEFAULT_TIMEOUT).await
}

/// Checks the examples of a tool against its own schema.
///
/// # Errors
///
/// Returns one line per invalid example.
pub fn check_examples(tool: &dyn AgentTool) -> Result<(), String> {
    let spec = tool.spec();
    let invalid = spec.examples.iter().filter_map(|example| {
        let params = Value::from(&*example.arguments);
        let problem =
            crate::call::tool::arguments(spec, params, &crate::schema::dialect::JSON_SCHEMA).err()?;
        Some(format!("{}: {} ({problem})", spec.name, example.arguments))
    });
    let invalid: Vec<String> = invalid.collect();
    if invalid.is_empty() { Ok(()) } else { Err(invalid.join("\n")) }
}
