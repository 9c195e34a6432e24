//! The span of a call.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use tracing::field::Empty;
use tracing::{Span, info, info_span, warn};

use super::Trace;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::codes;
use crate::call::context::ToolContext;
use crate::call::context::report::TARGET;
use crate::call::error::ToolError;
use crate::call::secrets::Secrets;
use crate::call::session::Session;
use crate::layers::layer::Outcome;
use crate::layers::observer::{Called, Observer};
use crate::layers::redact::ToolRedactor;

/// The span of a running call. If it is dropped without an outcome, the call was abandoned.
pub(super) struct TraceSpan {
    span: Span,
    trace: Trace,
    name: Text,
    /// Redacts the result, if content is included.
    redactor: Option<ToolRedactor>,
    is_ended: bool,
}

impl TraceSpan {
    /// Starts the span of a call, if a subscriber is interested in it.
    pub(super) fn begin(trace: &Trace, called: &Called<'_>, ctx: &ToolContext) -> Option<TraceSpan> {
        let (call, span) = (called.call(), span(called, ctx));
        if span.is_disabled() {
            return None;
        }
        let redactor = trace.content.then(|| {
            let redactor = called.redactor();
            span.record(
                "gen_ai.tool.call.arguments",
                redactor.redact_arguments(&call.arguments, ctx).to_string(),
            );
            redactor
        });
        span.in_scope(|| {
            info!(target: TARGET, "Executing {}: {}", trace.noun, call.name);
            for key in ctx.values().shadowed() {
                // The key is chosen by the program; the value is not logged.
                warn!(target: TARGET, "A client's value of {key:?} was ignored: the program set it");
            }
        });
        Some(TraceSpan { span, trace: trace.clone(), name: call.name.clone(), redactor, is_ended: false })
    }

    /// Records the outcome of the call.
    fn end(&self, outcome: &Outcome, secrets: &Secrets) {
        let code = match outcome {
            Ok(result) if !result.is_error() => None,
            Ok(result) => Some(result.details.get("code").and_then(Value::as_str).unwrap_or_default()),
            Err(error) => Some(error.code()),
        };
        let code = code.map(|code| secrets.code(code).unwrap_or("EXECUTION_ERROR"));
        let message = credential_message(outcome)
            .map(|text| secrets.replace(&text).unwrap_or_else(|| text.into_owned()));
        let (noun, name) = (capitalized(&self.trace.noun), &self.name);
        match code {
            None => info!(target: TARGET, "{noun} {name} executed successfully"),
            Some(code) => {
                record_error(&self.span, code);
                match message {
                    Some(text) => warn!(target: TARGET, "{noun} {name} failed: {code}: {text}"),
                    // The message is omitted: it may contain anything.
                    None => warn!(target: TARGET, "{noun} {name} failed: {code}"),
                }
            }
        }
        if let (Some(redactor), Ok(result)) = (&self.redactor, outcome) {
            let result = redactor.result(result, secrets);
            self.span.record("gen_ai.tool.call.result", result.to_string());
        }
    }
}

impl Observer for TraceSpan {
    fn within(&self, step: &mut dyn FnMut()) {
        let _entered = self.span.enter();
        step();
    }

    fn finish(
        mut self: Box<Self>,
        outcome: &Outcome,
        secrets: Option<Arc<Secrets>>,
    ) -> Option<BoxFuture<'static, ()>> {
        self.is_ended = true;
        self.span.in_scope(|| self.end(outcome, &secrets.unwrap_or_default()));
        None
    }
}

impl Drop for TraceSpan {
    fn drop(&mut self) {
        if !self.is_ended {
            record_error(&self.span, ToolError::Cancelled.code());
        }
    }
}

fn span(called: &Called<'_>, ctx: &ToolContext) -> Span {
    let (call, tool) = (called.call(), called.tool());
    let span = info_span!(
        target: TARGET,
        "execute_tool",
        otel.name = Empty,
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name.as_str(),
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.id = call.id.as_str(),
        gen_ai.tool.description = Empty,
        gen_ai.agent.id = ctx.agent_id(),
        gen_ai.conversation.id = ctx.session().map(Session::id),
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        error.r#type = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("execute_tool {}", call.name));
        if let Some(tool) = tool {
            span.record("gen_ai.tool.description", tool.description());
        }
    }
    span
}

/// Returns the operator message of a failure that only operators can fix: a credential that is missing or rejected.
fn credential_message(outcome: &Outcome) -> Option<Cow<'_, str>> {
    match outcome {
        Ok(result) => result.operator_text().map(Cow::Borrowed),
        Err(error) => codes::CREDENTIALS.contains(&error.code()).then(|| error.operator_text()),
    }
}

fn record_error(span: &Span, code: &str) {
    span.record("error.type", code);
    span.record("otel.status_code", "ERROR");
}

fn capitalized(noun: &str) -> String {
    let mut chars = noun.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
