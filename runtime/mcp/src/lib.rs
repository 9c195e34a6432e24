//! The Model Context Protocol (MCP): a client for tools of MCP servers, and a server for the tools of a toolbox.
//!
//! Programs use this crate as `engine::mcp` and `serve::mcp` of `toolgen-runtime`.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod client;
#[cfg(feature = "server")]
pub mod server;
