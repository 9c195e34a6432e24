#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[serde(default)] a: u8, #[other] b: u8) -> u8 {
    a + b
}

fn main() {}
