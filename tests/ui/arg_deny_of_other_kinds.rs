#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn number(#[arg(deny_pattern = "[0-9]+")] a: u8) {}

/// Does it.
#[tool(undocumented)]
fn message(#[arg(deny_message = "dangerous")] a: &str) {}

/// Does it.
#[tool(undocumented)]
fn listed(#[arg(deny_pattern = "b", one_of("a", "b"))] a: &str) {}

fn main() {}
