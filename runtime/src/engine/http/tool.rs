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
            within(limit, ctx, run).await?
        })
    }
}
