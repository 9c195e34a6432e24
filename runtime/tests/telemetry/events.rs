//! Span events of a call before its end.

use std::sync::Mutex;

use toolgen_runtime::engine::http::{HttpEngine, RetryPolicy};
use toolgen_runtime::layers::control::{InputHandler, InputQuestion, InputReply};
use toolgen_runtime::layers::middleware::{Approval, ApprovalRequest, MiddlewareDecision, ToolRequest};
use toolgen_runtime::{BoxFuture, Control, InputRequest, ToolResult};
use toolgen_test_support::http::{Server, ok, reply};

use crate::passed_on::get;
use crate::prelude::*;
use crate::receiver::{Telemetry, events};

/// Orders what the user wants.
#[tool(undocumented)]
fn order(ctx: &ToolContext) -> ToolResult {
    if ctx.inputs().is_empty() {
        let schema = json!({"type": "object", "properties": {"what": {"type": "string"}}});
        return ToolResult::empty().with_control(Control::NeedInput(InputRequest::new("What?", schema)));
    }
    ToolResult::text("ordered")
}

/// Simulates a person.
struct Answers;

impl InputHandler for Answers {
    fn ask<'a>(
        &'a self,
        _: InputQuestion<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
        Box::pin(async { Ok(InputReply::Given(json!({"what": "tea"}))) })
    }
}

async fn told(decided: Approval) -> Vec<(String, Vec<String>)> {
    let telemetry = Telemetry::start();
    let decided = Mutex::new(Some(decided));
    let toolbox = Toolbox::builder(&Registry::new(toolset![order]).unwrap())
        .middleware(|_: &ToolRequest<'_>| MiddlewareDecision::NeedApproval("really?".into()))
        .approver(move |_: &ApprovalRequest, _: &ToolContext| decided.lock().unwrap().take().unwrap())
        .input_handler(Answers)
        .layer(telemetry.otel())
        .build()
        .unwrap();
    toolbox.run(ToolCall::new("c", "order", json!({})), &Turn::new("turn")).await;
    events(&telemetry.span("execute_tool order"))
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_and_questions_are_events() {
    let decision = |word: &str| {
        ("toolgen.approval.decided".to_owned(), vec![format!("toolgen.approval.decision={word}")])
    };
    let input = ("toolgen.input.requested".to_owned(), vec![]);
    assert_eq!(told(Approval::ApprovedBy("ada".into())).await, [decision("approved"), input]);
    let refused = ("toolgen.call.refused".to_owned(), vec!["error.type=PERMISSION_DENIED".to_owned()]);
    assert_eq!(told(Approval::Rejected("no".into())).await, [decision("rejected"), refused]);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_retry_is_an_event() {
    let telemetry = Telemetry::start();
    let service = Server::in_turn([reply(503, "", "ok"), ok("text/plain", "ok")]);
    let retries = RetryPolicy::default().initial_delay(Duration::from_millis(1));
    let engine = HttpEngine::builder().base_url(&service.url).retries(retries).build().unwrap();
    let registry = Registry::new([engine.tool(get(Vec::new()))]).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(telemetry.otel()).build().unwrap();
    let call = ToolCall::new("c", "get", json!({}));
    let response = toolbox.run(call, &Turn::new("turn")).await;
    assert!(response.outcome.is_ok(), "{response:?}");
    let messages = events(&telemetry.span("execute_tool get"));
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0].0, "toolgen.request.repeated");
    assert_eq!(messages[0].1[0], "http.request.resend_count=1");
    assert!(messages[0].1[1].starts_with("toolgen.repeated.after_ms="));
}
