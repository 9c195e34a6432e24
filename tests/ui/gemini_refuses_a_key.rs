#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented, dialects(gemini, anthropic))]
fn search(#[arg(rename = "1st")] first: u8) -> u8 {
    first
}

fn main() {}
