#![allow(unused)]

use toolgen_runtime::tool;

struct S;

#[tool]
impl S {}

fn main() {}
