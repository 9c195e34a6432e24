#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(default = "x")] a: f32) -> f32 {
    a
}

fn main() {}
