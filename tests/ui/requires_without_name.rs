#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(requires(session), requires)]
fn f() {}

fn main() {}
