#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(network("https://api.example.com/x", "api.example.com:8443"))]
fn f() {}

/// Does it.
#[tool(network = "off")]
fn g() {}

/// Does it.
#[tool(network = true)]
fn h() {}

fn main() {}
