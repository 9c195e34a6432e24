//! Lists all tools of a program without an explicit list, behind the feature `inventory`.
//!
//! Every `#[tool]` function that is linked into the program registers itself before `main` runs. Prefer `toolset!`: an
//! explicit list shows which tools a program offers, and includes no tools of dependencies. Methods are not
//! registered, because they need an object.
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
//! rustc does not link a library crate that is never named. Name it in your program, as in `use my_tools as _;`.

use std::sync::Arc;

use crate::FunctionTool;
use toolgen_kernel::call::tool::AgentTool;

#[doc(hidden)]
pub use inventory::submit;

/// A function that registered itself, and its module.
#[doc(hidden)]
#[derive(Debug)]
pub struct Registered(pub fn() -> FunctionTool, pub &'static str);

inventory::collect!(Registered);

/// Returns the registered tools, sorted by name. The order of tools with the same name is unspecified; a
/// [`Registry`](toolgen_kernel::Registry) rejects them. The ready-made tools of the feature `builtin`, which read
/// files and run commands, are not included: a program names the tools that it offers.
#[must_use]
pub fn tools() -> Vec<Arc<dyn AgentTool>> {
    let tools = inventory::iter::<Registered>.into_iter();
    let is_builtin = |module: &str| module.split("::").next() == Some("toolgen_builtin");
    let mut tools: Vec<Arc<dyn AgentTool>> = tools
        .filter(|Registered(_, module)| !is_builtin(module))
        .map(|Registered(make, _)| Arc::new(make()) as Arc<dyn AgentTool>)
        .collect();
    tools.sort_by(|a, b| a.name().cmp(b.name()));
    tools
}

/// Registers a function. The macros call this for each function.
#[doc(hidden)]
#[macro_export]
macro_rules! __toolgen_register {
    ($tool:ident) => {
        $crate::inventory::submit! {
            $crate::inventory::Registered(
                <$tool as $crate::ToolFunction>::tool,
                ::core::module_path!(),
            )
        }
    };
}
