//! What an LLM tool is, as data, and the thin runtime that registers and runs it.

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod dialect;
pub mod docs;
mod frozen;
#[cfg(feature = "http")]
pub mod http;
pub mod plan;
pub mod shape;
pub mod spec;
#[cfg(feature = "typed")]
pub mod typed;

pub use frozen::{Frozen, List, Text};
pub use plan::{Call, RequestPlan, Tool};
pub use shape::{Def, Schema, Shape};
pub use spec::{Effects, ToolName, ToolSpec};
#[cfg(feature = "typed")]
pub use typed::TypedTool;
