#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(timeout = "30")]
fn f() {}

fn main() {}
