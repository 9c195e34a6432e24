#![allow(unused)]

use toolgen_runtime::{tool, toolset};

/// Does it.
#[tool]
fn f() {}

/// Does it.
#[tool(name = "f")]
fn g() {}

fn main() {
    let _ = toolset![f, f];
    let _ = toolset![f, g];
}
