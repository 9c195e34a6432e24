#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(pattern = "[0-9]+")] a: u8, #[arg(secret)] b: u8) -> u8 {
    a + b
}

fn main() {}
