#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(pattern = "[a-z")] a: &str, #[arg(pattern = "(?=x)")] b: &str) {
    let _ = (a, b);
}

fn main() {}
