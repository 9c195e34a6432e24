#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool]
unsafe fn f() {}

fn main() {}
