#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool]
fn _hidden() {}

fn main() {}
