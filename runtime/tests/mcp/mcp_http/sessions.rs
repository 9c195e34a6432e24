//! Server-initiated messages, and sessions that begin and end.

use crate::mcp_http::world::{ERAS, World, eventually, open, told};
use crate::prelude::*;

#[tokio::test]
async fn changed_tool_list_is_reloaded() {
    for era in ERAS {
        let world = World::start(false).await;
        let client = world.client(era).await;
        let has =
            async |name: &str| client.list_tools().await.unwrap().iter().any(|tool| tool["name"] == name);
        assert!(!has("extra").await);
        world.change().await;
        eventually("the change is not received", async || has("extra").await).await;
    }
}

#[tokio::test]
async fn server_can_ask_its_client_within_a_call() {
    let world = World::start(false).await;
    let mut server = world.server("2025-11-25");
    server.capabilities = vec!["roots".into()].into();
    let roots = async |_| Ok(json!({"roots": [{"uri": "file:///work"}]}));
    let client = McpClient::connect(server, open().roots(roots)).await.unwrap();
    assert_eq!(told(&client, "roots", json!({})).await, "file:///work");
}

#[tokio::test]
async fn lost_session_is_restarted_and_the_call_sent_once() {
    let world = World::start(false).await;
    let client = world.client("2025-11-25").await;
    assert_eq!(told(&client, "echo", json!({"text": "a"})).await, "a");
    world.sessions.sessions.write().await.clear();
    assert_eq!(told(&client, "echo", json!({"text": "b"})).await, "b");
    assert_eq!(world.calls(), 2);
    assert_eq!(world.sessions.sessions.read().await.len(), 1);
}

#[tokio::test]
async fn closed_client_ends_its_session() {
    let world = World::start(false).await;
    let client = world.client("2025-11-25").await;
    assert_eq!(world.sessions.sessions.read().await.len(), 1);
    client.close().await;
    let sessions = Arc::clone(&world.sessions);
    eventually("the session continues", async || sessions.sessions.read().await.is_empty()).await;
    client.list_tools().await.unwrap_err();
}
