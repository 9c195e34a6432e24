//! Tools of MCP servers over HTTP, served by rmcp, in both eras of the protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod calls;
mod hosts;
mod sessions;
mod world;
