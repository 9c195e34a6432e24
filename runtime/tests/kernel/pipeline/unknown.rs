//! Messages for models about tools that do not exist.

use crate::prelude::*;

/// Pays.
#[tool(undocumented)]
fn pay() -> &'static str {
    "paid"
}

/// Calls a tool that does not exist.
#[tool(read_only)]
async fn misspell(ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    Ok(ToolResult::text(format!("{:?}", ctx.call("pya", json!({})).await)))
}

fn registry() -> Registry {
    Registry::new(toolset![pay, misspell]).unwrap()
}

fn turn() -> Turn {
    Turn::new("turn")
}

async fn said(toolbox: &Toolbox, name: &str, turn: &Turn) -> String {
    toolbox.run(ToolCall::new("c1", name, json!({})), turn).await.text()
}

#[tokio::test]
async fn similar_name_is_suggested_for_every_call_path() {
    let toolbox = registry().toolbox(Default::default());
    let message = "Tool not found: pya; did you mean 'pay'?";
    assert_eq!(said(&toolbox, "pya", &turn()).await, message);
    let calls = vec![ToolCall::new("c1", "pya", json!({}))];
    let dispatched = toolbox.dispatch(calls, &turn(), &DispatchOptions::new()).await;
    assert_eq!(dispatched.responses[0].text(), message);
    assert_eq!(dispatched.responses[0].content()[0].to_json()["text"], message);
    assert!(said(&toolbox, "misspell", &turn()).await.contains("[did you mean 'pay'?]"));
}

#[tokio::test]
async fn unusable_tool_is_not_suggested() {
    let bare = "Tool not found: pya";
    let listed = Toolbox::builder(&registry()).allow(["misspell"]).build().unwrap();
    assert_eq!(said(&listed, "pya", &turn()).await, bare);
    let toolbox = registry().toolbox(Default::default());
    let reader = turn().with_principal(Principal::new("r").with_scopes(["read"]));
    assert_eq!(said(&toolbox, "pya", &reader).await, bare);
    let writer = turn().with_principal(Principal::new("w").with_scopes(["write"]));
    assert_eq!(said(&toolbox, "pya", &writer).await, format!("{bare}; did you mean 'pay'?"));
}

#[tokio::test]
async fn long_name_is_truncated_everywhere() {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let events = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&events);
    let toolbox = Toolbox::builder(&registry())
        .layer(auditor.clone())
        .on_event(move |event| seen.lock().unwrap().push(event.to_json().to_string()))
        .hide_forbidden()
        .build()
        .unwrap();
    let name = "ä".repeat(500_000);
    let open = registry().toolbox(Default::default());
    let short = format!("{}…", "ä".repeat(32));
    assert_eq!(said(&open, &name, &turn()).await, format!("Tool not found: {short}"));
    assert_eq!(said(&toolbox, &name, &turn()).await, format!("tool '{short}' not allowed in this context"));
    let options = DispatchOptions::new().with_steering(|| true);
    let options = options.with_strategy(toolgen_runtime::agent::dispatch::Strategy::Sequential);
    let calls = (0..2).map(|id| ToolCall::new(id.to_string(), name.as_str(), json!({}))).collect();
    let dispatched = toolbox.dispatch(calls, &turn(), &options).await;
    assert!(dispatched.responses.iter().all(|response| response.name == *short));
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.intent.tool_name == *short && format!("{row:?}").len() < 2000));
    assert!(events.lock().unwrap().iter().all(|event| event.len() < 1000));
    let unknown =
        registry().call_without_layers(&name, json!({}), &turn().call_context("1", "t")).await.unwrap_err();
    assert_eq!(unknown.to_string(), format!("Tool not found: {short}"));
}
