//! Rules that are invalid for the type of their argument.

#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn arg_default_beyond_rules(#[arg(default = 500, range = 0..=5)] a: u32) -> u32 {
    a
}

/// Does it.
#[tool(undocumented)]
fn arg_default_beyond_one_of(#[arg(default = "zz", one_of("a", "b"))] a: String) -> String {
    a
}

/// Does it.
#[tool(undocumented)]
fn arg_items_of_no_list(#[arg(items(len = 3))] a: String) -> String {
    a
}

/// Does it.
#[tool(undocumented)]
fn arg_len_of_number(#[arg(len = 3)] a: u8, #[arg(non_empty)] b: bool) -> u8 {
    a + u8::from(b)
}

/// Does it.
#[tool(undocumented)]
fn arg_pattern_of_number(#[arg(pattern = "[0-9]+")] a: u8, #[arg(secret)] b: u8) -> u8 {
    a + b
}

/// Does it.
#[tool(undocumented)]
fn arg_range_beyond_type(#[arg(range = 1..=300)] a: u8) -> u8 {
    a
}

/// Does it.
#[tool(undocumented)]
fn arg_range_empty(#[arg(range = 5..=1)] a: i32) -> i32 {
    a
}

/// Does it.
#[tool(undocumented)]
fn arg_range_of_text(#[arg(range = 1..=5)] a: String) -> String {
    a
}

fn main() {}
