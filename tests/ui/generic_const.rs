#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f<const N: usize>(a: [u8; N]) -> usize {
    a.len() + N
}

fn main() {}
