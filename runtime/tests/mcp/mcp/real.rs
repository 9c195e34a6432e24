//! Servers of other projects. `.ci/run` installs them in the directory that `TOOLGEN_MCP_SERVERS` names: those of npm
//! in `node_modules`, those of PyPI in `bin`. Without the variable, they are skipped.

use toolgen_runtime::ToolResponse;
use toolgen_runtime::spec::mcp;
use toolgen_test_support::needs::{Need, skip};

use crate::mcp::basics::turn;
use crate::mcp::support::run;
use crate::prelude::*;

/// The servers, each with its arguments, its protocol era and its minimum number of tools.
const SERVERS: [(&str, &[&str], &str, usize); 7] = [
    ("mcp-server-everything", &[], "2025-11-25", 10),
    ("mcp-server-filesystem", &["."], "2025-11-25", 10),
    ("mcp-server-memory", &[], "2025-11-25", 9),
    ("mcp-server-sequential-thinking", &[], "2025-11-25", 1),
    ("mcp-server-git", &[], "2026-07-28", 10),
    ("mcp-server-time", &["--local-timezone", "UTC"], "2026-07-28", 2),
    ("mcp-server-fetch", &[], "2026-07-28", 1),
];

fn server(alias: &str, name: &str, arguments: &[&str]) -> Option<McpServer> {
    let Ok(dir) = std::env::var("TOOLGEN_MCP_SERVERS") else {
        skip(Need::McpServers, "TOOLGEN_MCP_SERVERS names no directory");
        return None;
    };
    let found = ["node_modules/.bin", "bin"].map(|bin| format!("{dir}/{bin}/{name}"));
    let program = found.into_iter().find(|file| std::fs::exists(file).unwrap_or_default());
    let program = program.unwrap_or_else(|| panic!("{name} is not in {dir}"));
    let argv = std::iter::once(program).chain(arguments.iter().map(|word| (*word).to_owned()));
    let transport = McpTransport::Stdio {
        argv: argv.map(Text::from).collect(),
        env: vec![].into(),
        inherit: vec![].into(),
        work_dir: Text::EMPTY,
    };
    Some(McpServer { alias: alias.to_owned().into(), transport, ..McpServer::EMPTY })
}

async fn locked(server: &Frozen<McpServer>) -> Vec<Tool> {
    let client = McpClient::connect(server.clone(), McpOptions::new()).await.unwrap();
    let descriptors = client.list_tools().await.unwrap();
    client.close().await;
    mcp::tools(server, &descriptors, true).into_iter().map(|adapted| adapted.unwrap().tool).collect()
}

#[test]
#[ignore = "heavy: servers of others"]
fn third_party_servers_are_listed_and_locked() {
    run(async {
        for (name, arguments, revision, least) in SERVERS {
            let Some(server) = server("other", name, arguments) else { return };
            let (server, start) = (Frozen::from(server), Instant::now());
            let client = McpClient::connect(server.clone(), McpOptions::new()).await.unwrap();
            let connected = start.elapsed();
            assert_eq!(client.protocol_version().as_deref(), Some(revision), "{name}");
            let descriptors = client.list_tools().await.unwrap();
            assert!(descriptors.len() >= least, "{name}: {}", descriptors.len());
            let start = Instant::now();
            client.close().await;
            println!("    {name}: {revision}, {} tools, {connected:?} to start", descriptors.len());
            assert!(start.elapsed() < Duration::from_secs(4), "{name}");
            // Another process of the server describes its tools identically.
            let tools: Vec<Tool> = mcp::tools(&server, &descriptors, true)
                .into_iter()
                .map(|adapted| adapted.unwrap().tool)
                .collect();
            let again = locked(&server).await;
            assert!(tools == again, "{name}");
        }
    });
}

fn toolbox(tools: impl IntoIterator<Item = Tool>) -> Toolbox {
    let tools = Engines::new().with(McpEngine::new()).tools_from(tools).unwrap();
    Registry::new(tools).unwrap().toolbox(Default::default())
}

async fn call(toolbox: &Toolbox, tool: &str, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("1", tool, arguments), &turn()).await
}

#[test]
#[ignore = "heavy: servers of others"]
fn everything_server_features_work() {
    run(async {
        let Some(server) = server("every", "mcp-server-everything", &[]) else { return };
        let toolbox = toolbox(locked(&server.into()).await);
        let echo = call(&toolbox, "every__echo", json!({"message": "hi"})).await;
        assert_eq!(echo.text(), "Echo: hi");
        let wrong = call(&toolbox, "every__echo", json!({"message": 1, "more": true})).await;
        assert!(wrong.is_error(), "{}", wrong.text());
        let image = call(&toolbox, "every__get-tiny-image", json!({})).await;
        assert!(image.content().iter().any(|content| content.to_json()["type"] == "image"));
        let weather = call(&toolbox, "every__get-structured-content", json!({"location": "New York"})).await;
        assert!(weather.outcome.unwrap().structured().unwrap()["temperature"].is_number());
        let links = call(&toolbox, "every__get-resource-links", json!({"count": 2})).await;
        assert!(links.text().contains("resource_link"), "{}", links.text());
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let received = Arc::clone(&lines);
        let turn = turn().with_on_progress(move |line| received.lock().unwrap().push(line));
        let long = |seconds: u32| {
            let arguments = json!({"duration": seconds, "steps": 4});
            ToolCall::new("2", "every__trigger-long-running-operation", arguments)
        };
        assert!(!toolbox.run(long(1), &turn).await.is_error());
        assert!(lines.lock().unwrap().len() >= 3, "{lines:?}");
        let given_up = toolbox.run(long(20), &turn);
        assert!(tokio::time::timeout(Duration::from_millis(300), given_up).await.is_err());
        let start = Instant::now();
        assert_eq!(call(&toolbox, "every__echo", json!({"message": "on"})).await.text(), "Echo: on");
        assert!(start.elapsed() < Duration::from_secs(2));
    });
}

#[test]
#[ignore = "heavy: servers of others"]
fn two_copies_of_a_server_are_independent() {
    run(async {
        let dirs = ["a", "b"].map(|name| {
            let dir = format!("{}/mcp-copy-{name}", env!("CARGO_TARGET_TMPDIR"));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(format!("{dir}/file"), name).unwrap();
            std::fs::canonicalize(dir).unwrap().to_str().unwrap().to_owned()
        });
        let mut tools = Vec::new();
        for (alias, dir) in ["left", "right"].into_iter().zip(&dirs) {
            let Some(server) = server(alias, "mcp-server-filesystem", &[dir]) else { return };
            tools.extend(locked(&server.into()).await);
        }
        let toolbox = toolbox(tools);
        for (alias, dir, other, message) in
            [("left", &dirs[0], &dirs[1], "a"), ("right", &dirs[1], &dirs[0], "b")]
        {
            let name = format!("{alias}__read_text_file");
            let read = call(&toolbox, &name, json!({"path": format!("{dir}/file")})).await;
            assert_eq!(read.outcome.unwrap().structured().unwrap()["content"], message);
            let outside = call(&toolbox, &name, json!({"path": format!("{other}/file")})).await;
            assert!(outside.is_error(), "{}", outside.text());
        }
    });
}
