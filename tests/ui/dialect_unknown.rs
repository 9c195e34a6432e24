#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(dialects(open_ai, gemini))]
fn f() {}

fn main() {}
