#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented, reads("file:{pth}", "rows"), writes("file:{path"))]
fn f(path: String) {}

fn main() {}
