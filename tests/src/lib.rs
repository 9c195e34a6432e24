//! What tests of several crates share. The other crates take these files by `#[path]`, so that no crate's tests
//! depend on this one, which depends on all of them.

pub mod golden;
pub mod needs;
pub mod pages;

#[cfg(doctest)]
#[doc = include_str!("../../tool-macros/README.md")]
struct Macros;
