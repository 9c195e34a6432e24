//! toolgen in one program: tools from three sources, a model that calls them, an approval, an audit log, and MCP.
//!
//! The model is scripted, in the format of Anthropic (`replies.json`), and the API runs in this program: no key is
//! needed. With `--verbose`, the program also prints the schemas of the tools and the complete messages.

mod api;
mod screen;

use std::error::Error;
use std::future::{Ready, ready};

use serde_json::{Value, json};
use toolgen_runtime::agent::agent_loop::{Agent, Entry, LoopOptions, Transcript, WireModel};
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::http::{HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::layers::audit::{Auditor, MemorySink};
use toolgen_runtime::layers::middleware::{ApprovalRequest, MiddlewareDecision, ToolRequest};
use toolgen_runtime::spec::plan::ExecutionPlan;
use toolgen_runtime::toolbox::dispatch::DispatchOptions;
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{Registry, Session, ToolError, ToolInput, Toolbox, Turn, tool, toolset};

use screen::{details, heading, show};

/// The tool of an OpenAPI document: see `build.rs`.
pub mod tasks {
    toolgen_runtime::include_tools!("tasks");
}

/// The tool of a manifest, `team.yaml`.
pub mod team {
    toolgen_runtime::include_tools!("team");
}

/// A day of the rota.
#[derive(ToolInput)]
#[serde(rename_all = "lowercase")]
enum Day {
    Today,
    Tomorrow,
}

/// Names the engineer who is on call.
#[tool(pure)]
fn on_call(
    /// The day.
    day: Day,
) -> &'static str {
    match day {
        Day::Today => "Ada",
        Day::Tomorrow => "Grace",
    }
}

/// Decides about each call with valid arguments.
fn policy(request: &ToolRequest<'_>) -> MiddlewareDecision {
    match request.spec.effects.spawns {
        true => MiddlewareDecision::NeedApproval("It starts a program.".to_owned()),
        false => MiddlewareDecision::Allow,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let verbose = std::env::args().any(|argument| argument == "--verbose");

    heading("1. Three sources become tools of one toolbox");
    // A token for the API, which no model sees. `EnvCredentials` reads tokens from environment variables.
    let credentials = StaticCredentials::new().with("token", Secret::new(api::TOKEN));
    let http = HttpEngine::builder().base_url(api::start()?).credentials(credentials).build()?;
    let engines = Engines::new().with(http);
    let registry = Registry::builder()
        .add_all(toolset![on_call])
        .add_all(engines.tools(tasks::TOOLS)?)
        .add_all(engines.tools(team::TOOLS)?)
        .seal()?;
    let log = MemorySink::new();
    let auditor = Auditor::builder(log.clone()).start()?;
    let toolbox = Toolbox::builder(&registry).middleware(policy).layer(auditor.clone()).build()?;
    show_tools(&toolbox, verbose)?;

    heading("2. A model calls them (a script stands for it), reads its errors, and corrects its call");
    let replies = serde_json::from_str(include_str!("../replies.json"))?;
    let model = WireModel::new(WireFormat::Anthropic, scripted(replies));
    let turn = Turn::new("quickstart").with_session(Session::new("monday"));
    let mut agent = Agent::new(model, &toolbox)
        .with_turn(turn.clone())
        .with_limits(LoopOptions::new().stop_when_waiting());
    let run = agent.run("The checkout is slow. Open a task for who is on call, and tell the team.").await;
    run.outcome?;
    let mut transcript = run.transcript;
    show_entries(&transcript);

    heading("3. The last call waits for an approval: as sealed data, which a program can store");
    let stored = serde_json::to_string(&waiting(&transcript).ok_or("no call waits")?)?;
    let request: ApprovalRequest = serde_json::from_str(&stored)?;
    show("asked", format!("{} {} {}", request.name, request.redacted_arguments, request.reasons.join(" ")));
    // The seal covers the arguments: nothing else can be run with this approval.
    let mut changed = request.clone();
    changed.call.arguments = json!({ "text": "Free pizza for all!" });
    show("changed", toolbox.resume(changed.approved_by("Grace"), &turn).await.text());
    let response = toolbox.resume(request.approved_by("Grace"), &turn).await;
    show("approved", format!("by Grace: {}", response.text().trim_end()));
    transcript.replace_result(response);
    // The conversation continues where it stopped.
    let known = transcript.len();
    let run = agent.run(transcript).await;
    show_entries(&run.transcript[known..]);
    if verbose {
        details(&run.transcript.messages(WireFormat::Anthropic).messages.into());
    }
    run.outcome?;

    auditor.flush().await?;
    show_audit(&log);
    answer_mcp(&toolbox, &turn, verbose).await?;

    heading("Next");
    show("write", "docs/start.md: make tools of your own functions and APIs");
    show("decide", "docs/policies.md: rules, scopes, limits, and approvals by people");
    show("serve", "docs/serve.md: offer tools to an editor, as `cargo toolgen serve specs/tasks.yaml` does");
    Ok(())
}

fn show_tools(toolbox: &Toolbox, verbose: bool) -> Result<(), Box<dyn Error>> {
    for spec in toolbox.specs() {
        show(&spec.name, source(spec.name.as_str()));
    }
    let formats = WireFormat::ALL.iter().filter(|format| format.tools(toolbox.specs()).is_ok());
    show("formats", formats.map(|format| format.name()).collect::<Vec<_>>().join(", "));
    if verbose {
        details(&WireFormat::Anthropic.tools(toolbox.specs())?);
    }
    Ok(())
}

/// Describes the source of a tool. Compiled tools are data, which a program can read.
fn source(name: &str) -> String {
    let mut compiled = tasks::TOOLS.iter().chain(team::TOOLS);
    match compiled.find(|tool| tool.spec.name.as_str() == name).map(|tool| &tool.call) {
        Some(ExecutionPlan::Http(plan)) => {
            format!("{} {} of an OpenAPI document, specs/tasks.yaml", plan.method, plan.path)
        }
        Some(ExecutionPlan::Command(_)) => "a command of a manifest, tests/quickstart/team.yaml".to_owned(),
        _ => "a Rust function, in tests/quickstart/src/main.rs".to_owned(),
    }
}

/// Returns a function that simulates requests to a vendor: it returns these replies in order.
fn scripted(replies: Vec<Value>) -> impl FnMut(Value) -> Ready<Result<Value, &'static str>> + Send {
    let mut replies = replies.into_iter();
    move |_request| ready(replies.next().ok_or("the script has no more replies"))
}

/// Returns the call that waits for an approval.
fn waiting(transcript: &Transcript) -> Option<&ApprovalRequest> {
    transcript.last_results().find_map(|response| match &response.outcome {
        Err(ToolError::ApprovalRequired(request)) => Some(&**request),
        _ => None,
    })
}

fn show_entries(entries: &[Entry]) {
    for entry in entries {
        match entry {
            Entry::User(text) => show("user", text),
            Entry::Model(turn) => {
                if !turn.text.is_empty() {
                    show("model", &turn.text);
                }
                for call in &turn.calls {
                    show("model", format!("{} {}", call.name, call.arguments));
                }
            }
            Entry::Answer(response) => show(&response.name, response.text()),
            _ => {}
        }
    }
}

fn show_audit(log: &MemorySink) {
    let records = log.rows();
    heading(&format!("4. The audit log has {} records, one for each call; the last record:", records.len()));
    if let Some(record) = records.last() {
        let intent = &record.intent;
        let approver = intent.approved_by.as_deref().unwrap_or("no one");
        let (tool, arguments, status) = (&intent.tool_name, &intent.parameters, record.status().as_str());
        show(status, format!("{tool} {arguments}, approved by {approver}"));
    }
}

/// Answers two messages of MCP. `Server` (feature `mcp-server`) does this for clients, over stdio or HTTP.
async fn answer_mcp(toolbox: &Toolbox, turn: &Turn, verbose: bool) -> Result<(), Box<dyn Error>> {
    heading("5. The same toolbox answers the messages of MCP");
    let list = WireFormat::Mcp.tools(toolbox.specs())?;
    show("tools/list", format!("{} tools, {} bytes", toolbox.specs().count(), list.to_string().len()));
    if verbose {
        details(&list);
    }
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "on_call", "arguments": { "day": "tomorrow" } },
    });
    show("tools/call", &request["params"]);
    let calls = WireFormat::Mcp.tool_calls(&request)?.calls;
    let responses = toolbox.dispatch(calls, turn, &DispatchOptions::new()).await.responses;
    for answer in WireFormat::Mcp.tool_results(&responses) {
        show("response", answer);
    }
    Ok(())
}
