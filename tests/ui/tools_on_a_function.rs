#![allow(unused)]

use toolgen_runtime::tools;

#[tools]
fn f() {}

fn main() {}
