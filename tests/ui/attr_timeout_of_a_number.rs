#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(timeout = 5, result_limit = 64)]
fn f() {}

fn main() {}
