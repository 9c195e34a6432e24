//! All tools of a program without a list of them, behind the feature `inventory`.
//!
//! With it, every function with `#[tool]` that is linked into the program registers itself before `main` runs. A list
//! that stands in the code says what a program offers where a reader looks for it and holds no tool of a dependency,
//! so [`toolset!`](crate::toolset!) is the usual way. Methods are not registered: they need an object.
//!
//! ```standalone_crate
//! use toolgen_runtime::function::inventory;
//! use toolgen_runtime::{Registry, tool};
//!
//! /// Says hello.
//! #[tool]
//! fn hello() -> &'static str {
//!     "hello"
//! }
//!
//! # fn main() -> Result<(), toolgen_runtime::RegistryError> {
//! let registry = Registry::new(inventory::tools())?;
//! assert!(registry.get("hello").is_some());
//! # Ok(())
//! # }
//! ```
//!
//! A library crate whose functions nobody names is not linked by rustc at all; name it once, as in `use my_tools as _;`.

use std::sync::Arc;

use crate::call::tool::AgentTool;
use crate::function::FunctionTool;

#[doc(hidden)]
pub use inventory::submit;

/// A function that registered itself.
#[doc(hidden)]
#[derive(Debug)]
pub struct Registered(pub fn() -> FunctionTool);

inventory::collect!(Registered);

/// The tools that registered themselves, sorted by name; those of one name by nothing, and a
/// [`Registry`](crate::Registry) refuses them.
#[must_use]
pub fn tools() -> Vec<Arc<dyn AgentTool>> {
    let tools = inventory::iter::<Registered>.into_iter();
    let mut tools: Vec<Arc<dyn AgentTool>> =
        tools.map(|Registered(make)| Arc::new(make()) as Arc<dyn AgentTool>).collect();
    tools.sort_by(|a, b| a.name().cmp(b.name()));
    tools
}

/// Registers a function. The macros write it after each.
#[doc(hidden)]
#[macro_export]
macro_rules! __toolgen_register {
    ($tool:ident) => {
        $crate::function::inventory::submit! {
            $crate::function::inventory::Registered(<$tool as $crate::function::ToolFunction>::tool)
        }
    };
}
