#![allow(unused)]

use toolgen_runtime::tool;

#[tool]
struct S;

fn main() {}
