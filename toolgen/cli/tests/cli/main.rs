//! Tests that run the program `cargo-toolgen`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test fails by panicking")]

mod approvals;
mod cases;
mod command_line;
mod dry_run;
mod envelopes;
mod examples;
mod gateway;
mod guide;
mod mcp;
mod mcp_types;
mod programs;
mod project;
mod record;
mod scripts;
mod serve;
mod shell;
mod support;
mod timeline;
mod transfer;
