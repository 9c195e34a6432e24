#![allow(unused)]

use toolgen_runtime::tool;

struct S;

impl S {
    /// Does it.
    #[tool]
    fn f(&self) {}
}

fn main() {}
