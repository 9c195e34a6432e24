#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(deny_pattern = "rm (-rf")] a: &str, #[arg(deny_pattern = "")] b: &str, #[arg(deny_pattern)] c: &str) {
}

fn main() {}
