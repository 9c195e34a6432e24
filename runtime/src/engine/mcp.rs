//! Tools of MCP servers.

mod inbox;
mod options;
mod transport;

pub use options::{McpAsked, McpOptions};
