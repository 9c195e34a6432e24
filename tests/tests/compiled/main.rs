//! Compares the modules of the build script with the result of the compiler at test time.

#![allow(
    clippy::expect_used,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

pub mod equivalence;
pub mod formats;
pub mod locks;
pub mod manifest_arguments;
pub mod manifest_calls;
pub mod manifest_engines;
pub mod manifests;
pub mod mcp_locks;
pub mod outputs;
pub mod projections;
pub mod systems;
pub mod tagged;
pub mod types;
