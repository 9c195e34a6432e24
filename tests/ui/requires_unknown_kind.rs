#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(requires(sesion("cart")))]
fn f() {}

fn main() {}
