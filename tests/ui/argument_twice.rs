#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(a: u8, #[arg(rename = "a")] b: u8) -> u8 {
    a + b
}

fn main() {}
