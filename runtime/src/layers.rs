//! Layers that every call through a provider passes, each in its own module.

pub mod approval;
#[cfg(feature = "audit")]
pub mod audit;
pub mod breaker;
#[cfg(any(feature = "http", feature = "mcp"))]
pub mod cassette;
pub mod control;
pub mod depends;
pub mod events;
pub mod hooks;
pub mod layer;
pub mod middleware;
pub mod observer;
#[cfg(feature = "otel")]
pub mod otel;
pub mod pages;
#[cfg(any(feature = "audit", feature = "http", feature = "mcp"))]
mod pattern;
pub mod policy;
pub mod rate;
pub mod redact;
pub mod repeat;
#[cfg(feature = "audit")]
pub mod replay;
pub mod trace;
pub mod voice;

#[doc(inline)]
pub use layer::{Invocation, Layer, Next, Outcome, Stage};
#[doc(inline)]
pub use observer::{Called, Observer};
