//! MCP: servers adapted, and tools served.

use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::mcp::{McpClient, McpEngine};
use toolgen_runtime::serve::mcp::Server;
use toolgen_runtime::spec::plan::McpServer;
use toolgen_runtime::{Toolbox, ToolboxContext, Registry, tool, toolset};

use crate::AnyResult;
use crate::readme::{shop, shop as generated};

fn built() {
    page!("docs/mcp.md", "toolgen::Build::new(");
}

fn locked() -> AnyResult<Registry> {
    page!("docs/mcp.md", "pub mod shop");
    Ok(registry)
}

async fn typed() -> AnyResult {
    page!("docs/mcp.md", "let servers = McpEngine::new();");
    Ok(())
}

async fn called(server: McpServer) -> AnyResult {
    page!("docs/mcp.md", "let tools = client.tools().await?;");
    Ok(())
}

/// Adds two numbers.
#[tool(pure)]
fn add(
    /// One.
    a: i64,
    /// The other.
    b: i64,
) -> i64 {
    a + b
}

/// Finds orders.
#[tool(read_only)]
fn find_orders() -> Vec<String> {
    Vec::new()
}

async fn served() -> AnyResult {
    page!("docs/mcp.md", "Server::new(toolbox).stdio().await?;");
    Ok(())
}

struct Keys;

impl Keys {
    fn owner(&self, _: impl AsRef<[u8]>) -> Option<toolgen_runtime::Principal> {
        None
    }
}

async fn for_each_principal(toolbox: Toolbox, keys: Keys) -> AnyResult {
    page!("docs/mcp.md", ".principal(move |request| keys.");
    Ok(())
}
