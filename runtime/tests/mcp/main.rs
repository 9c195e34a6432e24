//! Clients and servers of the Model Context Protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod mcp;
mod mcp_http;
mod prelude;
mod serve;
