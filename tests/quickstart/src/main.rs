//! A complete example: a document, compiled by the build script, becomes tools that call a real service. A Rust
//! function is another tool.
//!
//! The program prints what a model would see: the tools with their schemas, then the results of a few calls.

mod server;

/// The tools of `specs/tasks.yaml`.
pub mod tasks {
    toolgen_runtime::include_tools!("tasks");
}

use serde_json::{Value, json};
use toolgen_runtime::engine::http::{HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::{Registry, ToolCall, Toolbox, ToolboxContext, Turn, tool, toolset};

/// Counts the days of some weeks, for a date that is so many weeks away.
#[tool(read_only)]
fn days(
    /// How many weeks.
    #[arg(range = 0..=52)]
    weeks: u32,
) -> u32 {
    weeks * 7
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "what it prints is what it is for")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let base_url = server::start().await?;
    let credentials = StaticCredentials::new().with("token", Secret::new(server::TOKEN));
    let engine = HttpEngine::builder().base_url(base_url).credentials(credentials).build()?;
    let registry = Registry::builder().add_all(engine.tools(tasks::TOOLS)).add_all(toolset![days]).seal()?;

    let toolbox = registry.toolbox(ToolboxContext::new().with_agent_id("quickstart"));

    println!("The tools, as a model sees them:\n");
    for tool in &registry {
        println!("{}", tool.prompt_documentation().trim_end());
        println!("  {}\n", tool.parameters_schema());
    }

    let calls = [
        ("createTask", json!({ "title": "Try the quickstart", "tags": ["demo", "rust"] })),
        ("listTasks", json!({ "status": "open", "tags": ["demo", "rust"] })),
        ("listTasks", json!({ "status": "opne", "limit": "ten", "page": 2 })),
        ("getTask", json!({ "id": 99 })),
        ("days", json!({ "weeks": 3 })),
    ];
    for (number, (name, arguments)) in calls.into_iter().enumerate() {
        println!("{name} {arguments}");
        println!("{}\n", indented(&answer(&toolbox, number, name, arguments).await));
    }
    Ok(())
}

/// Returns what the model sees of a call: the content of the result, or an error that helps to correct the call.
async fn answer(toolbox: &Toolbox, number: usize, name: &str, arguments: Value) -> String {
    let call = ToolCall::new(format!("call_{number}"), name, arguments);
    let response = toolbox.run(call, &Turn::new("turn_1")).await;
    let prefix = if response.is_error() { "error: " } else { "" };
    format!("{prefix}{}", response.text())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}
