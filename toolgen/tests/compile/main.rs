//! What documents become: tools, types, problems.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod archives;
mod composed;
mod dynamic;
mod files;
mod manifest_plans;
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
