//! The span of a call.

use std::sync::Arc;
use std::time::Instant;

use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt};

use super::code::{Codes, OTHER_CODE};
use super::context::OtelContext;
use super::{Otel, Signals, agent_attributes, linked};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::truncate::floor;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::layers::layer::Outcome;
use crate::layers::observer::{Called, Observer};
use crate::layers::redact::{Secrets, ToolRedactor};

/// The name in metrics of a tool that a toolbox does not have: the number of names that models invent is unlimited.
const OTHER: &str = "_OTHER";

/// Maximum length of a value that a model chooses, in a span, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 256;

/// Returns a value that a model chooses, cut to the maximum length in spans.
pub fn short(text: &str) -> String {
    text[..floor(text, MAX_ATTRIBUTE_BYTES)].to_owned()
}

/// The span of a running call. If it is dropped without an outcome, the call was abandoned.
pub(super) struct OtelSpan {
    /// `None` if no spans are created, and the call is only measured.
    call_context: Option<Arc<OtelContext>>,
    signals: Arc<Signals>,
    start: Instant,
    /// The attributes of the metric.
    metric_attributes: Vec<KeyValue>,
    /// The error codes that the tool declares.
    codes: Codes,
    /// Redacts the result, if content is included.
    redactor: Option<ToolRedactor>,
    is_ended: bool,
}

impl OtelSpan {
    /// Starts the span of a call, and sets it in the context.
    pub(super) fn begin(otel: &Otel, called: &Called<'_>, ctx: &mut ToolContext) -> OtelSpan {
        let (call, tool) = (called.call(), called.tool());
        let (agent, conversation) = agent_attributes(ctx);
        let metric_name = if tool.is_some() { call.name.as_str() } else { OTHER };
        let mut metric_attributes = vec![
            KeyValue::new("gen_ai.tool.name", metric_name.to_owned()),
            KeyValue::new("gen_ai.tool.type", "function"),
        ];
        metric_attributes.extend(agent.clone());
        let signals = Arc::clone(&otel.signals);
        let start = Instant::now();
        let context = otel.signals.start_span(&ctx.otel_context(), || {
            let waited = call.brings().waited.as_ref();
            let link = waited.and_then(|waited| linked(waited.call().traceparent.as_deref()?));
            let name = match tool {
                Some(_) => format!("execute_tool {}", call.name),
                None => "execute_tool".to_owned(),
            };
            SpanBuilder::from_name(name)
                .with_kind(SpanKind::Internal)
                .with_start_time(called.started())
                .with_attributes([
                    KeyValue::new("gen_ai.operation.name", "execute_tool"),
                    KeyValue::new("gen_ai.tool.name", short(&call.name)),
                ])
                .with_links(link.into_iter().collect())
        });
        let codes = Codes::of(tool.and_then(|tool| tool.spec().output.as_ref()));
        let Some(context) = context else {
            return OtelSpan {
                call_context: None,
                signals,
                start,
                metric_attributes,
                codes,
                redactor: None,
                is_ended: false,
            };
        };
        let span = context.span();
        let mut result_redactor = None;
        if span.is_recording() {
            span.set_attribute(KeyValue::new("gen_ai.tool.type", "function"));
            span.set_attribute(KeyValue::new("gen_ai.tool.call.id", short(&call.id)));
            if let Some(tool) = tool {
                span.set_attribute(KeyValue::new("gen_ai.tool.description", tool.description().to_owned()));
            }
            span.set_attributes(agent.into_iter().chain(conversation));
            if otel.content {
                let redactor = called.redactor();
                let arguments = redactor.redact_arguments(&call.arguments, ctx).to_string();
                span.set_attribute(KeyValue::new("gen_ai.tool.call.arguments", arguments));
                result_redactor = Some(redactor);
            }
        }
        let call_context = OtelContext::for_call(context);
        ctx.set_span(call_context.clone());
        OtelSpan {
            call_context: Some(call_context),
            signals,
            start,
            metric_attributes,
            codes,
            redactor: result_redactor,
            is_ended: false,
        }
    }

    fn close(&mut self, code: Option<Text>) {
        self.is_ended = true;
        let error_type = code.map(|code| KeyValue::new("error.type", code.as_str().to_owned()));
        if let Some(call_context) = &self.call_context {
            let span = call_context.context().span();
            if let Some(error_type) = &error_type {
                if !call_context.has_run() {
                    span.add_event("toolgen.call.refused", vec![error_type.clone()]);
                }
                // Without a description: the message may contain anything.
                span.set_status(Status::error(""));
                span.set_attribute(error_type.clone());
            }
            span.end();
        }
        self.metric_attributes.extend(error_type);
        let seconds = self.start.elapsed().as_secs_f64();
        self.signals.instruments().execute_tool.record(seconds, &self.metric_attributes);
    }
}

impl Observer for OtelSpan {
    fn within(&self, step: &mut dyn FnMut()) {
        let _current = self.call_context.as_ref().map(|call_context| call_context.context().clone().attach());
        step();
    }

    fn finish(
        mut self: Box<Self>,
        outcome: &Outcome,
        secrets: Option<Arc<Secrets>>,
    ) -> Option<BoxFuture<'static, ()>> {
        let secrets = secrets.unwrap_or_default();
        let code = self.codes.shown_code(outcome).map(|code| secrets.code(code).unwrap_or(OTHER_CODE));
        let waits_for = match outcome {
            Err(ToolError::ApprovalRequired(_)) => Some("approval"),
            Err(ToolError::InputRequired(_)) => Some("input"),
            _ => None,
        };
        if let Some(call_context) = &self.call_context {
            let span = call_context.context().span();
            if let (Some(redactor), Ok(result)) = (&self.redactor, outcome) {
                let result = redactor.result(result, &secrets).to_string();
                span.set_attribute(KeyValue::new("gen_ai.tool.call.result", result));
            }
            if let Some(waits_for) = waits_for {
                span.add_event("toolgen.call.waiting", vec![KeyValue::new("toolgen.waiting.for", waits_for)]);
            }
        }
        let code = code.map(Text::copy_of);
        self.close(if waits_for.is_some() { None } else { code });
        None
    }
}

impl Drop for OtelSpan {
    fn drop(&mut self) {
        if !self.is_ended {
            self.close(Some(Text::copy_of(ToolError::Cancelled.code())));
        }
    }
}
