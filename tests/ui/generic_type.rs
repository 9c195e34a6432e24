#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f<T: ToString>(a: T) -> String {
    a.to_string()
}

fn main() {}
