//! Context values that clients send back: those that the server allows, with the provenance of the client.

use toolgen_runtime::call::context_values::Provenance;
use toolgen_runtime::layers::audit::{Auditor, MemorySink};
use toolgen_runtime::{ToolboxContext, tool, toolset};

use crate::prelude::*;
use crate::serve::client::{ALL, Client, params};

/// Starts a session.
#[tool(read_only)]
fn session_start() -> String {
    "s-42".to_owned()
}

/// Adds an entry to the log of a session.
#[tool(
    undocumented,
    requires(context("session_id", message = "Active session required. Call session_start first."))
)]
fn session_log(ctx: &ToolContext, text: String) -> String {
    let values = ctx.values();
    let who = match values.provenance("session_id") {
        Some(Provenance::Client) => "the client's",
        _ => "the program's",
    };
    format!("{text} in {who} {}", values.get("session_id").unwrap())
}

/// Has its own argument of that name.
#[tool(undocumented, read_only, requires(context("session_id")))]
fn session_find(ctx: &ToolContext, session_id: String) -> String {
    format!("{session_id} and {:?}", ctx.values().get("session_id"))
}

/// Returns its context values.
#[tool(read_only)]
fn values(ctx: &ToolContext) -> String {
    ctx.values().iter().map(|(name, _, value)| format!("{name}={value};")).collect()
}

fn toolbox(context: ToolboxContext, sink: &MemorySink) -> (Toolbox, Auditor) {
    let registry = Registry::new(toolset![session_start, session_log, session_find, values]).unwrap();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let toolbox = Toolbox::builder(&registry).context(context).layer(auditor.clone()).build().unwrap();
    (toolbox, auditor)
}

#[tokio::test]
async fn client_returns_values_of_an_earlier_call() {
    for (era, way) in ALL {
        let sink = MemorySink::new();
        let (toolbox, auditor) = toolbox(ToolboxContext::new(), &sink);
        let server = Server::new(toolbox.clone()).client_values(["session_id"]);
        let client = Client::connect(server, era, way).await;
        let tools = client.running.list_all_tools().await.unwrap();
        let displayed = |name: &str| {
            let tool = tools.iter().find(|tool| tool.name == name).unwrap();
            json!(tool.input_schema)["properties"]["session_id"].clone()
        };
        let message = displayed("session_log");
        assert_eq!(message["type"], "string");
        assert!(message["description"].as_str().unwrap().contains("Call session_start first"), "{message}");
        assert_eq!((displayed("values"), displayed("session_start")), (Value::Null, Value::Null));

        let (text, failed) = client.text("session_log", json!({"text": "hi"})).await;
        assert!(failed && text.contains("Active session required"), "{text}");
        let id = client.text("session_start", json!({})).await.0;
        let (text, _) = client.text("session_log", json!({"text": "hi", "session_id": id})).await;
        assert_eq!(text, "hi in the client's \"s-42\"", "{era:?} {way:?}");
        // An argument of the tool with that name belongs to the tool.
        let mut call = params("session_find", json!({"session_id": "own"}));
        call.meta = Some(serde_json::from_value(json!({"io.toolgen/context": {"session_id": 7}})).unwrap());
        let found = json!(client.running.call_tool(call).await.unwrap());
        assert_eq!(found["content"][0]["text"], "own and Some(Number(7))", "{found}");

        auditor.flush().await.unwrap();
        let rows = sink.rows();
        let parameters: Vec<&Value> = rows.iter().map(|row| &row.intent.parameters).collect();
        assert_eq!(*parameters[2], json!({"text": "hi", "@client": {"session_id": "[REDACTED]"}}));
        assert_eq!(*parameters[0], json!({"text": "hi"}));
    }
}

#[tokio::test]
async fn client_cannot_set_other_values() {
    let context = || {
        let values = toolgen_runtime::ContextValues::default().with_trusted("workspace_id", 7);
        ToolboxContext::new().with_values(values)
    };
    for (era, way) in ALL {
        let (toolbox, _auditor) = toolbox(context(), &MemorySink::new());
        let allowed = Server::new(toolbox.clone()).client_values(["session_id", "workspace_id"]);
        let given = json!({"session_id": "s", "workspace_id": 8, "principal": "root", "other": 1});
        for (server, expected) in
            [(allowed, "session_id=\"s\";workspace_id=7;"), (Server::new(toolbox), "workspace_id=7;")]
        {
            let client = Client::connect(server, era, way).await;
            let mut call = params("values", json!({}));
            call.meta = Some(serde_json::from_value(json!({ "io.toolgen/context": given })).unwrap());
            let text = json!(client.running.call_tool(call).await.unwrap())["content"][0]["text"].clone();
            assert_eq!(text, expected, "{era:?} {way:?}");
        }
        let server = Server::new(toolbox_of_all()).client_values(["session_id"]);
        let client = Client::connect(server, era, way).await;
        for wrong in [json!({"a": 1}), json!(["s"]), json!(true), json!("x".repeat(1_025)), json!(1.5)] {
            let (text, failed) = client.text("session_log", json!({"text": "hi", "session_id": wrong})).await;
            assert!(failed, "{text}");
        }
    }
}

fn toolbox_of_all() -> Toolbox {
    toolbox(ToolboxContext::new(), &MemorySink::new()).0
}
