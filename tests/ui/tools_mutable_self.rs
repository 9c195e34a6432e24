#![allow(unused)]

use toolgen_runtime::tools;

struct S;

#[tools(lst = all)]
impl S {
    /// Does it.
    #[tool]
    fn f(&mut self) {}

    /// Does it.
    #[tool]
    fn g(self) {}
}

fn main() {}
