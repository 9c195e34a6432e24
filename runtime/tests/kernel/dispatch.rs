//! Several calls of a turn, through a provider.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod exclusive;
mod footprints;
mod hooks;
mod leaks;
mod orders;
mod support;
mod tasks;
mod turns;
