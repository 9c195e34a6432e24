//! Helpers of these tests.

use crate::prelude::*;

/// Returns the command that starts this program as a server. Clients must tolerate the output of the test harness.
pub(crate) fn program() -> Vec<String> {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let words = ["--exact", "mcp::server::serves", "--nocapture", "--quiet"].map(str::to_owned);
    [program].into_iter().chain(words).collect()
}

/// Runs a test with a timeout.
pub(crate) fn run(test: impl Future<Output = ()>) {
    run_for(60, test);
}

/// Like [`run`], with a longer timeout.
pub(crate) fn run_long(test: impl Future<Output = ()>) {
    run_for(1_800, test);
}

fn run_for(seconds: u64, test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(seconds), test).await.expect("the test hangs");
    });
}

/// Returns this test program as a server that behaves as configured.
pub(crate) fn server(words: &str) -> McpServer {
    McpServer {
        alias: "hostile".into(),
        transport: McpTransport::Stdio {
            argv: program().into_iter().map(Text::from).collect(),
            env: vec![("MCP_SERVER".into(), words.to_owned().into())].into(),
            inherit: vec![].into(),
            work_dir: Text::EMPTY,
        },
        ..McpServer::EMPTY
    }
}

pub(crate) fn options() -> McpOptions {
    McpOptions::new().probe_timeout(Duration::from_secs(2)).connect_timeout(Duration::from_secs(10))
}

pub(crate) async fn connect(words: &str) -> McpClient {
    McpClient::connect(server(words), options()).await.unwrap()
}

pub(crate) async fn call(client: &McpClient, tool: &str, arguments: Value) -> Result<String, ToolError> {
    let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
    let response = client.call(tool, arguments).await?;
    Ok(response["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

/// Makes a call without arguments, which must succeed.
pub(crate) async fn told(client: &McpClient, tool: &str) -> String {
    call(client, tool, json!({})).await.unwrap()
}

pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a process with this ID runs; a zombie does not.
pub(crate) fn runs(pid: &Value) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map_or("", |(_, rest)| rest).trim_start();
    !state.is_empty() && !state.starts_with('Z')
}
