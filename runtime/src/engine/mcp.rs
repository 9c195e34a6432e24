//! Tools of MCP servers.

#[cfg(feature = "http")]
mod http;
mod inbox;
mod options;
mod transport;

#[cfg(feature = "http")]
pub use http::{McpTokenRequest, TokenSource};
pub use options::{McpAsked, McpOptions};
