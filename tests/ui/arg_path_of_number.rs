#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(path(within = "workdir"))] a: u8) -> u8 {
    a
}

fn main() {}
