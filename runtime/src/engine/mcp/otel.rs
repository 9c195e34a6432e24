//! What OpenTelemetry learns about calls of tools of servers, and what servers learn about the trace.

use opentelemetry::{Context, KeyValue};
use serde_json::{Map, Value};

use super::link::Request;
use crate::call::context::ToolContext;
use crate::call::otel::passed_on;
use crate::spec::plan::{McpServer, McpTransport};

/// Adds the trace to a request, in `_meta` as SEP-414 says. The context is that of the task: a call is made where its
/// span is current.
pub(super) fn pass_trace_on(request: &mut Request, also: &[String]) {
    let members = passed_on(&Context::current(), also);
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

/// Adds to the span of a call what the conventions for MCP say about a request: the existing span stands for it.
pub(super) fn describe(ctx: &ToolContext, server: &McpServer, revision: Option<String>) {
    ctx.add_attributes(|| {
        let mut attributes = vec![KeyValue::new("mcp.method.name", "tools/call")];
        attributes.extend(revision.map(|revision| KeyValue::new("mcp.protocol.version", revision)));
        match &server.transport {
            McpTransport::Stdio { .. } => attributes.push(KeyValue::new("network.transport", "pipe")),
            McpTransport::Http { url, .. } => {
                attributes.push(KeyValue::new("network.transport", "tcp"));
                attributes.push(KeyValue::new("network.protocol.name", "http"));
                attributes.extend(place(url));
            }
        }
        attributes
    });
}

/// The host and the port of a URL.
#[cfg(feature = "http")]
fn place(url: &str) -> Vec<KeyValue> {
    let Ok(url) = reqwest::Url::parse(url) else { return Vec::new() };
    let host = url.host_str().map(|host| KeyValue::new("server.address", host.to_owned()));
    let port = url.port_or_known_default().map(|port| KeyValue::new("server.port", i64::from(port)));
    host.into_iter().chain(port).collect()
}

#[cfg(not(feature = "http"))]
fn place(_: &str) -> Vec<KeyValue> {
    Vec::new()
}
