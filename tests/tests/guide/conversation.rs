//! Models: loops, streams, transcripts, tools in requests, discovery.

use serde_json::{Value, json};
use toolgen_runtime::agent::agent_loop::{Agent, Transcript, WireModel};
use toolgen_runtime::registry::discovery::Discovery;
use toolgen_runtime::spec::toolset::Toolset;
use toolgen_runtime::wire::{Calls, Deferred, Stream, ToolResultOptions, WireFormat};
use toolgen_runtime::{Registry, ToolContext, Toolbox, Turn};

use crate::AnyResult;

page!("docs/conversation.md", "async fn post(");

pub(crate) async fn posted(request: reqwest::RequestBuilder) -> Result<Value, String> {
    post(request).await
}

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
