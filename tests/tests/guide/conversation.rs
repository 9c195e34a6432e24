//! Models: loops, streams, transcripts, tools in requests, discovery.

use std::time::Duration;

use serde_json::{Value, json};
use toolgen_runtime::agent::agent_loop::{Transcript, WireModel};
use toolgen_runtime::agent::{Agent, Model, TerminalApprover};
use toolgen_runtime::layers::middleware::writes_need_approval;
use toolgen_runtime::registry::discovery::Discovery;
use toolgen_runtime::spec::toolset::Toolset;
use toolgen_runtime::wire::{Calls, Deferred, PlanOptions, Stream, ToolResultOptions, WireFormat};
use toolgen_runtime::{Registry, ToolContext, Toolbox, Turn};

use crate::AnyResult;

async fn with_client(toolbox: Toolbox) -> AnyResult {
    page!("docs/conversation.md", "let model = Model::anthropic(");
    Ok(())
}

async fn limited(toolbox: Toolbox, model: Model) -> AnyResult<String> {
    page!("docs/conversation.md", "let limits = LoopOptions::new()");
    page!("docs/conversation.md", "let mut events = agent.stream(");
    Ok(answer)
}

fn asking(registry: Registry) -> AnyResult<Toolbox> {
    page!("docs/conversation.md", "middleware(writes_need_approval)");
    Ok(toolbox)
}

page!("docs/conversation.md", "async fn post(");

async fn a_loop(toolbox: Toolbox, client: reqwest::Client, url: &str, key: &str) -> AnyResult {
    page!("docs/conversation.md", "let send = |request: Value|");
    Ok(())
}

async fn streamed(toolbox: Toolbox, client: reqwest::Client, url: &str) -> AnyResult<String> {
    page!("docs/conversation.md", "let send = async |request: Value, mut stream: Stream|");
    Ok(Agent::new(WireModel::streaming(WireFormat::OpenAiChat, send), &toolbox).run("Hello").await.text()?)
}

fn rendered(transcript: &Transcript) -> Vec<Value> {
    page!("docs/conversation.md", "let rendered = transcript.messages(WireFormat::Gemini);");
    rendered.messages
}

async fn model(_tools: &Value) -> AnyResult<Value> {
    Ok(json!({ "role": "assistant", "content": [] }))
}

async fn planned(toolbox: Toolbox) -> AnyResult {
    page!("docs/requests.md", "let format = WireFormat::Anthropic;");
    assert!(answers.responses.is_empty());
    Ok(())
}

fn with_properties(toolbox: &Toolbox, messages: Vec<Value>) -> AnyResult<Value> {
    page!("docs/requests.md", "let options = PlanOptions::default()");
    Ok(body)
}

fn discovered(registry: &Registry) -> AnyResult {
    page!("docs/discovery.md", "let tools = WireFormat::OpenAiChat.tools(toolbox.specs())?;");
    assert!(tools.is_array());
    Ok(())
}

fn deferred(toolbox: &Toolbox) -> AnyResult<Value> {
    page!("docs/discovery.md", "let deferred = Deferred::new().load(");
    Ok(tools)
}

async fn referred(registry: Registry, calls: Calls, turn: Turn) -> AnyResult<(Value, Vec<Value>)> {
    page!("docs/discovery.md", "let all = Toolbox::builder(&registry).build()?;");
    Ok((tools, messages))
}
