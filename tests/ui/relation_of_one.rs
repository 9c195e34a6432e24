#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented, at_most_one(id), exactly_one = 3)]
fn f(id: Option<u8>) {}

fn main() {}
