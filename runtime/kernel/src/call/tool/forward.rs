//! Implementations of the tool trait for pointers to tools.

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::internal::BorrowedValue;

use super::{AgentTool, Execution};
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::toolbox_context::{FactoryError, ToolboxContext};
use crate::spec::{Effects, ToolSpec};

macro_rules! forward {
    ($pointer:ident) => {
        impl<T: AgentTool + ?Sized> AgentTool for $pointer<T> {
            fn spec(&self) -> &ToolSpec {
                (**self).spec()
            }

            fn action(&self) -> Option<String> {
                (**self).action()
            }

            fn execute<'a>(
                &'a self,
                params: Value,
                ctx: &'a ToolContext,
            ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
                (**self).execute(params, ctx)
            }

            fn bind(&self, ctx: &ToolboxContext) -> Option<Result<Arc<dyn AgentTool>, FactoryError>> {
                (**self).bind(ctx)
            }

            fn effects_in_context(&self, ctx: &ToolboxContext) -> Effects {
                (**self).effects_in_context(ctx)
            }

            fn own_tools(&self) -> Vec<&ToolSpec> {
                (**self).own_tools()
            }

            fn called_tools(&self) -> Vec<&str> {
                (**self).called_tools()
            }

            fn search_terms(&self) -> &str {
                (**self).search_terms()
            }

            fn execute_borrowed<'a>(
                &'a self,
                arguments: BorrowedValue<'a>,
                ctx: &'a ToolContext,
            ) -> Execution<'a> {
                (**self).execute_borrowed(arguments, ctx)
            }

            fn name(&self) -> &str {
                (**self).name()
            }

            fn label(&self) -> &str {
                (**self).label()
            }

            fn description(&self) -> &str {
                (**self).description()
            }

            fn parameters_schema(&self) -> Value {
                (**self).parameters_schema()
            }

            fn prompt_documentation(&self) -> String {
                (**self).prompt_documentation()
            }
        }
    };
}

forward!(Arc);
forward!(Box);

/// A tool in a list, such as that of a registry: an `Arc` of an [`AgentTool`], with a concrete type or as a trait
/// object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool in a list",
    note = "functions with `#[tool]` are listed by their names in `toolset![…]`: `Registry::new(toolset![add])`",
    note = "wrap any other `AgentTool` in an `Arc`: `Registry::new([Arc::new(tool)])`"
)]
pub trait IntoTool {
    /// Returns the tool.
    fn into_tool(self) -> Arc<dyn AgentTool>;
}

impl IntoTool for Arc<dyn AgentTool> {
    fn into_tool(self) -> Arc<dyn AgentTool> {
        self
    }
}

impl<T: AgentTool + 'static> IntoTool for Arc<T> {
    fn into_tool(self) -> Arc<dyn AgentTool> {
        self
    }
}
