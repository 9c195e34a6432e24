//! OpenTelemetry span of a client's request.

use std::sync::Arc;
use std::time::Instant;

use axum::http::request::Parts;
use opentelemetry::trace::{Link, SpanBuilder, SpanKind, Status, TraceContextExt};
use opentelemetry::{Context, KeyValue};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::{RequestContext, RoleServer};
use toolgen_kernel::call::Turn;
use toolgen_kernel::layers::otel::{Otel, Signals, continued, short};

use super::SharedState;

/// Error codes that the client is responsible for: they leave the status of the span unset.
const CLIENT_ERRORS: [i32; 5] = [-32700, -32600, -32601, -32602, -32002];

/// A `tools/call` request. Dropping it without a response records a cancellation by the client.
pub(super) struct RequestSpan {
    context: Context,
    /// The active span, if the toolbox creates spans.
    active: Option<ActiveSpan>,
}

struct ActiveSpan {
    signals: Arc<Signals>,
    /// Whether the context has a span of the request. Otherwise only metrics are recorded.
    has_span: bool,
    started_at: Instant,
    metric_attributes: Vec<KeyValue>,
    is_ended: bool,
}

impl RequestSpan {
    /// Starts the span of a request. It continues the trace in the request's `_meta`, over any transport.
    pub(super) fn begin(
        state: &SharedState,
        request: &CallToolRequestParams,
        request_context: &RequestContext<RoleServer>,
    ) -> RequestSpan {
        let ambient = Context::current();
        let parent = continued(&ambient, &request_context.meta);
        let toolbox = state.tools.toolbox();
        let Some(otel) = toolbox.layer::<Otel>() else {
            return RequestSpan { context: parent, active: None };
        };
        let transport = if request_context.extensions.get::<Parts>().is_some() { "tcp" } else { "pipe" };
        let is_known = toolbox.specs().any(|spec| spec.name.as_str() == request.name);
        let mut metric_attributes = vec![
            KeyValue::new("mcp.method.name", "tools/call"),
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("network.transport", transport),
        ];
        if is_known {
            metric_attributes.push(KeyValue::new("gen_ai.tool.name", request.name.to_string()));
        }
        let mut attributes = metric_attributes.clone();
        attributes.push(KeyValue::new("jsonrpc.request.id", short(&request_context.id.to_string())));
        if let Some(version) = request_context.protocol_version() {
            attributes.push(KeyValue::new("mcp.protocol.version", version.to_string()));
        }
        // Unknown tool names are unbounded, so they are not part of span names.
        let name = if is_known { format!("tools/call {}", request.name) } else { "tools/call".to_owned() };
        let (outer, inner) = (ambient.span().span_context().clone(), parent.span().span_context().clone());
        let link = (outer.is_valid() && outer != inner).then(|| Link::with_context(outer));
        let signals = Arc::clone(otel.signals());
        let span_context = signals.start_span(&parent, || {
            SpanBuilder::from_name(name)
                .with_kind(SpanKind::Server)
                .with_attributes(attributes)
                .with_links(link.into_iter().collect())
        });
        let has_span = span_context.is_some();
        let context = span_context.unwrap_or(parent);
        let active =
            ActiveSpan { signals, has_span, started_at: Instant::now(), metric_attributes, is_ended: false };
        RequestSpan { context, active: Some(active) }
    }

    /// Returns the context of the call within the span.
    pub(super) fn add_to(&self, turn: Turn) -> Turn {
        turn.with_otel_context(self.context.clone())
    }

    /// Ends the span with the response.
    pub(super) fn end(mut self, response: &Result<CallToolResponse, ErrorData>) {
        let has_span = self.active.as_ref().is_some_and(|active| active.has_span);
        let code = match response {
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
                Some("tool_error".to_owned())
            }
            Ok(_) => None,
            Err(error) => {
                let code = error.code.0;
                if has_span {
                    let status = KeyValue::new("rpc.response.status_code", code.to_string());
                    self.context.span().set_attribute(status);
                }
                (!CLIENT_ERRORS.contains(&code)).then(|| code.to_string())
            }
        };
        self.end_span(code);
    }

    fn end_span(&mut self, code: Option<String>) {
        let Some(active) = &mut self.active else { return };
        active.is_ended = true;
        let kind = code.map(|code| KeyValue::new("error.type", code));
        if active.has_span {
            let span = self.context.span();
            if let Some(kind) = &kind {
                span.set_status(Status::error(""));
                span.set_attribute(kind.clone());
            }
            span.end();
        }
        active.metric_attributes.extend(kind);
        let seconds = active.started_at.elapsed().as_secs_f64();
        active.signals.instruments().mcp_server.record(seconds, &active.metric_attributes);
    }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        if self.active.as_ref().is_some_and(|active| !active.is_ended) {
            self.end_span(Some("CANCELLED".to_owned()));
        }
    }
}
