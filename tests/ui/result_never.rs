#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool]
fn f() -> ! {
    loop {}
}

fn main() {}
