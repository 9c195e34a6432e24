//! The client with a server that violates the protocol, or that exits.

use toolgen_runtime::Effects;

use crate::mcp::basics::{tool, toolbox, turn};
use crate::mcp::support::{call, connect, eventually, options, run, runs, server, told};
use crate::prelude::*;

#[test]
fn unsolicited_messages_are_ignored_and_counted() {
    run(async {
        let client = connect("legacy").await;
        assert_eq!(told(&client, "noise").await, "the answer");
        assert_eq!(call(&client, "echo", json!({"text": "next"})).await.unwrap(), "next");
        eventually("all is counted", async || client.dropped_messages() == 7).await;
    });
}

#[test]
fn late_response_is_not_delivered_to_another_request() {
    run(async {
        let client = connect("legacy").await;
        let late = call(&client, "echo", json!({"text": "late", "ms": 300}));
        assert!(tokio::time::timeout(Duration::from_millis(100), late).await.is_err());
        for _ in 0..10 {
            assert_eq!(call(&client, "echo", json!({"text": "now", "ms": 40})).await.unwrap(), "now");
        }
        assert_eq!(client.dropped_messages(), 1);
    });
}

#[test]
fn garbage_is_tolerated_up_to_a_limit() {
    run(async {
        let client = connect("legacy").await;
        assert_eq!(call(&client, "garbage", json!({"lines": 200})).await.unwrap(), "after garbage");
        let error = call(&client, "garbage", json!({"lines": 2000})).await.unwrap_err();
        assert!(error.to_string().contains("lines that are not messages"), "{error}");
        // A new connection.
        assert_eq!(call(&client, "echo", json!({"text": "again"})).await.unwrap(), "again");
    });
}

#[test]
fn unparsable_response_fails_only_its_call() {
    run(async {
        let mut options = options();
        options.max_message = 100_000;
        let client = McpClient::connect(server("legacy"), options).await.unwrap();
        let beside = tokio::spawn({
            let client = client.clone();
            async move { call(&client, "echo", json!({"text": "beside", "ms": 300})).await }
        });
        let error = call(&client, "oversize", json!({"bytes": 200_000})).await.unwrap_err();
        assert!(error.to_string().contains("longer than 100000 bytes"), "{error}");
        let error = call(&client, "deep", json!({})).await.unwrap_err();
        assert!(error.to_string().contains("nested too deeply"), "{error}");
        assert_eq!(call(&client, "oversize", json!({"bytes": 90_000})).await.unwrap().len(), 90_000);
        assert_eq!(beside.await.unwrap().unwrap(), "beside");
    });
}

#[test]
fn endless_line_closes_the_connection() {
    run(async {
        let mut options = options();
        options.max_message = 100_000;
        let client = McpClient::connect(server("legacy"), options).await.unwrap();
        let start = Instant::now();
        let error = call(&client, "endless", json!({})).await.unwrap_err();
        assert!(error.to_string().contains("not a response to a request"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(5));
        assert_eq!(call(&client, "echo", json!({"text": "again"})).await.unwrap(), "again");
    });
}

#[test]
fn exiting_server_fails_its_calls_immediately() {
    run(async {
        let client = connect("legacy").await;
        let beside = tokio::spawn({
            let client = client.clone();
            async move { call(&client, "silence", json!({})).await }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let start = Instant::now();
        let error = call(&client, "die", json!({})).await.unwrap_err();
        assert_eq!(error.code(), "MCP_LOST");
        let text = error.to_string();
        for part in ["was lost during `die`", "exit status: 7", "out of cheese", "may have taken effect"] {
            assert!(text.contains(part), "{text}");
        }
        let error = beside.await.unwrap().unwrap_err();
        assert!(error.to_string().contains("out of cheese"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(call(&client, "echo", json!({"text": "again"})).await.unwrap(), "again");
    });
}

#[test]
fn exit_at_any_byte_is_reported() {
    run(async {
        for at in [0, 1, 17, 40, 1000] {
            let client = connect("legacy").await;
            let error = call(&client, "half", json!({"at": at})).await.unwrap_err();
            assert_eq!(error.code(), "MCP_LOST", "{at}: {error}");
            assert!(error.to_string().contains("its process exited"), "{error}");
        }
    });
}

#[test]
fn killed_server_is_restarted_by_the_next_call() {
    run(async {
        for round in 0..10 {
            let client = connect(["legacy", "modern"][round % 2]).await;
            for _ in 0..2 {
                let numbers: Vec<Value> = serde_json::from_str(&told(&client, "processes").await).unwrap();
                let killed =
                    std::process::Command::new("kill").args(["-9", &numbers[0].to_string()]).status();
                assert!(killed.unwrap().success());
                while runs(&numbers[0]) {}
                // Its last thread closes the pipe.
                tokio::time::sleep(Duration::from_millis(20)).await;
                assert_eq!(call(&client, "echo", json!({"text": "again"})).await.unwrap(), "again");
                eventually("what it had started is gone", async || !runs(&numbers[1])).await;
            }
        }
    });
}

#[test]
fn only_retryable_calls_are_retried() {
    run(async {
        let file = |name: &str| {
            let file = format!("{}/mcp-{name}", env!("CARGO_TARGET_TMPDIR"));
            let _ = std::fs::remove_file(&file);
            file
        };
        let server = Frozen::from(server("legacy"));
        let mut read = tool(&server, "read");
        read.spec.effects = Effects::NONE;
        let toolbox = toolbox(McpEngine::with_options(options()), [read, tool(&server, "once")]);
        let response = toolbox.run(ToolCall::new("1", "once", json!({"file": file("once")})), &turn()).await;
        assert_eq!(response.outcome.unwrap_err().code(), "MCP_LOST");
        let response = toolbox.run(ToolCall::new("2", "read", json!({"file": file("read")})), &turn()).await;
        assert_eq!(response.text(), "second time");
    });
}

#[test]
fn failing_server_start_opens_the_circuit() {
    run(async {
        let missing = McpServer {
            transport: McpTransport::Stdio {
                argv: vec!["no-such-program-here".into()].into(),
                env: vec![].into(),
                inherit: vec![].into(),
                work_dir: "".into(),
            },
            ..server("legacy")
        };
        let error = McpClient::connect(missing, options()).await.unwrap_err();
        assert!(error.to_string().contains("`no-such-program-here` does not start"), "{error}");
        let client = McpClient::new(server("die"), options());
        let start = Instant::now();
        let mut errors: Vec<ToolError> = Vec::new();
        for _ in 0..12 {
            errors.push(call(&client, "echo", json!({})).await.unwrap_err());
        }
        assert!(errors.iter().all(|error| error.code() == "MCP_UNREACHABLE"));
        let first = errors[0].to_string();
        assert!(first.contains("exit status: 3") && first.contains("no configuration found"), "{first}");
        let last = errors[11].to_string();
        assert!(last.contains("failed repeatedly") && last.contains("Retry after"), "{last}");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    });
}

#[test]
fn flood_of_stderr_blocks_nothing() {
    run(async {
        let client = connect("legacy").await;
        assert_eq!(call(&client, "flood", json!({"lines": 5000})).await.unwrap(), "flooded");
    });
}

#[test]
fn server_not_reading_does_not_block_callers() {
    run(async {
        let server = McpServer { idle_timeout: Some(Duration::from_millis(300)), ..server("legacy deaf") };
        let client = McpClient::connect(server, options()).await.unwrap();
        let start = Instant::now();
        for text in ["x".repeat(500_000), "short".to_owned()] {
            let error = call(&client, "echo", json!({"text": text})).await.unwrap_err();
            assert_eq!(error.code(), "TIMEOUT", "{error}");
        }
        client.close().await;
        assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    });
}

/// Concurrent calls, with responses in any order.
pub(crate) async fn many_messages(rounds: usize, width: usize) {
    for words in ["legacy", "modern"] {
        let server = McpServer { concurrency: 64, ..server(words) };
        let client = McpClient::connect(server, options()).await.unwrap();
        let tasks: Vec<_> = (0..width)
            .map(|task| {
                let client = client.clone();
                tokio::spawn(async move {
                    for round in 0..rounds / 2 {
                        let text = format!("{task}/{round}");
                        // Some calls are cancelled, and answered nevertheless.
                        if round % 16 == 3 {
                            let given_up = call(&client, "echo", json!({"text": text, "ms": 2}));
                            let _ = tokio::time::timeout(Duration::from_millis(1), given_up).await;
                            continue;
                        }
                        let ms = (task + round) % 64 / 63;
                        // Some messages do not fit into a pipe.
                        let text = if round % 16 == 5 { text.repeat(10_000) } else { text };
                        let message = call(&client, "echo", json!({"text": text, "ms": ms})).await.unwrap();
                        assert_eq!(message, text);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    }
}

#[test]
fn server_secret_is_redacted() {
    run(async {
        let server = Frozen::from(given_a_secret("legacy"));
        let toolbox =
            toolbox(McpEngine::with_options(options()), ["die", "env"].map(|name| tool(&server, name)));
        for name in ["die", "env"] {
            let response = toolbox.run(ToolCall::new("1", name, json!({})), &turn()).await;
            let message = format!("{} {:?}", response.text(), response.outcome);
            assert!(!message.contains("s3cr3t-value") && message.contains("[REDACTED]"), "{message}");
        }
        // Credentials do not leak without a call either: if the server does not start, or is called without a
        // toolbox.
        let error = McpClient::connect(given_a_secret("die"), options()).await.unwrap_err();
        let client = McpClient::connect(given_a_secret("legacy"), options()).await.unwrap();
        for error in [error, client.call("die", Map::new()).await.unwrap_err()] {
            let message = format!("{error} {} {error:?}", error.operator_text());
            assert!(!message.contains("s3cr3t-value") && message.contains("[REDACTED]"), "{message}");
        }
    });
}

/// A server that received the secret, and may request input.
fn given_a_secret(words: &str) -> McpServer {
    let mut server = server(words);
    if let McpTransport::Stdio { env, .. } = &mut server.transport {
        *env = env.iter().cloned().chain([("HOSTILE_TOKEN".into(), "s3cr3t-value".into())]).collect();
    }
    server.capabilities = vec!["elicitation".into()].into();
    server
}

#[test]
fn server_secret_is_redacted_in_locks_and_questions() {
    run(async {
        for words in ["legacy leaky", "modern leaky"] {
            let server = given_a_secret(words);
            let client = McpClient::connect(server.clone(), options()).await.unwrap();
            let listed = client.list_tools().await.unwrap();
            assert_eq!(listed[0]["description"], "Does echo.[REDACTED]", "{words}");
            assert_eq!(client.capabilities().unwrap()["experimental"]["told"], "[REDACTED]", "{words}");
            // A locked tool can be called even if the secret has changed.
            let server = Frozen::from(server);
            let adapted = toolgen_runtime::spec::mcp::tools(&server, &listed, true).into_iter().flatten();
            let locked = adapted.map(|adapted| adapted.tool);
            let toolbox = toolbox(McpEngine::with_options(options()), locked);
            let response =
                toolbox.run(ToolCall::new("1", "hostile__echo", json!({"text": "hi"})), &turn()).await;
            assert_eq!(response.text(), "hi", "{words}");
            let toolbox = self::toolbox(McpEngine::with_options(options()), [tool(&server, "ask")]);
            let asked = toolbox.run(ToolCall::new("2", "ask", json!({})), &turn()).await;
            let Err(ToolError::InputRequired(pending)) = &asked.outcome else { panic!("{asked:?}") };
            assert_eq!(pending.request.message, "Which name?[REDACTED]", "{words}");
        }
    });
}

#[test]
fn non_object_results_are_rejected() {
    run(async {
        // A name in the wrong position is ignored.
        assert_eq!(
            McpClient::connect(server("modern nameless"), options()).await.unwrap().server_info(),
            Some(Value::Null)
        );
        let client = connect("legacy oddlist").await;
        let error = client.list_tools().await.unwrap_err();
        assert!(error.to_string().contains("not an object"), "{error}");
        let server = Frozen::from(server("legacy"));
        let toolbox = toolbox(McpEngine::with_options(options()), [tool(&server, "odd")]);
        for result in [json!("x"), json!([1]), json!(7), Value::Null] {
            let call = ToolCall::new("1", "odd", json!({"result": result}));
            let response = toolbox.run(call, &turn()).await;
            assert!(response.text().contains("not an object"), "{result}: {}", response.text());
        }
    });
}

#[test]
fn endless_server_requests_do_not_fill_memory() {
    run(async {
        let client = connect("legacy deaf asks").await;
        // It does not read, so that all responses are queued.
        eventually("most are not answered", async || client.dropped_messages() > 700).await;
    });
}

#[test]
fn oversized_tool_list_is_abandoned() {
    run(async {
        let mut options = options();
        options.max_message = 1 << 20;
        let client = McpClient::connect(server("legacy heavy"), options).await.unwrap();
        let error = client.list_tools().await.unwrap_err();
        assert!(error.to_string().contains("its list of tools has more than"), "{error}");
    });
}

#[test]
fn concurrent_messages_are_not_mixed_up() {
    run(async {
        many_messages(200, 50).await;
    });
}
