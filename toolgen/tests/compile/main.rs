//! What documents become: tools, types, problems.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it skips"
)]

mod archives;
mod composed;
mod dynamic;
mod files;
mod manifests;
mod openapi;
mod openapi_bounds;
mod openapi_peer;
mod overlays;
mod pages;
mod prose;
mod support;
mod tag_modules;
mod type_names;
