//! Objects whose methods cannot be tools.

#![allow(unused)]

use toolgen_runtime::{tool, tools};

struct SelfOutsideTools;

impl SelfOutsideTools {
    /// Does it.
    #[tool]
    fn f(&self) {}
}

struct Generic<T>(T);

#[tools]
impl<T: Send + Sync + 'static> Generic<T> {
    /// Does it.
    #[tool]
    fn f(&self) {}
}

struct MadeByAMacro;

macro_rules! methods {
    () => {
        fn f(&self) {}
    };
}

#[tools]
impl MadeByAMacro {
    methods!();
}

struct MutableSelf;

#[tools(lst = all)]
impl MutableSelf {
    /// Does it.
    #[tool]
    fn f(&mut self) {}

    /// Does it.
    #[tool]
    fn g(self) {}
}

struct OfATrait;

#[tools]
impl Clone for OfATrait {
    /// Does it.
    #[tool]
    fn clone(&self) -> Self {
        OfATrait
    }
}

#[tools]
fn tools_on_a_function() {}

struct SameName;

#[tools]
impl SameName {
    /// Does it.
    #[tool(name = "g")]
    fn f(&self) {}

    /// Does it.
    #[tool]
    fn g(&self) {}
}

struct WithoutTools;

#[tools]
impl WithoutTools {
    fn f(&self) {}
}

fn main() {}
