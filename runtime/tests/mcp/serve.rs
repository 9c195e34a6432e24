//! The MCP server with a foreign client: over a pipe and over HTTP, in protocol versions with and without sessions.
#![allow(clippy::needless_pass_by_value, reason = "tools take what a model sends")]

mod asking;
mod bridge;
mod calling;
mod client;
mod ending;
#[path = "../../examples/serve_tools.rs"]
#[allow(dead_code, reason = "not started here")]
mod example;
mod flood;
mod gate;
mod limits;
mod listing;
mod shares;
mod tools;
mod unasked;
mod unreadable;
mod values;
