#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(nmae = "x")]
fn f() {}

fn main() {}
