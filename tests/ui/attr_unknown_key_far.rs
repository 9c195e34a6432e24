#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(colour = "x")]
fn f() {}

fn main() {}
