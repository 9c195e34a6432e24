#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
union U {
    a: u8,
}

fn main() {}
