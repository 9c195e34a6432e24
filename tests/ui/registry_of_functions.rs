#![allow(unused)]

use toolgen_runtime::{Registry, tool};

/// Adds two numbers.
#[tool(undocumented)]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

fn plain() {}

fn main() {
    let _ = Registry::new(vec![add]);
    let _ = Registry::new([add::tool()]);
    let _ = Registry::builder().add_all([plain]).seal();
    let _ = Registry::builder().add(add).seal();
}
