//! Checks of repository rules that no compiler checks.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod checklist;
mod codes;
mod floors;
mod lanes;
mod manifest_schema;
mod prose;
mod surface;
mod tidy;
