#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
///
/// # Examples
///
/// - `{"a": 1,}`
#[tool(undocumented)]
fn f(a: u8) {}

fn main() {}
