//! Clients over streams that send more requests than they read, or that reuse an ID.

use tokio::time::timeout;

use crate::prelude::*;
use crate::serve::ending::Raw;
use crate::serve::tools::server;

fn call(id: u32, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Returns the next response to a request.
async fn answer(client: &mut Raw, id: u32) -> Value {
    let line = timeout(Duration::from_secs(10), client.hears(&format!("\"id\":{id},"))).await;
    serde_json::from_str(&line.expect("an answer")).unwrap()
}

#[tokio::test]
async fn unread_responses_limit_accepted_requests() {
    let mut client = Raw::of(server().0.instructions("x".repeat(1 << 20)));
    client.begins().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    // The pipe holds a few of them unread.
    let params = json!({"_meta": meta, "pad": "x".repeat(100_000)});
    let mut sent = 0;
    while sent < 500 {
        let ask = json!({"jsonrpc": "2.0", "id": sent + 1, "method": "server/discover", "params": params});
        if timeout(Duration::from_secs(2), client.writes(format!("{ask}\n").as_bytes())).await.is_err() {
            break;
        }
        sent += 1;
    }
    assert!((17..150).contains(&sent), "{sent} requests were taken");
}

#[tokio::test]
async fn all_requests_are_answered_while_calls_run() {
    let mut client = Raw::start();
    client.begins().await;
    // More calls than the limit on other concurrent messages.
    for id in 1_000..1_100 {
        client.says(call(id, "hang", json!({}))).await;
    }
    let mut texts = Vec::new();
    for id in 1..=1_000_u32 {
        let method = ["ping", "tools/list", "no/such", "tools/call"][id as usize % 4];
        let (name, arguments) =
            if id % 8 < 4 { ("add", json!({"a": 1, "b": 2})) } else { ("no_such", json!({})) };
        let params = json!({"name": name, "arguments": arguments});
        texts.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        texts.push(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}));
    }
    for text in &texts {
        client.says(text.clone()).await;
    }
    let mut open: std::collections::BTreeSet<u64> = (1..=1_000).collect();
    while !open.is_empty() {
        let line = timeout(Duration::from_secs(10), client.hears("\"id\"")).await.expect("an answer");
        let response: Value = serde_json::from_str(&line).unwrap();
        assert!(open.remove(&response["id"].as_u64().unwrap()), "{line}");
    }
}

#[tokio::test]
async fn cancelled_requests_free_their_slots() {
    let mut client = Raw::start();
    client.begins().await;
    for id in 1..=500 {
        client.says(call(id, "hang", json!({}))).await;
        client
            .says(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
            .await;
    }
    client.says(call(501, "add", json!({"a": 1, "b": 2}))).await;
    assert_eq!(answer(&mut client, 501).await["result"]["structuredContent"], json!({"sum": 3}));
}

#[tokio::test]
async fn request_id_is_in_use_until_its_response() {
    let mut client = Raw::start();
    client.begins().await;
    client.says(call(5, "greet", json!({}))).await;
    let asked: Value = serde_json::from_str(&client.hears("elicitation/create").await).unwrap();
    client.says(call(5, "add", json!({"a": 1, "b": 2}))).await;
    let refused = answer(&mut client, 5).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("a unique ID for each request"),
        "{refused}"
    );
    // The first request receives its own response nevertheless.
    let name = json!({"action": "accept", "content": {"name": "Ada"}});
    client.says(json!({"jsonrpc": "2.0", "id": asked["id"], "result": name})).await;
    assert_eq!(answer(&mut client, 5).await["result"]["content"][0]["text"], "Hello, Ada!");
    for _ in 0..3 {
        client.says(call(5, "add", json!({"a": 1, "b": 2}))).await;
        assert_eq!(answer(&mut client, 5).await["result"]["structuredContent"], json!({"sum": 3}));
    }
}

#[tokio::test]
async fn subscriptions_per_connection_are_limited() {
    let mut client = Raw::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for id in 1..=17 {
        let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
        client
            .says(json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params}))
            .await;
    }
    let refused = timeout(Duration::from_secs(10), client.hears("\"error\"")).await.unwrap();
    assert!(refused.contains("16 subscriptions"), "{refused}");
}
