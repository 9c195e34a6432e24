//! Calls and their results.

use toolgen_runtime::{ToolInput, tool, toolset};

use crate::prelude::*;
use crate::serve::client::{ALL, Client, Era, Way, params, until};
use crate::serve::tools::server;

#[tokio::test]
async fn declared_result_is_structured() {
    for (era, way) in ALL {
        let client = Client::connect(server().0, era, way).await;
        let result = client.result("add", json!({"a": 1, "b": 2})).await;
        let expected =
            json!({"content": [{"type": "text", "text": "{\"sum\":3}"}], "structuredContent": {"sum": 3}});
        assert_eq!(result, expected, "{era:?} {way:?}");
    }
}

/// The declared output.
#[derive(ToolInput)]
struct Promise {
    /// A number.
    count: i64,
}

impl serde_core::Serialize for Promise {
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "count": format!("{} or so", self.count) }).serialize(serializer)
    }
}

/// Returns another result than it declares.
#[tool(read_only)]
fn promise() -> Promise {
    Promise { count: 3 }
}

#[tokio::test]
async fn invalid_declared_result_is_the_same_error_everywhere() {
    let registry = Registry::new(toolset![promise]).unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    let (turn, call) = (Turn::new("turn"), || ToolCall::new("1", "promise", json!({})));
    let called = toolbox.run(call(), &turn).await;
    let message = called.text();
    assert!(called.is_error() && message.contains("it does not match the declaration: /count:"), "{message}");
    assert!(message.contains("3 or so"), "what it gave follows: {message}");
    let calls = vec![call(), call()];
    let options = Default::default();
    let dispatched = toolbox.dispatch(calls, &turn, &options).await;
    for response in dispatched.responses {
        assert_eq!((response.is_error(), response.text()), (true, message.clone()));
    }
    for (era, way) in ALL {
        let client = Client::connect(Server::new(toolbox.clone()), era, way).await;
        let served = client.result("promise", json!({})).await;
        let texts: Vec<&str> = served["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["text"].as_str().unwrap())
            .collect();
        assert_eq!(
            (texts.join("\n"), &served["isError"]),
            (message.clone(), &json!(true)),
            "{era:?} {way:?}"
        );
        assert!(served.get("structuredContent").is_none());
    }
}

#[tokio::test]
async fn failures_and_images_become_mcp_results() {
    for (era, way) in ALL {
        let client = Client::connect(server().0, era, way).await;
        let failed = client.result("fail", json!({"why": "no paper"})).await;
        assert_eq!(failed, json!({"content": [{"type": "text", "text": "no paper"}], "isError": true}));
        let drawn = client.result("draw", json!({})).await;
        let image = json!({"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"});
        assert_eq!(drawn["content"], json!([{"type": "text", "text": "a dot"}, image]));
    }
}

#[tokio::test]
async fn invalid_call_reports_the_problem() {
    for (era, way) in ALL {
        let client = Client::connect(server().0, era, way).await;
        let unknown = client.call("ad", json!({})).await.unwrap_err().to_string();
        assert!(unknown.contains("-32602") && unknown.contains("did you mean 'add'"), "{unknown}");
        let (text, is_error) = client.text("add", json!({"a": "one"})).await;
        assert!(is_error && text.contains("a") && text.contains("b: missing"), "{text}");
    }
}

#[tokio::test]
async fn progress_precedes_the_response() {
    for (era, way) in ALL {
        let client = Client::connect(server().0, era, way).await;
        assert_eq!(client.text("count", json!({})).await.0, "three");
        let progress = client.handler.progress.clone();
        // Notification handlers run concurrently with the call.
        until("all is reported", || progress.lock().unwrap().len() == 3).await;
        let mut messages = progress.lock().unwrap().clone();
        messages.sort_by(|a, b| a.0.total_cmp(&b.0));
        let texts: Vec<&str> = messages.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["counted 1", "counted 2", "counted 3"], "{era:?} {way:?}");
    }
}

#[tokio::test]
async fn cancelled_call_fires_its_token() {
    for (era, way) in ALL {
        let (server, received) = server();
        let client = Client::connect(server, era, way).await;
        let call = client.running.call_tool_once(params("hang", json!({})));
        assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
        until(&format!("cancelled {era:?} {way:?}"), || received.0.load(Ordering::SeqCst)).await;
        // No other tool is available.
        assert!(!client.text("visits", json!({})).await.1);
    }
}

#[tokio::test]
async fn disconnected_client_cancels_its_calls() {
    let all = ALL.map(|(era, way)| {
        tokio::spawn(async move {
            let (server, received) = server();
            let client = Client::connect(server, era, way).await;
            let peer = client.running.peer().clone();
            let call = tokio::spawn(async move { peer.call_tool_once(params("hang", json!({}))).await });
            let progress = client.handler.progress.clone();
            until("the call runs", || !progress.lock().unwrap().is_empty()).await;
            client.running.cancel().await.unwrap();
            assert!(call.await.unwrap().is_err());
            // The response of a call is awaited for five seconds, in case the client still reads.
            until(&format!("cancelled {era:?} {way:?}"), || received.0.load(Ordering::SeqCst)).await;
        })
    });
    for one in all {
        one.await.unwrap();
    }
}

#[tokio::test]
async fn calls_run_concurrently() {
    for (era, way) in ALL {
        let client = Client::connect(server().0, era, way).await;
        let hangs = client.running.call_tool_once(params("hang", json!({})));
        let adds = client.text("add", json!({"a": 1, "b": 1}));
        tokio::select! {
            _ = hangs => panic!("it hangs"),
            (text, _) = adds => assert_eq!(text, "{\"sum\":2}"),
        }
    }
}

#[tokio::test]
async fn session_belongs_to_the_connection() {
    for (era, way) in ALL {
        let client = Client::connect(server().0, era, way).await;
        let mut visits = Vec::new();
        for _ in 0..2 {
            visits.push(client.text("visits", json!({})).await.0);
        }
        let expected = if (era, way) == (Era::Alone, Way::Http) { ["no session"; 2] } else { ["1", "2"] };
        assert_eq!(visits, expected, "{era:?} {way:?}");
    }
}
