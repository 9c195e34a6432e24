#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f((a, b): (u8, u8), _: u8) -> u8 {
    a + b
}

fn main() {}
