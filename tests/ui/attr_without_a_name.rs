#![allow(unused)]

use toolgen_runtime::tool;

#[tool("Does it.")]
fn f() {}

/// Does it.
#[tool(pure)]
fn g(#[arg("How much.", default = 1)] amount: i64) {}

fn main() {}
