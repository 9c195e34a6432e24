#![allow(unused)]

use toolgen_runtime::tools;

struct S;

#[tools]
impl S {
    /// Does it.
    #[tool(name = "g")]
    fn f(&self) {}

    /// Does it.
    #[tool]
    fn g(&self) {}
}

fn main() {}
