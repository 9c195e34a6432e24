#![allow(unused)]

use toolgen_runtime::tool;

#[tool(nmae = "x", timeout = "soon")]
fn f<T>(#[arg(range = 1)] a: u8, (b, c): (u8, u8), d: &mut T) {
    let _ = (a, b, c, d);
}

fn main() {}
