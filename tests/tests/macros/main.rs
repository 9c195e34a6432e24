//! Tests of the macros on functions, methods and types.

#![allow(clippy::needless_pass_by_value, clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod functions;
pub mod macros;
pub mod macros_derive;
pub mod macros_guards;
pub mod macros_hygiene;
pub mod macros_methods;
pub mod macros_reported;
pub mod macros_schema;
