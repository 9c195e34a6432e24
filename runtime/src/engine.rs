//! Engines: each one runs a kind of call that is data, such as an HTTP request.

#[cfg(feature = "runtime")]
pub mod dynamic;
#[cfg(feature = "executor")]
pub mod executor;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "typed")]
pub mod typed;
