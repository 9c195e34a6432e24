#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(read_only = "yes", exclusive(true))]
fn f() {}

fn main() {}
