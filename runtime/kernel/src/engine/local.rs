//! Tools that are composed of other tools, or that send a request to the agent loop.

mod compose;
mod signal;

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::internal::{CallKind, kind_of_call};

use super::Engine;
use super::arguments::complete;
use crate::base::frozen::Frozen;
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::call::toolbox_context::FactoryError;
use crate::spec::ToolSpec;
use crate::spec::plan::{ExecutionPlan, Tool};

/// Runs compositions, completions and effects, without any external system.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only for the crates of the workspace")]
pub struct LocalEngine;

impl Engine for LocalEngine {
    fn runs(&self, tool: &Tool) -> bool {
        matches!(tool.call, ExecutionPlan::Compose(_) | ExecutionPlan::Complete(_) | ExecutionPlan::Effect(_))
    }

    fn make(&self, tool: Frozen<Tool>, _: &[Arc<dyn AgentTool>]) -> Result<Arc<dyn AgentTool>, FactoryError> {
        Ok(Arc::new(LocalTool(tool)))
    }
}

/// A tool that is a composition, a completion or an effect.
struct LocalTool(Frozen<Tool>);

impl AgentTool for LocalTool {
    fn spec(&self) -> &ToolSpec {
        &self.0.spec
    }

    fn action(&self) -> Option<String> {
        Some(format!("{:?}", self.0.call))
    }

    fn called_tools(&self) -> Vec<&str> {
        self.0.call.tools()
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        let arguments = complete(self.spec(), params);
        Box::pin(async move {
            match kind_of_call(&self.0.call) {
                CallKind::Compose(plan) => compose::run(plan, &arguments, ctx).await,
                CallKind::Complete(plan) => signal::complete(plan, self.spec(), arguments),
                CallKind::Effect(plan) => signal::effect(plan, arguments),
                CallKind::Http(_)
                | CallKind::Command(_)
                | CallKind::Mcp(_)
                | CallKind::Agent(_)
                | CallKind::Function => {
                    Err(ToolError::failed_with("WRONG_ENGINE", "this engine does not run this kind of tool"))
                }
            }
        })
    }
}
