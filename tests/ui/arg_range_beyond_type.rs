#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(range = 1..=300)] a: u8) -> u8 {
    a
}

fn main() {}
