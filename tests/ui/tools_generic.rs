#![allow(unused)]

use toolgen_runtime::tools;

struct S<T>(T);

#[tools]
impl<T: Send + Sync + 'static> S<T> {
    /// Does it.
    #[tool]
    fn f(&self) {}
}

fn main() {}
