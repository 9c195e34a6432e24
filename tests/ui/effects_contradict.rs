#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(read_only, destructive)]
fn f() {}

fn main() {}
