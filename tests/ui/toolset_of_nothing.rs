#![allow(unused)]

use toolgen_runtime::{tool, toolset};

/// Does it.
#[tool]
fn convert() {}

fn main() {
    let _ = toolset![convrt];
}
