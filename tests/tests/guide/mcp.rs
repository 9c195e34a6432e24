//! MCP: servers adapted, and tools served.

use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::mcp::{McpClient, McpEngine};
use toolgen_runtime::serve::mcp::Server;
use toolgen_runtime::spec::plan::McpServer;
use toolgen_runtime::{Provider, ProviderContext, Registry, tool, toolset};

use crate::AnyResult;
use crate::readme::{shop, shop as generated};

fn built() {
    // build.rs
    toolgen::Build::new("shop").document("shop.lock.json").emit();
}

fn locked() -> AnyResult<Registry> {
    // main.rs
    pub mod shop {
        toolgen_runtime::include_tools!("shop");
    }

    let engines = Engines::new().with(McpEngine::new()); // feature `mcp`
    let registry = Registry::new(engines.tools(shop::TOOLS)?)?;
    Ok(registry)
}

async fn typed() -> AnyResult {
    use shop::ShopFindOrders;

    let servers = McpEngine::new(); // features `mcp` and `typed`
    let found = servers.call(ShopFindOrders::new(7)).await?;
    println!("{}", found.orders.len());
    Ok(())
}

async fn called(server: McpServer) -> AnyResult {
    use toolgen_runtime::engine::mcp::{McpEngine, McpOptions};

    // Tools that a lock was compiled to: the server is started by the first call.
    let tools = Engines::new().with(McpEngine::new()).tools(generated::TOOLS)?;

    // Or, without a lock, whatever the server offers now.
    let client = McpClient::connect(server, McpOptions::new()).await?;
    let tools = client.tools().await?;
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
    use toolgen_runtime::serve::mcp::Server;

    let provider = Registry::new(toolset![add, find_orders])?.provider(ProviderContext::new());
    Server::new(provider).stdio().await?;
    Ok(())
}

struct Keys;

impl Keys {
    fn owner(&self, _: impl AsRef<[u8]>) -> Option<toolgen_runtime::Principal> {
        None
    }
}

async fn for_each_principal(provider: Provider, keys: Keys) -> AnyResult {
    Server::new(provider)
        .principal(move |request| keys.owner(request.headers.get("x-api-key")?))
        .http("127.0.0.1:8080")
        .await?;
    Ok(())
}
