//! Programs that tools start, and the engines whose tools start them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod engines;
mod executor;
mod prelude;
