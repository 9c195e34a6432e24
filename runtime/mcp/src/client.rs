//! Client of the Model Context Protocol (MCP): the tools of MCP servers as tools of this crate.
//!
//! A server is a child process of the client, or is reached over HTTP. All tools of a server share one [`McpClient`],
//! which keeps a connection to it. Calls run concurrently, up to a limit per server, and each receives its own
//! response.
//!
//! | event | outcome of the call |
//! |---|---|
//! | the caller cancels | the server is notified, and a late response is dropped |
//! | a timeout: idle (neither response nor progress) or total | `TIMEOUT` |
//! | the server cannot be started | `MCP_UNREACHABLE`, with the end of its standard error |
//! | the server exits | `MCP_LOST`; the call is retried if it was not sent yet, or if its tool is idempotent |
//! | the tool fails | a failed result with the server's message |
//! | the response cannot be parsed | `INVALID_OUTPUT`, with the error and its location |
//! | the server rejects the call | `MCP_REFUSED`, or invalid arguments |
//! | the result violates the tool's output schema | `INVALID_OUTPUT` |
//! | the tool differs from its lock | `TOOL_CHANGED`: the call is not sent |
//! | the tool requests input | [`Control::NeedInput`](toolgen_kernel::Control::NeedInput), if the server may do so |
//!
//! Protocol versions 2024-11-05 to 2025-11-25 and 2026-07-28 are supported.

mod breaker;
mod connection;
mod content;
mod credentials;
mod error;
#[cfg_attr(not(feature = "http"), path = "client/without_http.rs")]
mod http;
mod inbox;
mod lock_check;
mod mcp_client;
mod negotiation;
mod options;
mod reading;
#[cfg(feature = "rmcp")]
pub mod rmcp;
mod server_requests;
mod session;
mod stdio;
mod task;
mod tool;
mod trace;
mod transport;
#[cfg(feature = "typed")]
mod typed;

use std::fmt;
use std::sync::{Arc, Mutex};

use self::tool::McpTool;
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::call::toolbox_context::FactoryError;
use toolgen_kernel::engine::Engine;
use toolgen_kernel::spec::plan::{ExecutionPlan, McpServer, Tool};

#[cfg(feature = "oauth")]
pub use http::{McpOAuth, TokenStore};
#[cfg(feature = "http")]
pub use http::{McpTokenRequest, TokenSource};
pub use mcp_client::McpClient;
pub use options::{McpOptions, McpServerRequest};

/// Runs tools of MCP servers. Clones share one client per server; a server is started when a call needs it.
#[derive(Clone, Default)]
pub struct McpEngine {
    options: McpOptions,
    clients: Arc<Mutex<Vec<McpClient>>>,
}

impl McpEngine {
    /// Creates an engine with the default options.
    #[must_use]
    pub fn new() -> McpEngine {
        McpEngine::default()
    }

    /// Creates an engine with these options.
    #[must_use]
    pub fn with_options(options: McpOptions) -> McpEngine {
        McpEngine { options, clients: Arc::default() }
    }

    /// Returns the client of a server, shared by all its tools.
    #[must_use]
    pub fn client(&self, server: &Frozen<McpServer>) -> McpClient {
        let mut clients = unpoisoned(self.clients.lock());
        if let Some(client) = clients.iter().find(|client| client.0.server == *server) {
            return client.clone();
        }
        let client = McpClient::new(server.clone(), self.options.clone());
        clients.push(client.clone());
        client
    }

    /// Closes all connections gracefully and permanently.
    pub async fn close(&self) {
        let clients = std::mem::take(&mut *unpoisoned(self.clients.lock()));
        for client in clients {
            client.close().await;
        }
    }
}

impl Engine for McpEngine {
    fn runs(&self, tool: &Tool) -> bool {
        matches!(tool.call, ExecutionPlan::Mcp(_))
    }

    fn make(&self, tool: Frozen<Tool>, _: &[Arc<dyn AgentTool>]) -> Result<Arc<dyn AgentTool>, FactoryError> {
        let name = tool.spec.name.to_text();
        let mcp_tool = match &tool.call {
            ExecutionPlan::Mcp(plan) => McpTool::new(&tool, self.client(&plan.server)),
            _ => None,
        };
        let mcp_tool = mcp_tool.ok_or_else(|| FactoryError::requires(name.as_str(), "another engine"))?;
        Ok(Arc::new(mcp_tool))
    }
}

impl fmt::Debug for McpEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpEngine").field("options", &self.options).finish_non_exhaustive()
    }
}
