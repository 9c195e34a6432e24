#![allow(unused)]

use toolgen_runtime::{ToolInput, tool};

#[derive(ToolInput)]
struct Filter {
    bounds: (u8, u8),
}

/// Does it.
#[tool(undocumented, dialects(openai, openai_strict))]
fn search(filters: Vec<Filter>) {
    let _ = filters;
}

fn main() {}
