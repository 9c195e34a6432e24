#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(read_only, read_only)]
fn f() {}

fn main() {}
