#![allow(unused)]

use toolgen_runtime::{tool, toolset};

#[tool]
fn f() {}

#[tool]
fn g() {}

fn main() {
    let _ = toolset![f, g];
}
