//! A gateway: the tools of several MCP servers at one address, with rules and audit records.
//!
//! The program is also the servers (`mcp-gateway shop`, `mcp-gateway notes`), which the gateway starts like any
//! others, and the client, so that it needs nothing else. `cargo toolgen serve servers.yaml` is a gateway without a
//! program.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::env;
use std::error::Error;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolgen_runtime::engine::mcp::{McpClient, McpOptions};
use toolgen_runtime::layers::audit::{Auditor, MemorySink};
use toolgen_runtime::layers::policy::PolicyRules;
use toolgen_runtime::serve::mcp::Server;
use toolgen_runtime::spec::plan::McpServer;
use toolgen_runtime::{AgentTool, Registry, ToolError, Toolbox, ToolboxContext, tool, toolset};

/// Says how many of a thing are in stock.
#[tool(read_only)]
fn stock(
    /// The thing.
    thing: &str,
) -> String {
    format!("There are {} of {thing}.", thing.len())
}

/// Sells everything.
#[tool]
fn sell_out() -> &'static str {
    "sold"
}

/// Reads the note of a day.
#[tool(read_only)]
fn note(
    /// The day, such as `monday`.
    day: &str,
) -> Result<String, ToolError> {
    match day {
        "monday" => Ok("Order lamps.".to_owned()),
        _ => Err(ToolError::failed(format!("There is no note for {day}."))),
    }
}

/// Serves tools on standard streams, like a server that a user installs.
async fn serve(tools: Vec<Arc<dyn AgentTool>>) -> Result<(), Box<dyn Error>> {
    Ok(Server::new(Registry::new(tools)?.toolbox(ToolboxContext::new())).stdio().await?)
}

/// Calls tools through the gateway, as any client does.
async fn demonstrate(url: String) -> Result<(), Box<dyn Error>> {
    let options = McpOptions::new().private_host("127.0.0.1");
    let client = McpClient::connect(McpServer::http("gateway", url), options).await?;
    for tool in client.list_tools().await? {
        println!("{}: {}", tool["name"].as_str().unwrap_or_default(), tool["description"]);
    }
    let calls = [
        ("shop__stock", json!({ "thing": "lamps" })),
        ("notes__note", json!({ "day": "monday" })),
        ("notes__note", json!({ "day": "friday" })),
        ("shop__stock", json!({ "stuff": "lamps" })),
    ];
    for (name, arguments) in calls {
        println!("{name} {arguments}");
        let Value::Object(arguments) = arguments else { continue };
        println!("  {}", client.call(name, arguments).await?["content"][0]["text"]);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match env::args().nth(1).as_deref() {
        Some("shop") => return serve(toolset![stock, sell_out]).await,
        Some("notes") => return serve(toolset![note]).await,
        _ => {}
    }
    // Without locks: docs/mcp.md describes what they protect against.
    let this = env::current_exe()?.to_string_lossy().into_owned();
    let mut tools = Vec::new();
    for alias in ["shop", "notes"] {
        let server = McpServer::stdio(alias, [this.clone(), alias.to_owned()]);
        tools.extend(McpClient::connect(server, McpOptions::new()).await?.tools().await?);
    }

    let records = MemorySink::new();
    let auditor = Auditor::builder(records.clone()).start()?;
    let toolbox = Toolbox::builder(&Registry::new(tools)?)
        .rules(PolicyRules::builder().exclude(["*__sell_out"]).build()?)
        .layer(auditor.clone())
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(Server::new(toolbox).name("gateway").listen(listener));

    demonstrate(url).await?;
    auditor.flush().await?;
    println!("Recorded:");
    for row in records.rows() {
        println!("  {} {}", row.intent.tool_name, row.status().as_str());
    }
    Ok(())
}
