//! A tool that is an HTTP request, as callers see it.

use std::sync::Arc;

use serde_json::Value;

use super::engine::HttpEngine;
use crate::base::frozen::Frozen;
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::digest::fingerprint;
use crate::call::error::ToolError;
use crate::call::provider_context::FactoryError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::engine::Engine;
use crate::engine::limit::within;
use crate::schema::shape::decode::result_problems;
use crate::spec::ToolSpec;
use crate::spec::plan::Tool;

impl Engine for HttpEngine {
    fn runs(&self, tool: &Tool) -> bool {
        tool.call.http().is_some()
    }

    fn make(&self, tool: Frozen<Tool>, _: &[Arc<dyn AgentTool>]) -> Result<Arc<dyn AgentTool>, FactoryError> {
        Ok(self.tool(tool))
    }
}

/// A tool that is an HTTP request.
pub(super) struct HttpTool {
    pub(super) engine: HttpEngine,
    pub(super) tool: Frozen<Tool>,
    /// The specification, if the engine changes it.
    pub(super) spec: Option<ToolSpec>,
}

impl AgentTool for HttpTool {
    fn spec(&self) -> &ToolSpec {
        self.spec.as_ref().unwrap_or(&self.tool.spec)
    }

    fn search_words(&self) -> &str {
        self.tool.call.http().map_or("", |plan| plan.path.as_str())
    }

    fn action(&self) -> Option<String> {
        let settings = self.engine.settings();
        // The query of a URL may hold a key.
        Some(fingerprint(&format!(
            "{:?} {:?} {:?}",
            self.tool.call, settings.base_url.0, settings.document_url
        )))
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let limit = self.engine.time_limit(self.spec(), ctx.timeout());
            let run = self.engine.run(&self.tool, params, limit, ctx);
            let mut result = within(limit, ctx, run).await??;
            note_deviation(&self.tool.spec, &mut result);
            Ok(result)
        })
    }
}

/// Notes in the details where an answer differs from the document of the service: a model needs only the
/// answer, but those who watch want to know.
fn note_deviation(spec: &ToolSpec, result: &mut ToolResult) {
    let Some(output) = spec.output.as_ref().filter(|_| spec.output_may_differ && !result.is_error()) else {
        return;
    };
    let Ok(value) = result.structured() else { return };
    let problems = result_problems(&value, output.shape(), &spec.defs);
    if let Some(problem) = problems.first() {
        let told = format!("{}: {}", problem.pointer, problem.message);
        result.details["deviates"] = told.into();
    }
}
