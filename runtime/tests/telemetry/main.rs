//! The telemetry of calls, agents and servers: exported with the OpenTelemetry SDK, and decoded by a receiver.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]
#![allow(clippy::needless_pass_by_value, reason = "tools take what a model sends")]

mod agents;
mod calls;
mod events;
mod guide;
mod logged;
mod measured;
mod passed_on;
mod prelude;
mod receiver;
mod resumed;
