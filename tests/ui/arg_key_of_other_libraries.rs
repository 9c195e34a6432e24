#![allow(unused)]

use toolgen_runtime::{ToolInput, tool};

/// Does it.
#[tool(undocumented)]
fn numbers(
    #[arg(min = 1, max = 3)] a: u8,
    #[arg(minimum = 1)] b: u8,
    #[arg(gt = 0, lt = 10)] c: i8,
    #[arg(ge = -1.5, le = 2.5)] d: f64,
    #[arg(exclusiveMaximum = 5)] e: u8,
    #[arg(range(min = 1, max = 3))] f: u8,
    #[arg(multiple_of = 5)] g: u8,
) {
}

/// Does it.
#[tool(undocumented)]
fn texts(
    #[arg(min_length = 1, max_length = 3)] a: String,
    #[arg(minLength = 1, maxLength = 80)] b: String,
    #[arg(minItems = 1, uniqueItems)] c: Vec<u8>,
    #[arg(length(equal = 3))] d: String,
    #[arg(regex = "^a")] e: String,
    #[arg(choices = ["a", "b"])] f: String,
    #[arg(enum("a", "b"))] g: String,
    #[arg(desc = "What to say.")] h: String,
    #[arg(email)] i: String,
    #[arg(items(min_length = 1, desc = "x"))] j: Vec<String>,
) {
}

/// What it does.
#[derive(ToolInput)]
struct S {
    #[arg(default_value = 5, name = "limit", optional)]
    a: u8,
    #[arg(sensitive, help)]
    b: String,
    #[arg(regex(path = RE))]
    c: String,
}

fn main() {}
