//! Calls, toolboxes, layers, registries and wire formats.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod agent;
mod control;
mod conversation;
mod data;
mod depends;
mod dispatch;
mod guide;
mod matrix;
mod model;
mod pipeline;
mod prelude;
mod projection;
mod registry;
mod rules;
mod run;
mod toolbox;
mod wire;
