//! The tools that get the argument of a projection from their registry.

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::internal::BorrowedValue;

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::{AgentTool, Execution};
use crate::call::toolbox_context::{FactoryError, ToolboxContext};
use crate::spec::projection::Projection;
use crate::spec::{Effects, ToolSpec};

/// Returns the tool, with the argument if the projection applies to it and it does not have the argument yet.
pub(super) fn projected(tool: Arc<dyn AgentTool>, projection: Projection) -> Arc<dyn AgentTool> {
    if !tool.spec().projection.is_empty() || !projection.applies_to(tool.spec()) {
        return tool;
    }
    let spec = tool.spec().clone().with_projection();
    if spec.projection.is_empty() { tool } else { Arc::new(ProjectedTool { tool, spec }) }
}

/// A tool with another specification. Calls reach the tool without the argument, as those of every tool with a
/// projection.
struct ProjectedTool {
    tool: Arc<dyn AgentTool>,
    spec: ToolSpec,
}

impl AgentTool for ProjectedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        self.tool.execute(params, ctx)
    }

    fn execute_borrowed<'a>(&'a self, arguments: BorrowedValue<'a>, ctx: &'a ToolContext) -> Execution<'a> {
        self.tool.execute_borrowed(arguments, ctx)
    }

    fn bind(&self, ctx: &ToolboxContext) -> Option<Result<Arc<dyn AgentTool>, FactoryError>> {
        let bound = self.tool.bind(ctx)?;
        Some(
            bound.map(|tool| -> Arc<dyn AgentTool> {
                Arc::new(ProjectedTool { tool, spec: self.spec.clone() })
            }),
        )
    }

    fn effects_in_context(&self, ctx: &ToolboxContext) -> Effects {
        self.tool.effects_in_context(ctx)
    }

    fn action(&self) -> Option<String> {
        self.tool.action()
    }

    fn own_tools(&self) -> Vec<&ToolSpec> {
        self.tool.own_tools()
    }

    fn called_tools(&self) -> Vec<&str> {
        self.tool.called_tools()
    }

    fn search_terms(&self) -> &str {
        self.tool.search_terms()
    }
}
