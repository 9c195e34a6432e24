//! The end of a connection over streams: the client closes its output, but may still read.

use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use toolgen_runtime::serve::mcp::ServeError;

use crate::prelude::*;
use crate::serve::tools::server;

/// Far less than the five seconds of a running call.
const SOON: Duration = Duration::from_millis(800);

/// A client that writes raw lines.
pub(crate) struct Raw {
    output: WriteHalf<DuplexStream>,
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: JoinHandle<Result<(), ServeError>>,
}

impl Raw {
    pub(crate) fn start() -> Raw {
        Raw::of(server().0)
    }

    pub(crate) fn of(server: Server) -> Raw {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let served = tokio::spawn(server.serve(input, output));
        let (input, output) = tokio::io::split(ours);
        Raw { output, input: BufReader::new(input).lines(), served }
    }

    pub(crate) async fn says(&mut self, message: Value) {
        self.writes(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn writes(&mut self, bytes: &[u8]) {
        self.output.write_all(bytes).await.unwrap();
    }

    /// Reads until the first message that contains this text.
    pub(crate) async fn hears(&mut self, text: &str) -> String {
        loop {
            let line = self.input.next_line().await.unwrap().unwrap_or_else(|| panic!("no {text}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Closes its output, and waits until the server ends.
    pub(crate) async fn ends(&mut self) {
        self.output.shutdown().await.unwrap();
        let ended = tokio::time::timeout(SOON, &mut self.served).await;
        ended.expect("the server waits for nothing").unwrap().unwrap();
    }

    pub(crate) async fn begins(&mut self) {
        let client = json!({"name": "raw", "version": "1"});
        let capabilities = json!({"elicitation": {}});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
        self.says(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
        self.hears("serverInfo").await;
        self.says(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }
}

fn listen() -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params})
}

#[tokio::test]
async fn open_subscription_does_not_keep_the_server_running() {
    let mut client = Raw::start();
    client.says(listen()).await;
    client.hears("acknowledged").await;
    client.ends().await;
    // The client is notified that the subscription has ended.
    client.hears("\"id\":1").await;
}

#[tokio::test]
async fn final_subscription_does_not_keep_the_server_running() {
    let mut client = Raw::start();
    client.says(listen()).await;
    client.ends().await;
}

#[tokio::test]
async fn unanswerable_question_does_not_keep_the_server_running() {
    let mut client = Raw::start();
    client.begins().await;
    let params = json!({"name": "greet", "arguments": {}});
    client.says(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    client.hears("elicitation/create").await;
    client.ends().await;
    assert!(client.hears("\"id\":1").await.contains("it has closed its output"));
}

#[tokio::test]
async fn final_input_before_the_end_is_processed() {
    let mut client = Raw::start();
    client.begins().await;
    let params = json!({"name": "greet", "arguments": {}});
    client.says(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    let asked: Value = serde_json::from_str(&client.hears("elicitation/create").await).unwrap();
    let response = json!({"action": "accept", "content": {"name": "Ada"}});
    client.says(json!({"jsonrpc": "2.0", "id": asked["id"], "result": response})).await;
    client.ends().await;
    assert!(client.hears("\"id\":1").await.contains("Hello, Ada!"));
}
