#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(items(len = 3))] a: String) -> String {
    a
}

fn main() {}
