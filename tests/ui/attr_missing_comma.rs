#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(read_only idempotent)]
fn f() {}

fn main() {}
