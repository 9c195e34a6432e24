//! Programs that already have clients and servers of `rmcp`.

use rmcp::ClientHandler;
use rmcp::model::ClientConfig;
use rmcp::service::{RoleClient, RunningService};
use toolgen_runtime::ToolboxContext;
use toolgen_runtime::engine::mcp::rmcp::{Progress, tools, tools_with_progress};
use toolgen_runtime::serve::mcp::rmcp::handler;

use crate::prelude::*;
use crate::serve::client::until;
use crate::serve::tools::{Heard, toolbox};

/// Serves the fixture through its handler, and connects a client to it.
async fn connected<H: ClientHandler>(client: H) -> (RunningService<RoleClient, H>, Arc<Heard>) {
    let received = Arc::new(Heard::default());
    let context = ToolboxContext::new().with_service(Arc::clone(&received));
    let handler = handler(toolbox().context(context).build().unwrap());
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move { rmcp::serve_server(handler, theirs).await.unwrap().waiting().await });
    (rmcp::serve_client(client, ours).await.unwrap(), received)
}

#[tokio::test]
async fn client_tools_and_toolbox_handler_can_be_bridged() {
    let (client, received) = connected(ClientConfig::default()).await;
    let registry = Registry::new(tools("far", client.peer()).await.unwrap()).unwrap();
    let toolbox: Toolbox = registry.toolbox(ToolboxContext::new());
    let names: Vec<&str> = toolbox.specs().map(|spec| spec.name.as_str()).collect();
    assert_eq!((names.len(), names[0]), (10, "far__add"));
    let call = |name: &str, arguments| {
        let (toolbox, call) = (toolbox.clone(), ToolCall::new("1", name, arguments));
        async move { toolbox.run(call, &Turn::new("turn").with_timeout(Duration::from_millis(500))).await }
    };
    let sum = call("far__add", json!({"a": 1, "b": 2})).await;
    assert_eq!((sum.text().as_str(), sum.is_error()), ("{\"sum\":3}", false));
    assert_eq!(sum.outcome.unwrap().details, json!({"sum": 3}));
    let failed = call("far__fail", json!({"why": "no paper"})).await;
    assert!(failed.is_error() && failed.text().contains("no paper"), "{}", failed.text());
    let drawn = call("far__draw", json!({})).await;
    assert_eq!(drawn.content().len(), 2);
    // Arguments are validated here, before anything is sent.
    assert!(call("far__add", json!({"a": "one"})).await.text().contains("b: missing"));
    // A call that exceeds its timeout is cancelled at the server.
    assert!(call("far__hang", json!({})).await.is_error());
    until("cancelled", || received.0.load(Ordering::SeqCst)).await;
    client.cancel().await.unwrap();
    let lost = call("far__add", json!({"a": 1, "b": 2})).await;
    assert!(lost.is_error() && lost.text().contains("far"), "{}", lost.text());
}

#[tokio::test]
async fn progress_passes_the_bridge_in_both_directions() {
    let progress = Progress::new();
    let (client, _heard) = connected(progress.clone()).await;
    let tools = tools_with_progress("far", client.peer(), &progress).await.unwrap();
    let toolbox = Registry::new(tools).unwrap().toolbox(ToolboxContext::new());
    let calls = (0..20).map(|number| {
        let toolbox = toolbox.clone();
        tokio::spawn(async move {
            let lines = Arc::new(Mutex::new(Vec::new()));
            let received = Arc::clone(&lines);
            let turn = Turn::new("turn").with_on_progress(move |line| received.lock().unwrap().push(line));
            let response =
                toolbox.run(ToolCall::new(number.to_string(), "far__count", json!({})), &turn).await;
            assert_eq!(response.text(), "three");
            lines.lock().unwrap().clone()
        })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap(), ["1.0 counted 1", "2.0 counted 2", "3.0 counted 3"]);
    }
}
