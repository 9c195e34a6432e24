//! The `AgentTool` implementation of HTTP tools.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolgen_kernel::base::frozen::{Frozen, Text};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::media_type::{essence, is_json};
use toolgen_kernel::base::time::whole_millis;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::digest::fingerprint;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::{OPERATOR, ToolResult};
use toolgen_kernel::call::structured::{NOT_JSON, Structured};
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::engine::deadline::within;
use toolgen_kernel::schema::shape::decode::{ArgumentProblem, result_problems};
use toolgen_kernel::spec::plan::Tool;
use toolgen_kernel::spec::{Effects, Network, Timeout, ToolSpec};

use super::failure::{explain_if_failed, network_error};
use super::inner::{Inner, plan};
use super::pages::{self, run_paginated};
use super::response::{self, BodyLimits, EMPTY, NO_TEXT};
use super::sender::RequestSender;

/// A tool that is an HTTP request.
pub(super) struct HttpTool {
    engine: Arc<Inner>,
    tool: Frozen<Tool>,
    /// The specification, if the engine overrides parts of it.
    spec: Option<ToolSpec>,
}

impl HttpTool {
    pub(super) fn new(engine: &Arc<Inner>, tool: Frozen<Tool>) -> HttpTool {
        let spec = effective_spec(engine, &tool);
        HttpTool { engine: Arc::clone(engine), tool, spec }
    }

    async fn run(
        &self,
        mut arguments: Value,
        limit: Option<Duration>,
        ctx: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        let HttpTool { engine, tool, .. } = self;
        if let (Some(max), Some(pages)) =
            (pages::take_max_items(tool, &mut arguments)?, &plan(tool)?.pagination)
        {
            return run_paginated(engine, tool, pages, (arguments, max), limit, ctx).await;
        }
        let started = Instant::now();
        let request = engine.prepare(tool, arguments).await?;
        let deadline = limit.map(|limit| started + limit);
        let mut sender = RequestSender::new(engine, tool, ctx, deadline)?;
        let request = &sender.authenticate(request).await?;
        let reply = sender.send(request).await?;
        let failure = explain_if_failed(&engine.settings, tool, request, &reply);
        let limits =
            BodyLimits { stream_deadline: response::stream_deadline(started, limit), ..engine.limits(tool) };
        let result = response::result(request, reply, limits).await;
        let mut result = result.map_err(|error| network_error(request, "READ_ERROR", error))?;
        if let Some(failure) = failure {
            failure.add_to(&mut result.details);
        }
        sender.add_retry_details(&mut result);
        Ok(result)
    }
}

/// Returns the specification with the engine's overrides, so that every caller uses the effective time limit and
/// hosts.
fn effective_spec(engine: &Inner, tool: &Tool) -> Option<ToolSpec> {
    let (settings, spec) = (&engine.settings, &tool.spec);
    let timeout = settings.timeout.filter(|_| spec.timeout == Timeout::Default);
    let host = settings.base_host().filter(|_| spec.effects != Effects::UNDECLARED);
    let schemes = tool
        .call
        .http()
        .into_iter()
        .flat_map(|plan| &plan.security)
        .flat_map(|alternative| &alternative.schemes);
    let tokens = schemes.filter_map(|scheme| settings.oauth_of(&scheme.id)?.host());
    let mut tokens: Vec<Text> = tokens.map(Text::from).collect();
    tokens.dedup();
    let plan = tool.call.http().filter(|_| !settings.files.can_read());
    let input =
        plan.filter(|plan| plan.sends_files()).and_then(|plan| plan.without_paths(spec.input.shape()));
    if timeout.is_none() && host.is_none() && tokens.is_empty() && input.is_none() {
        return None;
    }
    let mut effective = spec.clone();
    if let Some(input) = input {
        effective.input = input.into();
    }
    if let Some(timeout) = timeout {
        effective.timeout = Timeout::Millis(whole_millis(timeout));
    }
    if let Some(host) = host {
        effective.effects.network = Network::Hosts(vec![Text::from(host)].into());
    }
    if let Network::Hosts(hosts) = &effective.effects.network {
        tokens.retain(|host| !hosts.contains(host));
        effective.effects.network = Network::Hosts(hosts.iter().cloned().chain(tokens).collect());
    }
    Some(effective)
}

impl AgentTool for HttpTool {
    fn spec(&self) -> &ToolSpec {
        self.spec.as_ref().unwrap_or(&self.tool.spec)
    }

    fn search_terms(&self) -> &str {
        self.tool.call.http().map_or("", |plan| plan.path.as_str())
    }

    fn action(&self) -> Option<String> {
        let settings = &self.engine.settings;
        // The query of a URL may contain a key.
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
            let run = self.run(params, limit, ctx);
            let mut result = within(limit, ctx, run).await??;
            note_deviation(&self.tool, &mut result);
            Ok(result)
        })
    }
}

/// Adds to the details how a response differs from the document of the service. The model does not need that, but
/// monitoring does. Operators also learn about bodies that are not JSON, such as a login page.
fn note_deviation(tool: &Tool, result: &mut ToolResult) {
    let spec = &tool.spec;
    let Some(output) = spec.output.as_ref().filter(|_| spec.output_may_differ && !result.is_error()) else {
        return;
    };
    let reason = match result.structured() {
        Ok(value) => {
            if let Some(message) =
                result_problems(&value, output.shape(), &spec.defs).first().map(ArgumentProblem::of_result)
            {
                result.details["deviates"] = message.into();
            }
            return;
        }
        Err(error) => error.into_owned(),
    };
    if let Some(deviation) = not_json(tool, &result.details, &reason) {
        let operator_message = format!("{}: the response differs from the document: {deviation}", spec.name);
        result.details["deviates"] = deviation.clone().into();
        result.details[OPERATOR] = operator_message.into();
        result.structured = Structured::Missing(deviation.into());
    }
}

/// Describes the body that the service returned instead of JSON. Returns `None` if that is not a deviation: the
/// status has no body, the document declares the media type, or the engine did not read or keep the whole body.
fn not_json(tool: &Tool, details: &Value, reason: &str) -> Option<String> {
    let plan = tool.call.http()?;
    let text = |name: &str| details.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_complete = details.get("truncated") == Some(&Value::Bool(false)) && details.get("saved").is_none();
    let status = details.get("status").and_then(Value::as_u64)?;
    if !is_complete
        || !(200..300).contains(&status)
        || matches!(status, 202 | 204 | 205)
        || plan.method == *"HEAD"
    {
        return None;
    }
    let media_type = essence(text("content_type"));
    let media_type_text =
        if media_type.is_empty() { "no media type".to_owned() } else { format!("`{media_type}`") };
    if !text("unread").is_empty() {
        return Some(format!("the response has {media_type_text}, and {}", text("unread")));
    }
    let is_declared = |declared: &str| !media_type.is_empty() && essence(declared.trim()) == media_type;
    if reason == EMPTY {
        return Some(format!("the response has {media_type_text}, and the body is empty"));
    }
    if is_json(&media_type) {
        return (reason == NOT_JSON)
            .then(|| format!("the response has {media_type_text}, and the body is not complete JSON"));
    }
    let is_undeclared = matches!(reason, NOT_JSON | NO_TEXT) && !plan.accept.split(',').any(is_declared);
    is_undeclared.then(|| format!("the response has {media_type_text}, which is not JSON"))
}
