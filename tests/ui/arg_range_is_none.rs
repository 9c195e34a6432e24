#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(range = 5)] a: u8, #[arg(range = ..)] b: u8) -> u8 {
    a + b
}

fn main() {}
