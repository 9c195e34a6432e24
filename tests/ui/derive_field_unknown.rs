#![allow(unused)]

use toolgen_runtime::ToolInput;

struct Point;

#[derive(ToolInput)]
struct S {
    at: Point,
    #[arg(range = 1..=3)]
    text: String,
}

fn main() {}
