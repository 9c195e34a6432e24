//! Spans of calls that wait, and of their resumption.

use opentelemetry_proto::tonic::trace::v1::Span;
use toolgen_runtime::ToolResponse;
use toolgen_runtime::layers::middleware::{MiddlewareDecision, ToolRequest};

use crate::prelude::*;
use crate::receiver::{Telemetry, attribute, events, failed};

/// Deletes a file.
#[tool(undocumented, destructive)]
fn delete(path: &str) -> String {
    format!("{path} is gone")
}

fn toolbox(otel: Option<Otel>) -> Toolbox {
    let ask = |_: &ToolRequest<'_>| MiddlewareDecision::NeedApproval("really?".into());
    let builder = Toolbox::builder(&Registry::new(toolset![delete]).unwrap()).approval_key([7; 32]);
    let builder = builder.middleware(ask);
    match otel {
        Some(otel) => builder.layer(otel),
        None => builder,
    }
    .build()
    .unwrap()
}

fn waiting(response: ToolResponse) -> Box<toolgen_runtime::layers::middleware::ApprovalRequest> {
    match response.outcome {
        Err(ToolError::ApprovalRequired(request)) => request,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resumed_call_has_its_own_span_linked_to_the_waiting_one() {
    let telemetry = Telemetry::start();
    let turn = Turn::new("turn");
    let call = ToolCall::new("c-1", "delete", json!({"path": "a"}));
    let request = waiting(toolbox(Some(telemetry.otel())).run(call, &turn).await);
    // Stored as data, and resumed by another process.
    let stored = serde_json::to_string(&request).unwrap();
    let request = serde_json::from_str(&stored).unwrap();
    let resumed = toolbox(Some(telemetry.otel())).resume(request, &turn).await;
    assert_eq!(resumed.text(), "a is gone");
    let spans: Vec<Span> = telemetry.spans();
    let [waited, resumed] = &spans[..] else { panic!("{spans:?}") };
    let events_of = |span| events(span).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(events_of(waited), ["toolgen.approval.decided", "toolgen.call.waiting"]);
    assert_eq!(events(waited)[1].1, ["toolgen.waiting.for=approval"]);
    assert!(!failed(waited) && attribute(waited, "error.type").is_none(), "to wait is not to fail");
    let [link] = &resumed.links[..] else { panic!("{resumed:?}") };
    assert_eq!((&link.trace_id, &link.span_id), (&waited.trace_id, &waited.span_id));
    assert_ne!(resumed.trace_id, waited.trace_id);
    assert!(!failed(resumed));
}

#[tokio::test]
async fn requests_without_the_layer_are_unchanged() {
    let turn = Turn::new("turn");
    let call = ToolCall::new("c-1", "delete", json!({"path": "a"}));
    let request = waiting(toolbox(None).run(call, &turn).await);
    assert!(request.traceparent.is_none());
    assert!(!serde_json::to_string(&request).unwrap().contains("traceparent"));
    assert_eq!(toolbox(None).resume(*request, &turn).await.text(), "a is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn modified_traceparent_invalidates_the_request() {
    let telemetry = Telemetry::start();
    let turn = Turn::new("turn");
    let toolbox = toolbox(Some(telemetry.otel()));
    let call = ToolCall::new("c-1", "delete", json!({"path": "a"}));
    let mut request = serde_json::to_value(waiting(toolbox.run(call, &turn).await)).unwrap();
    request["traceparent"] = json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let refused = toolbox.resume(serde_json::from_value(request).unwrap(), &turn).await;
    assert_eq!(refused.outcome.unwrap_err().code(), "APPROVAL_INVALID");
}
