#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
#[serde(rename_all = "camel")]
struct S {
    a: u8,
}

fn main() {}
