//! Tools written as Rust functions: arguments, injected parameters, results, and lists of tools.

#[doc(hidden)]
pub mod dialect_check;
#[doc(hidden)]
pub mod exact_check;
pub(crate) mod host_check;
pub mod inject;
pub mod input;
#[cfg(feature = "inventory")]
pub mod inventory;
pub mod return_value;
pub mod testing;
pub mod tool;
pub mod toolset;

pub use tool::{Arguments, Function, FunctionTool, Run, ToolFunction, boxed};
