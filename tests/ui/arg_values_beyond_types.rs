#![allow(unused)]

use toolgen_runtime::{ToolInput, tool};

/// Does it.
#[tool(undocumented)]
fn f(
    #[arg(default = 300)] small: u8,
    #[arg(default = -1)] negative: u16,
    #[arg(range = 1..=300)] wide: u8,
    #[arg(range = 0..300)] open: u8,
    #[arg(range = -5..)] low: &u8,
    #[arg(range = 5..5)] none: u8,
    #[arg(len = 3)] length: u8,
    #[arg(len = 5..=3)] no_length: String,
    #[arg(default = "zz", one_of("a", "b"))] one: String,
    #[arg(example = 9, examples(1, 12), range = 0..=5)] example: u8,
    #[arg(example = "x")] kind: u8,
    #[arg(default = "abc", non_empty, len = ..=2)] long: String,
    #[arg(items(range = 0..=300, example = 256))] list: Vec<u8>,
    #[arg(default = 255, range = 0..256, example = 1)] fine: u8,
) {
}

/// What it does.
#[derive(ToolInput)]
struct S {
    #[arg(default = 300)]
    a: u8,
    #[arg(range = 1.5..=0.5)]
    b: f64,
    #[arg(non_empty)]
    c: Option<Box<Self>>,
}

fn main() {}
