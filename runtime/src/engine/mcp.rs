//! Tools of MCP servers.

mod era;
mod inbox;
mod lines;
mod link;
mod options;
mod stdio;
mod transport;

pub use options::{McpAsked, McpOptions};
