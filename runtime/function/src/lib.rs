//! Tools written as Rust functions: arguments, injected parameters, results, and lists of tools.
//!
//! Programs use `toolgen-runtime`, which re-exports this crate as `function`. The macros generate code that uses these
//! items.
//!
//! Start with [`tool`] for `#[tool]`, [`input`] for argument types and [`return_value`] for results.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
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
pub mod tool;
#[doc(hidden)]
pub mod toolset;

pub use tool::{Arguments, Function, FunctionTool, Run, ToolFunction, boxed};
pub use toolgen_kernel::call::testing;

// Items that the macros name in addition to `__private`.
#[doc(hidden)]
pub use toolgen_kernel::AgentTool;
