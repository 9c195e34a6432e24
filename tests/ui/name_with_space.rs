#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(name = "get weather")]
fn f() {}

fn main() {}
