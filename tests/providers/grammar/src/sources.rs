//! Sources of tools: documents, tool lists of MCP servers, and functions with `#[tool]`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use toolgen::{Document, Options, Problems};
use toolgen_runtime::AgentTool as _;
use toolgen_runtime::function::inventory;
use toolgen_runtime::spec::plan::McpServer;
use toolgen_runtime::spec::{ToolSpec, mcp};

/// The tools of one document.
pub struct Source {
    /// The document.
    pub name: String,
    /// Its tools, in order.
    pub specs: Vec<ToolSpec>,
}

/// Reads all documents. Documents that cannot be compiled are reported and skipped; other tests check that they
/// compile.
pub fn all(documents: &[&str]) -> Vec<Source> {
    documents.iter().map(|&name| Source { name: name.to_owned(), specs: specs(name) }).collect()
}

fn specs(name: &str) -> Vec<ToolSpec> {
    if name == "--macros" {
        return inventory::tools().iter().map(|tool| tool.spec().clone()).collect();
    }
    listed(name).unwrap_or_else(|| compiled(name))
}

/// Returns the tools of a `tools/list` response, or of its array alone.
fn listed(name: &str) -> Option<Vec<ToolSpec>> {
    let value: Value = serde_json::from_str(&fs::read_to_string(name).ok()?).ok()?;
    let tools = value
        .as_array()
        .or_else(|| value.get("tools").filter(|_| value.get("toolgen_mcp_lock").is_none())?.as_array())?;
    tools.iter().all(|tool| tool.get("inputSchema").is_some()).then_some(())?;
    let server = McpServer { alias: "corpus".into(), ..McpServer::EMPTY };
    let adapted = mcp::tools(&server.into(), tools, true);
    Some(adapted.into_iter().filter_map(|one| Some(one.ok()?.tool.spec)).collect())
}

fn compiled(name: &str) -> Vec<ToolSpec> {
    let mut problems = Problems::new();
    let program = Document::load(Path::new(name), &mut problems)
        .and_then(|document| toolgen::compile(&document, &Options::default(), &mut problems));
    match program {
        Some(program) => program.all_tools().into_iter().map(|tool| tool.spec.clone()).collect(),
        None => {
            eprintln!("{name}: gives no tools");
            Vec::new()
        }
    }
}
