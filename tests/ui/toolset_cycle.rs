#![allow(unused)]

use toolgen_runtime::{tool, toolset};

/// Requires another.
#[tool(requires(tool("second"), tool("elsewhere")))]
fn first() {}

/// Requires the first.
#[tool(requires(tool("third", optional), tool("first")))]
fn second() {}

/// Requires none.
#[tool]
fn third() {}

fn main() {
    let _ = toolset![third, first, second];
}
