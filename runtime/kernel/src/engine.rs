//! The common parts of engines. Each engine runs one kind of call that is data, such as an HTTP request.

#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod deadline;
pub mod dynamic;
pub mod executor;
mod functions;
#[doc(hidden)]
pub mod interceptor;
#[doc(hidden)]
pub mod local;
#[cfg(feature = "typed")]
pub mod typed;

use std::sync::Arc;

pub use functions::FunctionTable;
pub use interceptor::Interceptor;

use crate::base::frozen::Frozen;
use crate::call::tool::AgentTool;
use crate::call::toolbox_context::FactoryError;
use crate::spec::plan::Tool;

/// Runs compiled tools of one kind.
pub trait Engine: Send + Sync {
    /// Whether this engine runs the tool.
    fn runs(&self, tool: &Tool) -> bool;

    /// Makes the tool callable. An agent takes its tools from `others`: the callable tools of the same list, except
    /// agents.
    ///
    /// # Errors
    ///
    /// Returns the service or setting that is missing, and how to add it.
    fn make(
        &self,
        tool: Frozen<Tool>,
        others: &[Arc<dyn AgentTool>],
    ) -> Result<Arc<dyn AgentTool>, FactoryError>;
}
