//! Our client alone, and a locked tool in a registry: what a program calls.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgen_runtime::engine::Engine;
use toolgen_runtime::engine::mcp::{McpClient, McpEngine, McpOptions};
use toolgen_runtime::spec::mcp;
use toolgen_runtime::spec::plan::{McpServer, McpTransport};
use toolgen_runtime::{Frozen, Registry, Text, ToolContext};

use crate::{Peer, TEXT, tasks, timed};

pub(crate) struct Client(McpClient);

pub(crate) struct Tool(Arc<Registry>);

fn described(server: &[String]) -> Frozen<McpServer> {
    let transport = McpTransport::Stdio {
        argv: server.iter().map(|word| Text::from(word.clone())).collect(),
        env: vec![].into(),
        inherit: vec![].into(),
        work_dir: Text::EMPTY,
    };
    McpServer { alias: "bench".into(), transport, ..McpServer::EMPTY }.into()
}

impl Client {
    pub(crate) async fn start(server: &[String]) -> Client {
        Client(McpClient::connect(described(server), McpOptions::new()).await.unwrap())
    }
}

impl Tool {
    pub(crate) async fn start(server: &[String]) -> Tool {
        let server = described(server);
        let engine = McpEngine::new();
        let descriptors = engine.client(&server).list_tools().await.unwrap();
        let tools = mcp::tools(&server, &descriptors, true).into_iter().flatten();
        let tools = tools.map(|adapted| engine.make(adapted.tool.into(), &[]).unwrap());
        Tool(Arc::new(Registry::new(tools.collect::<Vec<_>>()).unwrap()))
    }
}

fn said(text: &str) -> String {
    text.strip_prefix("Echo: ").unwrap_or(text).to_owned()
}

impl Peer for Client {
    async fn calls(&self, count: usize, each: usize) -> Vec<Duration> {
        tasks(count, || {
            let client = self.0.clone();
            async move {
                let call = async || {
                    let Value::Object(arguments) = json!({ "message": TEXT }) else { unreachable!() };
                    let result = client.call("echo", arguments).await.unwrap();
                    said(result["content"][0]["text"].as_str().unwrap())
                };
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    times.push(timed(call()).await);
                }
                times
            }
        })
        .await
    }
}

impl Peer for Tool {
    async fn calls(&self, count: usize, each: usize) -> Vec<Duration> {
        tasks(count, || {
            let (registry, turn) = (Arc::clone(&self.0), ToolContext::new("turn", ""));
            async move {
                let call = async || {
                    let arguments = json!({ "message": TEXT });
                    let result = registry.call_without_layers("bench__echo", arguments, &turn).await.unwrap();
                    said(&result.into_text())
                };
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    times.push(timed(call()).await);
                }
                times
            }
        })
        .await
    }
}
