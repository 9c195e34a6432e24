//! The span of a call.

use std::borrow::Cow;
use std::pin::Pin;

use serde_json::Value;
use tracing::field::Empty;
use tracing::{Instrument, Span, info, info_span, warn};

use super::{Trace, Traced};
use crate::call::codes;
use crate::call::context::report::TARGET;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::secrets::Secrets;
use crate::call::session::Session;

/// Runs a call in its span.
pub(crate) async fn traced(
    trace: &Trace,
    traced: &Traced<'_>,
    run: Pin<&mut impl Future<Output = Result<ToolResult, ToolError>>>,
) -> Result<ToolResult, ToolError> {
    let Traced { call, ctx, .. } = *traced;
    let span = span(traced);
    if span.is_disabled() {
        return run.await;
    }
    let content = trace.content.then(|| {
        let redactor = (traced.redactor)();
        span.record("gen_ai.tool.call.arguments", redactor.shown(&call.arguments, ctx).to_string());
        redactor
    });
    async {
        let name = call.name.as_str();
        let noun = trace.noun.as_str();
        info!(target: TARGET, "Executing {noun}: {name}");
        for key in ctx.values().shadowed() {
            // The key is one of the program's own; the value is not shown.
            warn!(target: TARGET, "A client's value of {key:?} was ignored: the program set it");
        }
        // If the future is dropped, the call was abandoned.
        let end = End(Some(&span));
        let outcome = run.await;
        let secrets = ctx.secrets().unwrap_or_default();
        end.with(&outcome, trace, name, &secrets);
        if let (Some(shown), Ok(result)) = (&content, &outcome) {
            let result = shown.result(result, &secrets);
            span.record("gen_ai.tool.call.result", result.to_string());
        }
        outcome
    }
    .instrument(span.clone())
    .await
}

fn span(traced: &Traced<'_>) -> Span {
    let Traced { call, ctx, tool, .. } = *traced;
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

/// Records in the span how the call ended.
struct End<'s>(Option<&'s Span>);

impl End<'_> {
    fn with(mut self, outcome: &Result<ToolResult, ToolError>, trace: &Trace, name: &str, secrets: &Secrets) {
        let Some(span) = self.0.take() else { return };
        let code = match outcome {
            Ok(result) if !result.is_error() => None,
            Ok(result) => Some(result.details.get("code").and_then(Value::as_str).unwrap_or_default()),
            Err(why) => Some(why.code()),
        };
        let code = code.map(|code| secrets.code(code).unwrap_or("EXECUTION_ERROR"));
        let about =
            about_credential(outcome).map(|text| secrets.replace(&text).unwrap_or_else(|| text.into_owned()));
        let noun = capital(&trace.noun);
        match code {
            None => info!(target: TARGET, "{noun} {name} executed successfully"),
            Some(code) => {
                failed(span, code);
                match about {
                    Some(text) => warn!(target: TARGET, "{noun} {name} failed: {code}: {text}"),
                    // Not the text, which may contain anything.
                    None => warn!(target: TARGET, "{noun} {name} failed: {code}"),
                }
            }
        }
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        if let Some(span) = self.0 {
            failed(span, ToolError::Cancelled.code());
        }
    }
}

/// Returns what operators read of a failure that they alone can mend: which credential is missing or refused.
fn about_credential(outcome: &Result<ToolResult, ToolError>) -> Option<Cow<'_, str>> {
    match outcome {
        Ok(result) => result.operator_text().map(Cow::Borrowed),
        Err(why) => codes::CREDENTIALS.contains(&why.code()).then(|| why.operator_text()),
    }
}

fn failed(span: &Span, code: &str) {
    span.record("error.type", code);
    span.record("otel.status_code", "ERROR");
}

fn capital(noun: &str) -> String {
    let mut chars = noun.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
