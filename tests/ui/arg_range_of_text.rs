#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(range = 1..=5)] a: String) -> String {
    a
}

fn main() {}
