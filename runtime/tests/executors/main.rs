//! Tests of programs that tools start, and of the engines of such tools.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod engines;
mod executor;
mod prelude;
