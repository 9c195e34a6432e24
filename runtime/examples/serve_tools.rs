//! Serves two functions to MCP clients on standard streams:
//!
//! ```json
//! {"mcpServers": {"units": {"command": "target/debug/examples/serve_tools"}}}
//! ```

use std::error::Error;

use toolgen_runtime::serve::mcp::Server;
use toolgen_runtime::{Registry, RegistryError, ToolboxContext, tool, toolset};

/// Converts a temperature to degrees Fahrenheit.
#[tool(pure)]
fn fahrenheit(
    /// The temperature in degrees Celsius.
    celsius: f64,
) -> f64 {
    celsius * 9.0 / 5.0 + 32.0
}

/// Converts a distance to miles.
#[tool(pure)]
fn miles(
    /// The distance in kilometers.
    kilometres: f64,
) -> f64 {
    kilometres / 1.609_344
}

/// Creates the server for both functions.
pub(crate) fn server() -> Result<Server, RegistryError> {
    let toolbox = Registry::new(toolset![fahrenheit, miles])?.toolbox(ToolboxContext::new());
    Ok(Server::new(toolbox).name("units"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    server()?.stdio().await?;
    Ok(())
}
