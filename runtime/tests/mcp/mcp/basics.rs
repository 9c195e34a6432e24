//! The client with a server that follows the protocol.

use toolgen_runtime::spec::plan::McpPlan;
use toolgen_runtime::{AgentTool, DynamicTool, ExecutionPlan};

use crate::mcp::support::{call, connect, eventually, options, run, runs, server, told};
use crate::prelude::*;

/// Returns a tool without a lock, as data.
pub(crate) fn tool(server: &Frozen<McpServer>, name: &'static str) -> Tool {
    let any = json!({"type": "object", "additionalProperties": true});
    let spec = DynamicTool::builder(name, "Does.").schema(&any).spec().unwrap();
    let plan = McpPlan { server: server.clone(), tool: name.into(), descriptor: Text::EMPTY };
    Tool { spec, call: ExecutionPlan::Mcp(plan) }
}

pub(crate) fn toolbox(engine: McpEngine, tools: impl IntoIterator<Item = Tool>) -> Toolbox {
    let tools = Engines::new().with(engine).tools_from(tools).unwrap();
    Registry::new(tools).unwrap().toolbox(Default::default())
}

pub(crate) fn turn() -> Turn {
    Turn::new("turn")
}

#[test]
fn both_protocol_versions_work() {
    run(async {
        for (words, revision) in [
            ("legacy", "2025-11-25"),
            ("legacy fragile", "2025-11-25"),
            ("legacy 2024-11-05", "2024-11-05"),
            ("legacy 2025-06-18", "2025-06-18"),
            ("legacy 2025-03-26", "2025-03-26"),
            ("modern", "2026-07-28"),
            ("modern both", "2026-07-28"),
        ] {
            let client = connect(words).await;
            assert_eq!(client.protocol_version().as_deref(), Some(revision), "{words}");
            assert_eq!(client.server_info().unwrap()["name"], "hostile");
            assert_eq!(call(&client, "echo", json!({"text": "hi"})).await.unwrap(), "hi");
            let names: Vec<String> =
                client.list_tools().await.unwrap().iter().map(|t| t["name"].to_string()).collect();
            assert_eq!(names, ["\"echo\"", "\"add\"", "\"read\""]);
            let tools = client.tools().await.unwrap();
            assert_eq!(tools[0].spec().name.as_str(), "hostile__echo");
            client.close().await;
        }
        // A server with another protocol version than when it was locked.
        for (locked, words, revision) in [
            ("2026-07-28", "legacy", "2025-11-25"),
            ("2025-06-18", "modern", "2026-07-28"),
            ("2025-06-18", "legacy", "2025-06-18"),
        ] {
            let server = McpServer { revision: locked.into(), ..server(words) };
            let client = McpClient::connect(server, options()).await.unwrap();
            assert_eq!(client.protocol_version().as_deref(), Some(revision), "{locked} {words}");
        }
        let error = McpClient::connect(server("legacy 1999-01-01"), options()).await.unwrap_err();
        assert!(error.to_string().contains("uses protocol version `1999-01-01`"), "{error}");
    });
}

#[test]
fn unsupported_version_falls_back_after_its_timeout() {
    run(async {
        let quick = options().probe_timeout(Duration::from_millis(200));
        let client = McpClient::connect(server("legacy mute"), quick.clone()).await.unwrap();
        assert_eq!(client.protocol_version().as_deref(), Some("2025-11-25"));
        let start = Instant::now();
        let never = quick.connect_timeout(Duration::from_millis(700));
        let error = McpClient::connect(server("legacy mute silent"), never).await.unwrap_err();
        assert_eq!(error.code(), "MCP_UNREACHABLE");
        assert!(error.to_string().contains("did not answer the handshake"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(3));
        // The probe uses only a part of a short timeout.
        let little = options().connect_timeout(Duration::from_secs(2));
        let client = McpClient::connect(server("legacy mute"), little).await.unwrap();
        assert_eq!(client.protocol_version().as_deref(), Some("2025-11-25"));
        // A server with a known protocol version is not probed.
        let known = McpServer { revision: "2025-06-18".into(), ..server("legacy mute") };
        let start = Instant::now();
        let client = McpClient::connect(known, options()).await.unwrap();
        assert_eq!(client.protocol_version().as_deref(), Some("2025-06-18"));
        assert!(start.elapsed() < Duration::from_millis(1500));
    });
}

#[test]
fn tool_list_is_paginated() {
    run(async {
        // Some servers end with an empty cursor, and restart the list if it is requested.
        for words in ["legacy paged", "modern paged", "legacy again", "modern again"] {
            assert_eq!(connect(words).await.list_tools().await.unwrap().len(), 3, "{words}");
        }
        for (words, reason) in [("legacy circle", "sent twice"), ("legacy endless", "more than 256 pages")] {
            let error = connect(words).await.list_tools().await.unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    });
}

#[test]
fn duplicate_tool_is_merged_unless_descriptors_differ() {
    run(async {
        let names = |tools: Vec<Arc<dyn AgentTool>>| {
            tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
        };
        for era in ["legacy", "modern"] {
            let client = connect(&format!("{era} repeats")).await;
            assert_eq!(client.list_tools().await.unwrap().len(), 3);
            let all = names(client.tools().await.unwrap());
            assert!(all.len() == 3 && all[1].ends_with("__add"), "{all:?}");
            let client = connect(&format!("{era} differs")).await;
            let rest = names(client.tools().await.unwrap());
            assert!(rest.len() == 2 && rest.iter().all(|name| !name.ends_with("__add")), "{rest:?}");
        }
    });
}

#[test]
fn concurrent_calls_are_limited() {
    run(async {
        for (cap, least, max) in [(1, 900, 3000), (8, 300, 800)] {
            let server = McpServer { concurrency: cap, ..server("legacy") };
            let client = McpClient::connect(server, options()).await.unwrap();
            let start = Instant::now();
            let calls = ["a", "b", "c"].map(|text| {
                let client = client.clone();
                tokio::spawn(
                    async move { call(&client, "echo", json!({"text": text, "ms": 300})).await.unwrap() },
                )
            });
            let mut messages = Vec::new();
            for call in calls {
                messages.push(call.await.unwrap());
            }
            assert_eq!(messages, ["a", "b", "c"]);
            let took = start.elapsed().as_millis();
            assert!((least..max).contains(&took), "{cap}: {took}");
        }
    });
}

#[test]
fn tools_of_a_server_share_one_process() {
    run(async {
        let engine = McpEngine::with_options(options());
        let server = Frozen::from(server("legacy"));
        let toolbox = toolbox(engine, ["echo", "calls"].map(|name| tool(&server, name)));
        for _ in 0..3 {
            let call = ToolCall::new("1", "echo", json!({"text": "x"}));
            assert_eq!(toolbox.run(call, &turn()).await.text(), "x");
        }
        let call = ToolCall::new("1", "calls", json!({}));
        assert_eq!(toolbox.run(call, &turn()).await.text(), "4");
    });
}

#[test]
fn cancellation_is_sent_to_the_server() {
    run(async {
        for words in ["legacy", "modern"] {
            let client = connect(words).await;
            {
                let silent = call(&client, "silence", json!({}));
                assert!(tokio::time::timeout(Duration::from_millis(200), silent).await.is_err());
            }
            let dropped = Instant::now();
            eventually("the server is notified", async || told(&client, "cancelled").await != "[]").await;
            assert!(dropped.elapsed() < Duration::from_millis(500));
            // A request with a response is not cancelled.
            let received: Vec<Value> = serde_json::from_str(&told(&client, "cancelled").await).unwrap();
            assert_eq!(received.len(), 1);
        }
    });
}

#[test]
fn progress_reaches_the_caller() {
    run(async {
        let server = McpServer { idle_timeout: Some(Duration::from_millis(400)), ..server("legacy") };
        let server = Frozen::from(server);
        let toolbox = toolbox(
            McpEngine::with_options(options()),
            ["progress", "silence"].map(|name| tool(&server, name)),
        );
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let received = Arc::clone(&lines);
        let turn = turn().with_on_progress(move |line| received.lock().unwrap().push(line));
        // In total longer than the idle timeout.
        let arguments = json!({"steps": 5, "ms": 150});
        let response = toolbox.run(ToolCall::new("1", "progress", arguments), &turn).await;
        assert_eq!(response.text(), "done");
        assert_eq!(lines.lock().unwrap().first().map(String::as_str), Some("1/5 copied"));
        assert_eq!(lines.lock().unwrap().len(), 5);
        let response = toolbox.run(ToolCall::new("2", "silence", json!({})), &turn).await;
        assert!(
            response.text().contains("sent neither a result nor progress for 400ms"),
            "{}",
            response.text()
        );
        assert_eq!(response.outcome.unwrap_err().code(), "TIMEOUT");
        // Progress does not extend the total timeout.
        let short = McpServer {
            call_timeout: Some(Duration::from_millis(500)),
            ..crate::mcp::support::server("legacy")
        };
        let client = McpClient::connect(short, options()).await.unwrap();
        let error = call(&client, "progress", json!({"steps": 100, "ms": 50})).await.unwrap_err();
        assert_eq!(error.code(), "TIMEOUT");
    });
}

#[test]
fn process_gets_only_the_declared_environment() {
    run(async {
        let mut server = server("legacy");
        if let McpTransport::Stdio { env, inherit, .. } = &mut server.transport {
            *inherit = vec![Text::Static("CARGO_MANIFEST_DIR")].into();
            let given = env.iter().cloned().chain([("GIVEN".into(), "yes".into())]);
            *env = given.collect();
        }
        let client = McpClient::connect(server, options()).await.unwrap();
        let got: Vec<(String, String)> = serde_json::from_str(&told(&client, "env").await).unwrap();
        let has = |name: &str| got.iter().any(|(known, _)| known == name);
        assert!(has("PATH") && has("GIVEN") && has("CARGO_MANIFEST_DIR"), "{got:?}");
        assert!(!has("CARGO_PKG_NAME") && !has("RUSTUP_TOOLCHAIN"), "{got:?}");
    });
}

#[test]
fn response_content_becomes_the_result() {
    run(async {
        let server = Frozen::from(server("legacy"));
        let mut add = tool(&server, "add");
        let output =
            json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
        let (shape, _) = toolgen_runtime::schema::shape::read::read_document(&output, &mut Vec::new());
        add.spec.output = Some(shape.into());
        let others = ["fail", "refuse", "break", "every", "unknown"].map(|name| tool(&server, name));
        let toolbox = toolbox(McpEngine::with_options(options()), others.into_iter().chain([add]));
        let turn = turn();
        let call = async |name: &str, arguments: Value| {
            toolbox.run(ToolCall::new("1", name, arguments), &turn).await
        };
        let response = call("add", json!({"a": 1, "b": 2})).await;
        assert_eq!(
            (response.text().as_str(), &response.outcome.unwrap().details),
            ("{\"sum\":3}", &json!({"sum": 3}))
        );
        let response = call("add", json!({"a": 13})).await;
        assert_eq!(response.outcome.unwrap_err().code(), "INVALID_OUTPUT");
        let response = call("fail", json!({})).await;
        assert!(response.is_error() && response.text() == "there is no such file");
        let response = call("refuse", json!({})).await;
        assert_eq!(response.text(), "Invalid arguments: `n` must be even");
        let response = call("break", json!({})).await;
        assert_eq!(response.text(), "the MCP server `hostile` rejects `break`: out of order (-32603)");
        let response = call("unknown", json!({})).await;
        assert!(response.text().contains("unknown tool"), "{}", response.text());
        let image = json!([{"type": "image", "data": "AQ==", "mimeType": "image/png"}]);
        let response = call("every", json!({"content": image})).await;
        assert_eq!(response.content()[0].to_json(), image[0]);
    });
}

/// Returns the process IDs of a server: its own, and that of its child process.
async fn processes(client: &McpClient) -> Vec<Value> {
    let numbers: Vec<Value> = serde_json::from_str(&told(client, "processes").await).unwrap();
    assert!(numbers.iter().all(runs));
    numbers
}

#[test]
fn dropped_client_leaves_no_process() {
    run(async {
        for words in ["legacy", "legacy stays", "modern", "legacy wrapped"] {
            let client = connect(words).await;
            let numbers = processes(&client).await;
            drop(client);
            eventually("all have ended", async || !numbers.iter().any(runs)).await;
        }
        // A client that is dropped during a call, or with the runtime, leaves no process either.
        let client = connect("legacy").await;
        let numbers = processes(&client).await;
        let waiting = tokio::spawn({
            let client = client.clone();
            async move { call(&client, "silence", json!({})).await }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        waiting.abort();
        drop(client);
        eventually("all have ended", async || !numbers.iter().any(runs)).await;
        let numbers = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let (client, numbers) = runtime.block_on(async {
                let client = connect("legacy stays").await;
                let numbers = processes(&client).await;
                (client, numbers)
            });
            drop(runtime);
            drop(client);
            numbers
        });
        let numbers = numbers.join().unwrap();
        eventually("all have ended", async || !numbers.iter().any(runs)).await;
    });
}

#[test]
fn graceful_close_ends_every_process() {
    run(async {
        for words in ["legacy", "legacy stays", "legacy wrapped"] {
            let client = connect(words).await;
            let numbers = processes(&client).await;
            let start = Instant::now();
            client.close().await;
            assert!(start.elapsed() < Duration::from_secs(5), "{words}");
            eventually("all have ended", async || !numbers.iter().any(runs)).await;
            let error = call(&client, "echo", json!({})).await.unwrap_err();
            assert!(error.to_string().contains("the client was closed"), "{error}");
        }
    });
}

/// Keeps the trait in scope for `spec`.
#[allow(dead_code, reason = "names a type")]
fn is_tool(_: &dyn AgentTool) {}
