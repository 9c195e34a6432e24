#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(range = 5..=1)] a: i32) -> i32 {
    a
}

fn main() {}
