//! Tests of stores and audit logs: in memory, in files and in databases.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod approvals;
mod audit;
mod postgres;
mod prelude;
mod replay;
mod shared;
