#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(name = 5, category = x)]
fn f() {}

fn main() {}
