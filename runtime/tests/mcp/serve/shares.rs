//! The share of one caller over HTTP, and the end of its session.

use tokio::time::timeout;
use toolgen_runtime::call::principal::Principal;

use super::limits::Raw;
use crate::prelude::*;
use crate::serve::client::until;
use crate::serve::tools::server;

fn principals(server: Server) -> Server {
    server.principal(|parts| {
        let token = parts.headers.get("authorization")?.to_str().ok()?.to_owned();
        Some(Principal::new(token).with_scopes(["read", "write"]))
    })
}

impl Raw {
    async fn stream(&self, who: &str, session: &str) -> reqwest::Response {
        let request = self.http.get(&self.url).header("authorization", who).header("mcp-session-id", session);
        request.header("accept", "text/event-stream").send().await.unwrap()
    }

    async fn hang(&self, who: &str, session: &str, id: u32) -> reqwest::Response {
        let params = json!({"name": "hang", "arguments": {}});
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.post(who, Some(session), &body).await
    }
}

#[tokio::test]
async fn requests_per_caller_are_limited() {
    for known in [true, false] {
        let server = server().0.max_requests_per_caller(3);
        let raw = Raw::of(if known { principals(server) } else { server }).await;
        let (hers, his) = (raw.begin("alice").await.unwrap(), raw.begin("bob").await.unwrap());
        let again = if known { raw.begin("bob").await.unwrap() } else { his.clone() };
        let held =
            [raw.stream("bob", &his).await, raw.stream("bob", &again).await, raw.hang("bob", &his, 7).await];
        for refused in [raw.stream("bob", &again).await, raw.hang("bob", &again, 8).await] {
            assert_eq!(refused.status(), 429);
            assert!(refused.headers().contains_key("retry-after"));
            assert!(refused.text().await.unwrap().contains("its limit of 3 concurrent requests"));
        }
        // Notifications are still accepted, and other callers are not affected.
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
        assert_eq!(raw.post("bob", Some(&again), &cancel).await.status(), 202);
        assert_eq!(raw.status("alice", &hers).await, 200);
        drop(held);
        let freed = async { while raw.stream("bob", &his).await.status() != 200 {} };
        timeout(Duration::from_secs(10), freed).await.unwrap();
    }
}

#[tokio::test]
async fn calls_per_principal_are_limited() {
    let raw = Raw::of(principals(server().0.max_calls(4).max_calls_per_principal(2))).await;
    let (hers, his) = (raw.begin("alice").await.unwrap(), raw.begin("bob").await.unwrap());
    let running = [raw.hang("bob", &his, 7).await, raw.hang("bob", &his, 8).await];
    let refused = raw.hang("bob", &his, 9).await.text().await.unwrap();
    assert!(refused.contains("This caller of the server is at the limit"), "{refused}");
    let params = json!({"name": "add", "arguments": {"a": 1, "b": 2}});
    let add = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let output = raw.post("alice", Some(&hers), &add).await.text().await.unwrap();
    assert!(output.contains("{\"sum\":3}"), "{output}");
    drop(running);
}

#[tokio::test]
async fn http_request_id_is_in_use_until_handled() {
    let raw = Raw::of(server().0).await;
    let (session, other) = (raw.begin("").await.unwrap(), raw.begin("").await.unwrap());
    let running = raw.hang("", &session, 7).await;
    let refused = raw.hang("", &session, 7).await;
    assert_eq!(refused.status(), 400);
    let refused: Value = serde_json::from_str(&refused.text().await.unwrap()).unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32600)), "{refused}");
    // The same ID is free in another session, and again after the response.
    let elsewhere = raw.hang("", &other, 7).await;
    assert_eq!(elsewhere.status(), 200);
    for _ in 0..3 {
        assert_eq!(raw.status("", &session).await, 200);
    }
    drop((running, elsewhere));
}

#[tokio::test]
async fn ended_session_cancels_its_calls_and_returns_404() {
    let (server, received) = server();
    let raw = Raw::of(server).await;
    let session = raw.begin("").await.unwrap();
    let _running = raw.hang("", &session, 7).await;
    let end = raw.http.delete(&raw.url).header("mcp-session-id", &session).send().await.unwrap();
    assert_eq!(end.status(), 204);
    // Long before the five seconds of `rmcp`.
    let cancelled = until("the call is cancelled", || received.0.load(Ordering::SeqCst));
    timeout(Duration::from_secs(3), cancelled).await.expect("at once");
    assert_eq!(raw.status("", &session).await, 404);
}
