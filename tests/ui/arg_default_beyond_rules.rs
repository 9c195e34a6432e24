#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(default = 500, range = 0..=5)] a: u32) -> u32 {
    a
}

/// Does it.
#[tool(undocumented)]
fn g(#[arg(default = "zz", one_of("a", "b"))] a: String) -> String {
    a
}

fn main() {}
