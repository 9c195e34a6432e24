#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(blocking)]
async fn f() {}

fn main() {}
