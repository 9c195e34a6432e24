#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
///
/// # Arguments
///
/// - a: The first.
/// - b: There is none.
#[tool]
fn f(a: u8) {}

fn main() {}
