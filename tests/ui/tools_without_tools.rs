#![allow(unused)]

use toolgen_runtime::tools;

struct S;

#[tools]
impl S {
    fn f(&self) {}
}

fn main() {}
