//! Span attributes of MCP calls, and propagation of the trace context to servers.

use serde_json::{Map, Value};
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::span::Attribute;
use toolgen_kernel::layers::passed_on;
use toolgen_kernel::spec::plan::{McpServer, McpTransport};

use super::connection::Request;

/// Adds the trace context to a request, in `_meta` as SEP-414 specifies. It is the context of the current task: a
/// call runs within its span.
pub(super) fn add_trace_context(request: &mut Request, extra_fields: &[String]) {
    let members = passed_on(None, extra_fields);
    if members.is_empty() {
        return;
    }
    let meta = request.params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(meta) = meta {
        for (name, value) in members {
            meta.entry(name).or_insert(Value::String(value));
        }
    }
}

/// Adds the attributes of the MCP semantic conventions to the span of a call. There is no separate span for the
/// request.
pub(super) fn add_span_attributes(ctx: &ToolContext, server: &McpServer, version: Option<&str>) {
    let Some(span) = ctx.span() else { return };
    let mut attributes = vec![("mcp.method.name", Attribute::Text("tools/call"))];
    attributes.extend(version.map(|version| ("mcp.protocol.version", Attribute::Text(version))));
    let (host, port);
    match &server.transport {
        McpTransport::Stdio { .. } => attributes.push(("network.transport", Attribute::Text("pipe"))),
        McpTransport::Http { url, .. } => {
            attributes.push(("network.transport", Attribute::Text("tcp")));
            attributes.push(("network.protocol.name", Attribute::Text("http")));
            (host, port) = super::http::host_and_port(url);
            attributes.extend(host.as_deref().map(|host| ("server.address", Attribute::Text(host))));
            attributes.extend(port.map(|port| ("server.port", Attribute::Number(port.into()))));
        }
    }
    span.describe(&attributes);
}
