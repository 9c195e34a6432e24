#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(#[arg(one_of(a, b()))] a: &str, #[arg(one_of())] b: &str) {
    let _ = (a, b);
}

fn main() {}
