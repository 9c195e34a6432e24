//! Tools written as Rust functions: arguments, injected parameters, results, and lists of tools.

#[doc(hidden)]
pub mod dialect_check;
#[doc(hidden)]
pub mod exact_check;
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod host_check;
#[cfg(feature = "runtime")]
pub mod inject;
pub mod input;
#[cfg(feature = "inventory")]
pub mod inventory;
#[cfg(feature = "runtime")]
pub mod return_value;
#[cfg(feature = "runtime")]
pub mod testing;
#[cfg(feature = "runtime")]
pub mod tool;
#[cfg(feature = "runtime")]
pub mod toolset;

#[cfg(feature = "runtime")]
pub use tool::{Arguments, Function, FunctionTool, Run, ToolFunction, boxed};
