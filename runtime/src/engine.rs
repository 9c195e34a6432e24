//! Engines: each one runs a kind of call that is data, such as an HTTP request.

#[cfg(feature = "runtime")]
mod arguments;
#[cfg(feature = "executor")]
pub mod command;
#[cfg(feature = "runtime")]
pub mod dynamic;
#[cfg(feature = "runtime")]
mod engines;
#[cfg(feature = "executor")]
pub mod executor;
#[cfg(feature = "runtime")]
mod functions;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "runtime")]
mod local;
#[cfg(feature = "typed")]
pub mod typed;

#[cfg(feature = "runtime")]
pub use engines::{Engine, EngineProblem, Engines, EnginesError};
#[cfg(feature = "runtime")]
pub use functions::FunctionTable;
