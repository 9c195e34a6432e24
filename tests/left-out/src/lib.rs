//! The end of `cargo test --workspace`: which tests did not run, why, and what runs them.
//!
//! Cargo runs the examples of documentation after all test programs, those of this crate last. What stands here is compiled for
//! them alone.

#[cfg(doctest)]
toolgen_test_macros::left_out!();
