//! An agent that delegates to a researcher with its own tool, and to a critic without tools, both with limits.
//!
//! The calls of a sub-agent pass the layers of the delegating agent: here its events are printed as they occur. The
//! models are recorded.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use serde_json::json;
use toolgen_examples::{recorded, show};
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::agent::sub_agent::{AgentMonitor, AgentTask, LoopRunner, SubAgentTool};
use toolgen_runtime::layers::events::{Event, EventKind};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{Effects, Registry, Toolbox, tool, toolset};

/// Searches the catalogue.
#[tool(read_only)]
fn search(
    /// Words that the description of a thing has.
    words: &str,
) -> String {
    let things = ["oak table, 2 in stock", "long table, 1 in stock", "lamp, sold out"];
    things.into_iter().filter(|thing| thing.contains(words)).collect::<Vec<_>>().join("; ")
}

/// Returns the model that the configuration of a sub-agent names. Any vendor can be used.
fn model(task: &AgentTask, _: &AgentMonitor) -> WireModel<'static, String> {
    let replies = match task.name.as_str() {
        "researcher" => include_str!("researcher.json"),
        _ => include_str!("critic.json"),
    };
    WireModel::new(WireFormat::Anthropic, recorded(replies))
        .with_model(task.model_config["name"].as_str().unwrap_or("large"))
        .with_system(task.system_prompt.as_str())
}

fn print(event: Event) {
    let who = event.agent_id.as_deref().unwrap_or("lead");
    if let EventKind::ToolCall { arguments } = event.kind {
        println!("{who} calls {} {arguments}", event.name);
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let researcher = SubAgentTool::builder("researcher", LoopRunner::new(model))
        .description("Finds out what we have.")
        .system_prompt("You look things up. Say only what you found.")
        .model_config(json!({ "name": "small" }))
        .tools(toolset![search])
        .effects(Effects::NONE)
        .max_turns(5)
        .max_tokens(20_000)
        .build()?;
    let critic = SubAgentTool::builder("critic", LoopRunner::new(model))
        .description("Says what is wrong with a text.")
        .system_prompt("You are a strict reader.")
        .effects(Effects::NONE)
        .max_turns(1)
        .build()?;
    let registry = Registry::builder().add(researcher).add(critic).seal()?;
    let toolbox = Toolbox::builder(&registry).on_event(print).build()?;

    let send = recorded(include_str!("lead.json"));
    let run = Agent::new(WireModel::new(WireFormat::Anthropic, send), &toolbox)
        .run("Write a line about our tables.")
        .await;
    println!();
    show(&run.transcript);
    Ok(())
}
