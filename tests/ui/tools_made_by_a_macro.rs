#![allow(unused)]

use toolgen_runtime::tools;

struct S;

macro_rules! methods {
    () => {
        fn f(&self) {}
    };
}

#[tools]
impl S {
    methods!();
}

fn main() {}
