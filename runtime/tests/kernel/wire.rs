//! The formats of the providers: calls that are read, answers and lists of tools that are rendered.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod cases;
mod deferred;
mod dialects;
mod formats;
use toolgen_test_support::golden;
mod helpers;
mod plan;
mod properties;
mod strict;
mod tools;
mod turns;
