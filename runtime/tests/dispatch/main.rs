//! Several calls of a turn, through a provider.
#![cfg(all(feature = "audit", feature = "macros"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod exclusive;
mod footprints;
mod hooks;
mod leaks;
mod orders;
mod support;
mod tasks;
mod turns;
