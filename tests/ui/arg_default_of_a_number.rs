#![allow(unused)]

use toolgen_runtime::{ToolInput, tool};

/// Does it.
#[tool(undocumented)]
fn f(#[arg(default = "ten")] a: i64, #[arg(default = "x")] fine: String) {}

/// What it does.
#[derive(ToolInput)]
struct S {
    #[arg(default = "yes")]
    a: bool,
}

fn main() {}
