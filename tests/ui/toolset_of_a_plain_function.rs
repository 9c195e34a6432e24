#![allow(unused)]

use toolgen_runtime::{tool, toolset};

/// Does it.
#[tool]
fn f() {}

fn plain() {}

mod inner {
    pub fn plain() {}
}

fn main() {
    let _ = toolset![f, plain, inner::plain];
}
