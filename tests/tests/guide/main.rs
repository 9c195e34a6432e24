//! Tests of the guide: its examples are compiled from the pages and run here; `check` verifies that none is missing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    unused_imports,
    unused_qualifications,
    reason = "an example shows what it needs"
)]
#![allow(
    clippy::needless_borrow,
    clippy::needless_pass_by_value,
    clippy::redundant_clone,
    reason = "an example is a part"
)]

#[macro_use]
extern crate toolgen_test_macros;

pub mod check;
pub mod conversation;
pub mod cookbook;
pub mod documents;
pub mod failures;
pub mod features;
pub mod http;
pub mod llms;
pub mod manifests;
pub mod mcp;
pub mod policies;
pub mod readme;
pub mod replays;
pub mod stability;
pub mod tools;

pub(crate) type AnyResult<T = ()> = Result<T, Box<dyn std::error::Error>>;
