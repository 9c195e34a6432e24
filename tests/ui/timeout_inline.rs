#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(timeout = "100ms")]
fn f() {}

/// Nothing is promised here.
#[tool(timeout = "none")]
fn g() {}

/// Somebody can stop waiting for it.
#[tool(timeout = "100ms", blocking)]
fn h() {}

fn main() {}
