#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(a: impl ToString) -> String {
    a.to_string()
}

fn main() {}
