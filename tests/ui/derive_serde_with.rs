#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
struct S {
    #[serde(with = "other")]
    a: u8,
    #[serde(rename_all = "x")]
    b: u8,
}

#[derive(ToolInput)]
#[serde(try_from = "u8")]
struct T(u8);

fn main() {}
