//! Models: loops, streams, transcripts, tools in requests, discovery.

use serde_json::{Value, json};
use toolgen_runtime::agent::agent_loop::{Loop, Transcript};
use toolgen_runtime::registry::discovery::Discovery;
use toolgen_runtime::spec::toolset::Toolset;
use toolgen_runtime::wire::{AnswerOptions, Calls, Deferred, Stream, WireFormat};
use toolgen_runtime::{Provider, Registry, ToolContext};

use crate::AnyResult;

use std::error::Error;

/// Sends a request, and tells what came back in place of JSON.
async fn post(request: reqwest::RequestBuilder) -> Result<Value, String> {
    let reply = request.send().await.map_err(|why| causes(&why))?;
    let status = reply.status();
    let text = reply.text().await.map_err(|why| causes(&why))?;
    serde_json::from_str(&text).map_err(|_| format!("{status}: {text}"))
}

/// An error with its causes: reqwest itself says no more than `error sending request`.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

pub(crate) async fn posted(request: reqwest::RequestBuilder) -> Result<Value, String> {
    post(request).await
}

async fn a_loop(provider: Provider, client: reqwest::Client, url: &str, key: &str) -> AnyResult {
    let send = |request: Value| {
        post(
            client
                .post(url)
                .header("x-api-key", key)
                .header("anthropic-version", "2023-06-01")
                .json(&request),
        )
    };
    let mut agent = Loop::new(&provider, WireFormat::Anthropic, send)?
        .with_model("claude-sonnet-5-5")
        .with_system("Be brief.")
        .with_options(json!({ "max_tokens": 2000 })); // merged into every request
    let run = agent.run("What is 17 + 25?").await;
    println!("{:?}, {} tokens", run.stop(), run.transcript.usage().total());
    println!("{}", run.text()?);
    Ok(())
}

async fn streamed(provider: Provider, client: reqwest::Client, url: &str) -> AnyResult<String> {
    let send = async |request: Value, mut stream: Stream| {
        let mut reply = client.post(url).json(&request).send().await?;
        while let Some(bytes) = reply.chunk().await? {
            stream.push_bytes(&bytes)?.iter().for_each(|piece| print!("{}", piece.text()));
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(stream)
    };
    Ok(Loop::streaming(&provider, WireFormat::OpenAiChat, send)?.run("Hello").await.text()?)
}

fn rendered(transcript: &Transcript) -> Vec<Value> {
    let rendered = transcript.messages(WireFormat::Gemini);
    for lost in &rendered.lost {
        eprintln!("{lost}"); // entry 1 loses `thinking`, which only anthropic can carry
    }
    rendered.messages
}

async fn model(_tools: &Value) -> AnyResult<Value> {
    Ok(json!({ "role": "assistant", "content": [] }))
}

async fn planned(provider: Provider) -> AnyResult {
    use toolgen_runtime::schema::dialect::ANTHROPIC_STRICT;
    use toolgen_runtime::wire::WireFormat;

    let format = WireFormat::Anthropic;
    let plan = format.plan(&ANTHROPIC_STRICT, provider.specs())?;
    let reply = model(plan.tools()).await?; // goes into the request

    let turn = ToolContext::new("turn-1", "").with_dialect(plan.dialects());
    let answers = provider.dispatch(format.calls(&reply)?.calls, &turn, &Default::default()).await;
    assert!(answers.responses.is_empty());
    Ok(())
}

fn discovered(registry: &Registry) -> AnyResult {
    let provider = Provider::builder(&registry)
        .discovery(Discovery::new().about("GitHub").pin(["repos_get", "issues_list-for-repo"]))
        .build()?;
    let tools = WireFormat::OpenAiChat.tools(provider.specs())?; // the three, and the two that are pinned
    assert!(tools.is_array());
    Ok(())
}

fn deferred(provider: &Provider) -> AnyResult<Value> {
    let deferred =
        Deferred::new().load(["repos_get"]).namespace(Toolset::new("issues", ["issues_get", "issues_list"]));
    let tools = WireFormat::OpenAiResponses.tools_deferred(&deferred, provider.specs())?;
    Ok(tools)
}

async fn referred(registry: Registry, calls: Calls, turn: ToolContext) -> AnyResult<(Value, Vec<Value>)> {
    let all = Provider::builder(&registry).build()?; // under the same rules as the one that searches
    let provider = Provider::builder(&registry).discovery(Discovery::new()).build()?;
    let search = provider.specs().filter(|spec| spec.name.as_str() == "search_tools");
    let deferred = Deferred::new().searched_by("search_tools");
    let tools = WireFormat::Anthropic.tools_deferred(&deferred, all.specs().chain(search))?;

    let answers = provider.dispatch(calls.calls, &turn, &Default::default()).await;
    let options = AnswerOptions::default().found_by("search_tools");
    let messages = WireFormat::Anthropic.answers_with(&answers.responses, &options);
    Ok((tools, messages))
}
