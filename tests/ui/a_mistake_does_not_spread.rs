#![allow(unused)]

use toolgen_runtime::{tool, toolset};

/// Does it.
#[tool(nmae = "x")]
fn f() {}

fn main() {
    f();
    let _ = f::tool();
    let _ = toolset![f];
}
