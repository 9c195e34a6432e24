//! Prints a summary of skipped tests at the end of `cargo test --workspace`.
//!
//! Cargo runs doc tests after all test programs, and those of this crate last. The code here is compiled only for them.

#[cfg(doctest)]
toolgen_test_macros::left_out!();
