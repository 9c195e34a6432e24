#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(result_limit = "64K")]
fn f() {}

fn main() {}
