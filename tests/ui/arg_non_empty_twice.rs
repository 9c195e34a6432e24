#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn twice(#[arg(non_empty, len = 1..)] a: String, #[arg(non_empty, len = ..=3)] fine: String) {}

fn main() {}
