#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(pure, network("api.example.com"))]
fn f() {}

/// Does it.
#[tool(files = "read", pure, spawns, destructive, open_world)]
fn g() {}

/// Does it.
#[tool(pure, network = "none", files = "none", destructive = false, spawns = false)]
fn fine() {}

fn main() {}
