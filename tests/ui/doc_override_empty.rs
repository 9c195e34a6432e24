#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(doc_override = " ")]
fn f() {}

/// Does it.
#[tool(doc_override = 7)]
fn g() {}

fn main() {}
