//! The tests across the crates, see `tests/README.md`.

pub use toolgen_test_support::{golden, needs, pages};

#[cfg(doctest)]
#[doc = include_str!("../../tool-macros/README.md")]
struct Macros;
