#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(name = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")]
fn f() {}

fn main() {}
