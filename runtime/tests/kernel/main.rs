//! What calls, providers, layers, registries and wire formats do.

mod agent;
mod control;
mod conversation;
mod data;
mod depends;
mod dispatch;
mod guide;
mod matrix;
mod pipeline;
mod prelude;
mod provider;
mod registry;
mod run;
mod wire;
