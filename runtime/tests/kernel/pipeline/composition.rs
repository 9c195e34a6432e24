//! Tools that call tools.

use super::{call, toolbox};
use crate::prelude::*;

/// Adds a number to itself, with another tool.
#[tool(undocumented)]
pub(crate) async fn twice(number: i64, ctx: &ToolContext) -> Result<Value, ToolError> {
    Ok(ctx.call("add", json!({"a": number, "b": number})).await?.details)
}

/// Calls itself, for ever.
#[tool]
pub(crate) async fn deeper(ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    ctx.call("deeper", Value::Null).await
}

#[tokio::test]
async fn nested_call_passes_the_same_layers() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let events = seen.clone();
    let watched = toolbox()
        .on_event(move |event| events.lock().unwrap().push(format!("{} {}", event.type_name(), event.id)))
        .build()
        .unwrap();
    assert_eq!(call(&watched, "twice", json!({"number": 4})).await.text(), "8");
    assert_eq!(
        *seen.lock().unwrap(),
        ["tool_call c1", "tool_call c1.1", "tool_response c1.1", "tool_response c1"]
    );
    let without = toolbox().allow(["twice"]).build().unwrap();
    let refused = call(&without, "twice", json!({"number": 4})).await;
    assert_eq!(refused.text(), "tool 'add' not allowed in this context");
}

#[tokio::test]
async fn endless_nested_calls_are_stopped() {
    let response = call(&toolbox().build().unwrap(), "deeper", Value::Null).await;
    assert_eq!(response.outcome.unwrap_err().code(), "DEPTH_EXCEEDED");
}

#[tokio::test]
async fn nested_call_without_a_toolbox_is_an_error() {
    let error =
        toolgen_runtime::function::testing::call(&twice::tool(), json!({"number": 1})).await.unwrap_err();
    assert_eq!(error.code(), "SERVICE_UNAVAILABLE");
}
