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

use super::Served;

/// Error codes that the client is responsible for: they leave the status of the span unset.
const OF_THE_CLIENT: [i32; 5] = [-32700, -32600, -32601, -32602, -32002];

/// A `tools/call` request. If it is dropped without a response, the client cancelled it.
pub(super) struct RequestSpan {
    context: Context,
    /// The open span, if the toolbox creates spans.
    open: Option<ActiveSpan>,
}

struct ActiveSpan {
    signals: Arc<Signals>,
    /// Whether the context has a span of the request: otherwise no spans are created.
    spanned: bool,
    since: Instant,
    measured: Vec<KeyValue>,
    ended: bool,
}

impl RequestSpan {
    /// Starts the span of a request. It continues the trace in the request's `_meta`, over any transport.
    pub(super) fn begin(
        served: &Served,
        request: &CallToolRequestParams,
        asked: &RequestContext<RoleServer>,
    ) -> RequestSpan {
        let around = Context::current();
        let parent = continued(&around, &asked.meta);
        let toolbox = served.tools.toolbox();
        let Some(otel) = toolbox.layer::<Otel>() else { return RequestSpan { context: parent, open: None } };
        let transport = if asked.extensions.get::<Parts>().is_some() { "tcp" } else { "pipe" };
        let known = toolbox.specs().any(|spec| spec.name.as_str() == request.name);
        let mut measured = vec![
            KeyValue::new("mcp.method.name", "tools/call"),
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("network.transport", transport),
        ];
        if known {
            measured.push(KeyValue::new("gen_ai.tool.name", request.name.to_string()));
        }
        let mut attributes = measured.clone();
        attributes.push(KeyValue::new("jsonrpc.request.id", short(&asked.id.to_string())));
        if let Some(version) = asked.protocol_version() {
            attributes.push(KeyValue::new("mcp.protocol.version", version.to_string()));
        }
        // Unknown tool names are unbounded, so they are not part of span names.
        let name = if known { format!("tools/call {}", request.name) } else { "tools/call".to_owned() };
        let (outer, inner) = (around.span().span_context().clone(), parent.span().span_context().clone());
        let link = (outer.is_valid() && outer != inner).then(|| Link::with_context(outer));
        let signals = Arc::clone(otel.signals());
        let started = signals.start_span(&parent, || {
            SpanBuilder::from_name(name)
                .with_kind(SpanKind::Server)
                .with_attributes(attributes)
                .with_links(link.into_iter().collect())
        });
        let spanned = started.is_some();
        let context = started.unwrap_or(parent);
        let open = ActiveSpan { signals, spanned, since: Instant::now(), measured, ended: false };
        RequestSpan { context, open: Some(open) }
    }

    /// Returns the context of the call within the span.
    pub(super) fn around(&self, turn: Turn) -> Turn {
        turn.with_otel_context(self.context.clone())
    }

    /// Ends the span with the response.
    pub(super) fn end(mut self, answer: &Result<CallToolResponse, ErrorData>) {
        let spanned = self.open.as_ref().is_some_and(|open| open.spanned);
        let code = match answer {
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
                Some("tool_error".to_owned())
            }
            Ok(_) => None,
            Err(error) => {
                let code = error.code.0;
                if spanned {
                    let status = KeyValue::new("rpc.response.status_code", code.to_string());
                    self.context.span().set_attribute(status);
                }
                (!OF_THE_CLIENT.contains(&code)).then(|| code.to_string())
            }
        };
        self.finish(code);
    }

    fn finish(&mut self, code: Option<String>) {
        let Some(open) = &mut self.open else { return };
        open.ended = true;
        let kind = code.map(|code| KeyValue::new("error.type", code));
        if open.spanned {
            let span = self.context.span();
            if let Some(kind) = &kind {
                span.set_status(Status::error(""));
                span.set_attribute(kind.clone());
            }
            span.end();
        }
        open.measured.extend(kind);
        let seconds = open.since.elapsed().as_secs_f64();
        open.signals.instruments().mcp_server.record(seconds, &open.measured);
    }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        if self.open.as_ref().is_some_and(|open| !open.ended) {
            self.finish(Some("CANCELLED".to_owned()));
        }
    }
}
