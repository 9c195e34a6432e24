#![allow(unused)]

use toolgen_runtime::tool;

struct Broken;

/// Does it.
#[tool]
fn f() -> Result<u8, Broken> {
    Err(Broken)
}

fn main() {}
