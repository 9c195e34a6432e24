#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(files = "append", network)]
fn f() {}

fn main() {}
