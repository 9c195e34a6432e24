//! The list of tools.

use rmcp::model::{PaginatedRequestParams, SubscriptionFilter};
use toolgen_runtime::{tool, toolset};

use crate::prelude::*;
use crate::serve::client::{ALL, Client, Era, until};
use crate::serve::tools::server;

const NAMES: [&str; 10] = ["add", "count", "draw", "fail", "greet", "hang", "pay", "tell", "visits", "who"];

#[tokio::test]
async fn clients_list_all_pages_in_order() {
    for (era, way) in ALL {
        let client = Client::connect(server().0, era, way).await;
        let first = client.running.list_tools(None).await.unwrap();
        assert_eq!(first.tools.len(), 4, "{era:?} {way:?}");
        assert_eq!(client.names().await, NAMES, "{era:?} {way:?}");
    }
}

#[tokio::test]
async fn descriptor_has_title_schemas_and_hints() {
    let (server, _) = server();
    let client = Client::connect(server, ALL[0].0, ALL[0].1).await;
    let tools = client.running.list_all_tools().await.unwrap();
    let add = json!(tools.iter().find(|tool| tool.name == "add").unwrap());
    assert_eq!((&add["title"], &add["description"]), (&json!("Addition"), &json!("Adds two numbers.")));
    assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(add["outputSchema"]["type"], "object");
    let hints = json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true});
    assert_eq!(add["annotations"], hints);
}

#[tokio::test]
async fn invalid_cursor_is_rejected() {
    for (era, way) in ALL {
        let client = Client::connect(server().0, era, way).await;
        for cursor in ["", "4", "add"] {
            let params = PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned()));
            let reason = client.running.list_tools(Some(params)).await.unwrap_err().to_string();
            assert!(reason.contains("-32602") && reason.contains("nextCursor"), "{reason}");
        }
    }
}

/// Subtracts.
#[tool(read_only, undocumented)]
fn subtract(a: i64, b: i64) -> i64 {
    a - b
}

fn other() -> Toolbox {
    Toolbox::builder(&Registry::new(toolset![subtract]).unwrap()).build().unwrap()
}

#[tokio::test]
async fn clients_are_notified_of_list_changes() {
    for (era, way) in ALL {
        let (server, _) = server();
        let tools = server.tools();
        let client = Client::connect(server, era, way).await;
        assert_eq!(client.names().await, NAMES);
        let reported = if era == Era::Alone {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let mut subscription = client.running.listen(filter).await.unwrap();
            tools.replace(other());
            subscription.next().await.unwrap().is_some()
        } else {
            // A stream for server-initiated messages is opened in addition to the session.
            let changes = client.handler.changes.clone();
            tokio::time::sleep(Duration::from_millis(300)).await;
            tools.replace(other());
            until("notified of the change", || *changes.lock().unwrap() > 0).await;
            true
        };
        assert!(reported);
        assert_eq!(client.names().await, ["subtract"], "{era:?} {way:?}");
        assert_eq!(client.text("subtract", json!({"a": 3, "b": 1})).await.0, "2");
    }
}

/// The tool for the rest of large results appears with the first result that is too large.
#[tokio::test]
async fn call_changing_the_list_notifies_clients() {
    let (server, _) = server();
    let client = Client::connect(server, ALL[0].0, ALL[0].1).await;
    let (text, is_error) = client.text("tell", json!({})).await;
    assert!(!is_error && text.len() < 1_000_000, "{}", text.len());
    let changes = client.handler.changes.clone();
    until("notified of the tool for the rest", || *changes.lock().unwrap() == 1).await;
    assert!(client.names().await.contains(&"read_result".to_owned()));
}

#[tokio::test]
async fn guide_example_serves_its_functions() {
    for (era, way) in ALL {
        let client = Client::connect(crate::serve::example::server().unwrap(), era, way).await;
        assert_eq!(client.names().await, ["fahrenheit", "miles"]);
        assert_eq!(client.text("fahrenheit", json!({"celsius": 100})).await, ("212.0".to_owned(), false));
    }
}
