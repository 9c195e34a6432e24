#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(name =)]
fn f() {}

fn main() {}
