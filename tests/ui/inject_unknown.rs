#![allow(unused)]

use toolgen_runtime::tool;

struct Db;

/// Does it.
#[tool]
fn f(#[inject] db: &Db) {
    let _ = db;
}

fn main() {}
