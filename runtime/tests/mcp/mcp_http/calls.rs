//! Lists, calls and notifications, in both protocol eras.

use toolgen_runtime::BoxFuture;
use toolgen_runtime::engine::http::Secret;
use toolgen_runtime::engine::mcp::{McpTokenRequest, TokenSource};

use crate::mcp_http::world::{ERAS, World, eventually, open, told};
use crate::prelude::*;

#[tokio::test]
async fn protocol_version_is_negotiated() {
    let world = World::start(false).await;
    let client = world.client("").await;
    assert_eq!(client.protocol_version().as_deref(), Some("2026-07-28"));
    assert_eq!(world.client("2025-11-25").await.protocol_version().as_deref(), Some("2025-11-25"));
}

#[tokio::test]
async fn tools_work_in_both_versions_and_response_formats() {
    for (era, json_response) in ERAS.into_iter().flat_map(|era| [(era, false), (era, true)]) {
        let world = World::start(json_response).await;
        let client = world.client(era).await;
        let tools = client.list_tools().await.unwrap();
        let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        // An invalid annotation excludes its tool in versions that use annotations.
        let all = ["badly-marked", "deploy", "echo", "fail", "roots", "work"];
        assert_eq!(names, if era == ERAS[0] { &all[1..] } else { &all }, "{era}");
        assert_eq!(told(&client, "echo", json!({"text": "größer 😀\n"})).await, "größer 😀\n");
        // `rmcp` compares the header with the argument.
        assert_eq!(told(&client, "deploy", json!({"region": " é"})).await, " é");
        assert_eq!(client.call("fail", Map::new()).await.unwrap()["isError"], true);
        let reason = client.call("nothing", Map::new()).await.unwrap_err().to_string();
        assert!(reason.contains("there is no tool `nothing`"), "{reason}");
        client.close().await;
    }
}

#[tokio::test]
async fn aliased_calls_report_progress() {
    for era in ERAS {
        let world = World::start(false).await;
        let client = world.client(era).await;
        let toolbox = Registry::new(client.tools().await.unwrap()).unwrap().toolbox(Default::default());
        let received = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&received);
        let turn = Turn::new("turn").with_on_progress(move |line| lines.lock().unwrap().push(line));
        let call = ToolCall::new("1", "docs__work", json!({"steps": 3, "ms": 20}));
        let response = toolbox.run(call, &turn).await;
        assert_eq!(response.text(), "done", "{era}");
        assert_eq!(*received.lock().unwrap(), ["1.0", "2.0", "3.0"], "{era}");
        let response = toolbox.run(ToolCall::new("2", "docs__fail", json!({})), &turn).await;
        assert!(response.is_error() && response.text().contains("it failed"));
    }
}

#[tokio::test]
async fn calls_run_concurrently() {
    for era in ERAS {
        let world = World::start(false).await;
        let client = McpClient::connect(world.server(era), open().concurrency(32)).await.unwrap();
        told(&client, "echo", json!({"text": "warm"})).await;
        let started = Instant::now();
        let calls = (0..32).map(|n| {
            let client = client.clone();
            tokio::spawn(async move {
                assert_eq!(told(&client, "work", json!({"steps": 1, "ms": 300})).await, "done");
                assert_eq!(told(&client, "echo", json!({"text": n.to_string()})).await, n.to_string());
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
        assert!(started.elapsed() < Duration::from_millis(1500), "{era}: {:?}", started.elapsed());
        assert_eq!(client.dropped_messages(), 0);
    }
}

#[tokio::test]
async fn connections_are_reused() {
    for era in ERAS {
        let world = World::start(false).await;
        let client = world.client(era).await;
        for _ in 0..50 {
            told(&client, "echo", json!({"text": "a"})).await;
            // The stream ends after the response.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // One for calls, one for changes, those of the handshake, and on a busy machine a few more: not 50.
        let connections = world.connections.load(Ordering::Relaxed);
        assert!(connections <= 15, "{era}: {connections}");
    }
}

#[tokio::test]
async fn cancelled_call_ends_on_the_server() {
    for era in ERAS {
        let world = World::start(false).await;
        let client = world.client(era).await;
        let calling = client.clone();
        let call = tokio::spawn(async move {
            told(&calling, "work", json!({"steps": 1000, "ms": 20})).await;
        });
        eventually("it is not called", async || world.calls() == 1).await;
        call.abort();
        eventually("it continues", async || world.cancelled() == 1).await;
        assert_eq!(told(&client, "echo", json!({"text": "still there"})).await, "still there");
    }
}

#[tokio::test]
async fn progress_resets_the_idle_timeout_up_to_the_total() {
    for era in ERAS {
        let world = World::start(false).await;
        let options = open().idle_timeout(Duration::from_millis(250)).call_timeout(Duration::from_secs(2));
        let client = McpClient::connect(world.server(era), options).await.unwrap();
        assert_eq!(told(&client, "work", json!({"steps": 5, "ms": 100})).await, "done");
        let error =
            client.call("work", serde_json::from_value(json!({"steps": 1, "ms": 900})).unwrap()).await;
        assert!(error.unwrap_err().to_string().contains("sent neither a result nor progress for 250ms"));
        let error =
            client.call("work", serde_json::from_value(json!({"steps": 99, "ms": 100})).unwrap()).await;
        drop(error.unwrap_err());
        eventually("they continue", async || world.cancelled() == 2).await;
    }
}

/// Returns another token for each request.
#[derive(Debug, Default)]
struct Changing(Mutex<u32>);

impl TokenSource for Changing {
    fn token<'a>(&'a self, _: &'a McpTokenRequest) -> BoxFuture<'a, Result<Option<Secret>, String>> {
        let mut number = self.0.lock().unwrap();
        *number += 1;
        let token = Secret::new(format!("t0ken-{number}-of-many"));
        Box::pin(async move { Ok(Some(token)) })
    }
}

#[tokio::test]
async fn token_repeated_by_a_server_is_redacted() {
    for era in ERAS {
        let world = World::start(false).await;
        let options = open().tokens("docs", Changing::default());
        let client = McpClient::connect(world.server(era), options).await.unwrap();
        let toolbox = Registry::new(client.tools().await.unwrap()).unwrap().toolbox(Default::default());
        // Tokens that the server was sent last, and others that it was not sent.
        let text = (1..=40).map(|number| format!("t0ken-{number}-of-many")).collect::<Vec<_>>().join(" ");
        let call = ToolCall::new("1", "docs__echo", json!({"text": text}));
        let message = toolbox.run(call, &Turn::new("turn")).await.text();
        assert!(message.contains("[REDACTED] ") && message.contains("t0ken-40-of-many"), "{era}: {message}");
        assert!(message.matches("[REDACTED]").count() <= 4, "{era}: {message}");
    }
}
