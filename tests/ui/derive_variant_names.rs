#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
enum E {
    A,
    #[serde(rename = "A")]
    B,
    #[serde(other)]
    C,
}

#[derive(ToolInput)]
enum Never {}

#[derive(ToolInput)]
#[serde(tag = "t")]
enum Tagged {
    Two(u8, u8),
}

fn main() {}
