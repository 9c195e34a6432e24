#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
///
/// # Examples
///
/// - `{"b": 1}`
#[tool(undocumented)]
fn f(a: u8) {}

fn main() {}
