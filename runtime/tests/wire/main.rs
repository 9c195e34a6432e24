//! The formats of the providers: calls that are read, answers and lists of tools that are rendered.
#![cfg(feature = "runtime")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod cases;
mod deferred;
mod dialects;
mod formats;
#[path = "../../../tests/src/golden.rs"]
mod golden;
mod helpers;
mod plan;
mod properties;
mod strict;
mod tools;
mod turns;
