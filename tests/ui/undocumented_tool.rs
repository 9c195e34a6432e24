#![allow(unused)]

use toolgen_runtime::tool;

#[tool]
fn f() {}

fn main() {}
