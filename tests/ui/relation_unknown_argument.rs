#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented, exactly_one(id, nmae), requires(x => id))]
fn f(id: Option<u8>, name: Option<u8>) {}

fn main() {}
