//! An agent for an API: tools that are compiled from an OpenAPI document, a credential that no model sees, rules that
//! exclude a tool, and an audit record of each call in SQLite.
//!
//! The service runs in the program, and the model is recorded.
#![allow(clippy::print_stdout, reason = "an example prints")]

mod service;

/// The tools of `forge.yaml`.
pub mod forge {
    toolgen_runtime::include_tools!("forge");
}

use std::error::Error;

use rusqlite::Connection;
use toolgen_examples::{recorded, show};
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::engine::http::{HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::layers::audit::Auditor;
use toolgen_runtime::layers::policy::PolicyRules;
use toolgen_runtime::store::audit::SqliteSink;
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{Registry, Toolbox, ToolboxContext};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // On a server, read it from an environment variable: `EnvCredentials`, and FORGE_TOKEN.
    let credentials = StaticCredentials::new().with("token", Secret::new(service::TOKEN));
    let engine = HttpEngine::builder().base_url(service::start().await?).credentials(credentials).build()?;
    let registry = Registry::new(engine.tools(forge::TOOLS))?;

    let database = std::env::temp_dir().join(format!("forge-{}.sqlite", std::process::id()));
    let auditor = Auditor::builder(SqliteSink::open(&database)?).start()?;
    let rules = PolicyRules::builder().exclude(["delete*"]).build()?;
    for tool in &registry {
        println!("{}: {}", tool.name(), if rules.allows(tool.spec()) { "allowed" } else { "left out" });
    }
    let toolbox = Toolbox::builder(&registry)
        .context(ToolboxContext::new().with_agent_id("gardener"))
        .rules(rules)
        .layer(auditor.clone())
        .build()?;

    let send = recorded(include_str!("replies.json"));
    let run = Agent::new(WireModel::new(WireFormat::Anthropic, send), &toolbox)
        .run("Close what is fixed, then delete all.")
        .await;
    show(&run.transcript);

    auditor.shutdown().await;
    println!("The records:");
    let connection = Connection::open(&database)?;
    // The request to the model that led to a call is recorded next to its arguments.
    let mut rows = connection.prepare(
        "SELECT agent_id, tool_name, json_remove(parameters, '$.\"@request\"'), status FROM tool_executions",
    )?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let [agent, tool, parameters, status] = [0, 1, 2, 3].map(|column| row.get::<_, String>(column));
        println!("  {} {} {}: {}", agent?, tool?, parameters?, status?);
    }
    std::fs::remove_file(&database)?;
    Ok(())
}
