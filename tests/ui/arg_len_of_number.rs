#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(len = 3)] a: u8, #[arg(non_empty)] b: bool) -> u8 {
    a + u8::from(b)
}

fn main() {}
