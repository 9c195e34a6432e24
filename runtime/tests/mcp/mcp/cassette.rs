//! Recorded messages, and replay without a server.

use std::sync::atomic::AtomicUsize;

use toolgen_runtime::layers::redact::Redactor;
use toolgen_runtime::testing::cassette::Cassette;

use crate::mcp::basics::{tool, toolbox, turn};
use crate::mcp::support::{call, options, run, server};
use crate::prelude::*;

/// Returns the same server with a program that cannot be started.
fn missing(server: McpServer) -> McpServer {
    let transport = McpTransport::Stdio {
        argv: vec![Text::from("/nowhere/there-is-no-such-program")].into(),
        env: vec![].into(),
        inherit: vec![].into(),
        work_dir: Text::EMPTY,
    };
    McpServer { transport, ..server }
}

async fn program(client: &McpClient) -> Vec<String> {
    let mut messages = Vec::new();
    let names = client.list_tools().await.unwrap();
    messages.push(json!(names).to_string());
    for arguments in [json!({"text": "hi"}), json!({"text": "there"})] {
        messages.push(call(client, "echo", arguments).await.unwrap());
    }
    let (one, two) = tokio::join!(
        call(client, "add", json!({"a": 1, "b": 2})),
        call(client, "echo", json!({"text": "beside", "ms": 50})),
    );
    messages.extend([one.unwrap(), two.unwrap()]);
    messages.push(call(client, "refuse", json!({})).await.unwrap_err().to_string());
    messages.push(call(client, "fail", json!({})).await.unwrap());
    messages
}

#[test]
fn cassette_plays_without_starting_the_server() {
    run(async {
        for words in ["legacy", "legacy 2024-11-05", "modern"] {
            let cassette = Cassette::record(&Redactor::new());
            let client = McpClient::connect(server(words), options().cassette(&cassette)).await.unwrap();
            let first = program(&client).await;
            client.close().await;
            let text = cassette.to_text().unwrap();

            let played = Cassette::parse(&text).unwrap();
            let client =
                McpClient::connect(missing(server(words)), options().cassette(&played)).await.unwrap();
            assert_eq!(program(&client).await, first, "{words}");
            client.close().await;
            played.finish().unwrap();
        }
    });
}

/// Whether a client that is closed immediately has subscribed to changes is a race, both when recording and when
/// replaying.
#[test]
fn background_requests_may_be_missing() {
    run(async {
        let cassette = Cassette::record(&Redactor::new());
        let client = McpClient::connect(server("modern"), options().cassette(&cassette)).await.unwrap();
        let first = program(&client).await;
        client.close().await;
        let mut tape: Value = serde_json::from_str(&cassette.to_text().unwrap()).unwrap();
        let traffic = tape["traffic"].as_array_mut().unwrap();
        traffic.retain(|entry| !entry.to_string().contains("subscriptions/listen"));
        let never_sent = tape.clone();
        tape["traffic"].as_array_mut().unwrap().push(json!({
            "mcp": {"server": "hostile", "connection": 2},
            "sent": {"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": {}},
        }));
        for tape in [never_sent, tape] {
            let played = Cassette::parse(&tape.to_string()).unwrap();
            let client =
                McpClient::connect(missing(server("modern")), options().cassette(&played)).await.unwrap();
            assert_eq!(program(&client).await, first);
            client.close().await;
            played.finish().unwrap();
        }
    });
}

#[test]
fn unrecorded_call_is_reported_with_the_differences() {
    run(async {
        let cassette = Cassette::record(&Redactor::new());
        let one = Frozen::from(server("legacy"));
        let engine = |cassette: &Cassette| McpEngine::with_options(options().cassette(cassette));
        let echo = |text: &str| ToolCall::new("1", "echo", json!({ "text": text }));
        let recorded = toolbox(engine(&cassette), [tool(&one, "echo")]);
        assert_eq!(recorded.run(echo("hi"), &turn()).await.text(), "hi");

        let played = Cassette::parse(&cassette.to_text().unwrap()).unwrap();
        let one = Frozen::from(missing(server("legacy")));
        let toolbox = toolbox(engine(&played), [tool(&one, "echo")]);
        let message = toolbox.run(echo("ho"), &turn()).await.text();
        assert!(message.contains("/params/arguments/text: expected \"hi\", found \"ho\""), "{message}");
        let reason = played.finish().unwrap_err().to_string();
        assert!(reason.contains("- expected ") && reason.contains("+ found "), "{reason}");
        let left = Cassette::parse(&cassette.to_text().unwrap()).unwrap().finish().unwrap_err().to_string();
        assert!(left.contains("tools/call echo to hostile"), "{left}");
    });
}

#[test]
fn questions_and_progress_are_replayed() {
    run(async {
        let declaring = || {
            let names = ["elicitation", "sampling", "roots"].map(Into::into);
            McpServer { capabilities: names.into_iter().collect(), ..server("legacy") }
        };
        let answered = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&answered);
        let handling = move || -> McpOptions {
            let count = Arc::clone(&count);
            options().sampling(move |asked: McpServerRequest| {
                count.fetch_add(1, Ordering::SeqCst);
                async move { Ok(json!({"role": "assistant", "by": asked.server.as_str()})) }
            })
        };
        let ask = async |client: &McpClient| {
            let arguments = json!({"method": "sampling/createMessage", "params": {"message": "?"}});
            call(client, "want", arguments).await.unwrap()
        };
        let cassette = Cassette::record(&Redactor::new());
        let client = McpClient::connect(declaring(), handling().cassette(&cassette)).await.unwrap();
        let first = ask(&client).await;
        assert!(first.contains("assistant"), "{first}");
        client.close().await;

        let played = Cassette::parse(&cassette.to_text().unwrap()).unwrap();
        let client = McpClient::connect(missing(declaring()), handling().cassette(&played)).await.unwrap();
        assert_eq!(ask(&client).await, first);
        played.finish().unwrap();
        // The replay called the handler again.
        assert_eq!(answered.load(Ordering::SeqCst), 2);

        let progress = async |cassette: &Cassette, server: McpServer| {
            let engine = McpEngine::with_options(options().cassette(cassette));
            let toolbox = toolbox(engine, [tool(&Frozen::from(server), "progress")]);
            let lines = Arc::<Mutex<Vec<String>>>::default();
            let kept = Arc::clone(&lines);
            let turn = turn().with_on_progress(move |line| kept.lock().unwrap().push(line));
            let call = ToolCall::new("1", "progress", json!({"steps": 3}));
            assert_eq!(toolbox.run(call, &turn).await.text(), "done");
            lines.lock().unwrap().clone()
        };
        let cassette = Cassette::record(&Redactor::new());
        let first = progress(&cassette, server("legacy")).await;
        let played = Cassette::parse(&cassette.to_text().unwrap()).unwrap();
        assert_eq!(progress(&played, missing(server("legacy"))).await, first);
        assert!(!first.is_empty());
    });
}

#[test]
fn cassette_redacts_credentials_of_the_server() {
    run(async {
        let secret = "to\"ken/of+the\\server";
        let mut given = server("legacy");
        if let McpTransport::Stdio { env, .. } = &mut given.transport {
            let mut all: Vec<(Text, Text)> = env.to_vec();
            all.push(("HOSTILE_TOKEN".into(), secret.into()));
            *env = all.into();
        }
        let cassette = Cassette::record(&Redactor::new());
        let client = McpClient::connect(given, options().cassette(&cassette)).await.unwrap();
        assert!(call(&client, "env", json!({})).await.unwrap().contains("HOSTILE_TOKEN"));
        call(&client, "echo", json!({"text": format!("the token is {secret}")})).await.unwrap();
        call(&client, "echo", json!({"text": "x", "password": "hunter2"})).await.unwrap();
        let text = cassette.to_text().unwrap();
        let parsed: Value = serde_json::from_str(&text).unwrap();
        assert!(parsed["traffic"].as_array().unwrap().len() > 6, "{text}");
        let escaped = json!(secret).to_string();
        for hidden in [secret, escaped.trim_matches('"'), "hunter2"] {
            assert!(
                !text.contains(hidden) && !text.contains(&json!(hidden).to_string()[1..]),
                "{hidden}: {text}"
            );
        }
    });
}
