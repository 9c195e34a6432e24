#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(a: &mut String) {
    a.clear();
}

fn main() {}
