//! Layers that every call through a provider passes, each in its own module.

pub mod approval;
#[cfg(feature = "audit")]
pub mod audit;
pub mod breaker;
pub mod control;
pub mod depends;
pub mod events;
pub mod hooks;
pub mod middleware;
pub mod pages;
pub mod policy;
pub mod rate;
pub mod redact;
#[cfg(feature = "redis")]
pub mod redis;
pub mod repeat;
#[cfg(feature = "sqlite")]
mod sqlite;
pub mod trace;
