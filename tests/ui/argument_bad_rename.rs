#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(rename = "filter[x]", alias(""))] a: u8) -> u8 {
    a
}

fn main() {}
