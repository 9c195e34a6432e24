#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool]
fn f(a: u8, /** The second. */ b: u8, c: u8) {}

fn main() {}
