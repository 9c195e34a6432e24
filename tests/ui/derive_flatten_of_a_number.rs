#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
struct S {
    #[serde(flatten)]
    a: u8,
}

fn main() {}
