//! Helpers that tests of several crates share.
//!
//! This crate depends on none of them, so that a change in one crate does not rebuild the tests of another.

#![allow(missing_docs, missing_debug_implementations, reason = "helpers of tests")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cpu_time;
pub mod golden;
pub mod http;
pub mod mutants;
pub mod needs;
pub mod pages;
#[cfg(target_os = "linux")]
pub mod postgres;
pub mod processes;
#[cfg(unix)]
pub mod redis;
pub mod scratch;
pub mod script;

pub use cpu_time::cpu_time;

/// Rows of JSON for table-driven tests: commas separate cells, and a semicolon ends a row. Each row is a tuple.
#[macro_export]
macro_rules! rows {
    ($($($cell:tt),+;)*) => { [$(($(::serde_json::json!($cell)),+)),*] };
}
