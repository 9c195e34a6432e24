#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
struct S<'a> {
    a: &'a str,
}

fn main() {}
