//! Middleware of a program, and approvals.

use super::{Journal, call, toolbox};
use crate::prelude::*;

/// Decides with a function, and records its requests.
struct By(Journal, fn(&ToolRequest<'_>) -> MiddlewareDecision);

impl Middleware for By {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        self.0.note(request.arguments.to_string());
        Box::pin(async move { self.1(request) })
    }
}

#[tokio::test]
async fn later_middleware_sees_modified_arguments() {
    let journal = Journal::default();
    let toolbox = toolbox()
        .middleware(By(journal.clone(), |_| MiddlewareDecision::Modify(json!({"a": 10, "b": 20}))))
        .middleware(By(journal.clone(), |_| MiddlewareDecision::Allow))
        .build()
        .unwrap();
    assert_eq!(call(&toolbox, "add", json!({"a": 1, "b": 2})).await.text(), "30");
    assert_eq!(journal.lines(), [r#"{"a":1,"b":2}"#, r#"{"a":10,"b":20}"#]);
}

#[tokio::test]
async fn first_denial_ends_the_call() {
    let journal = Journal::default();
    let denied = toolbox()
        .middleware(By(journal.clone(), |_| MiddlewareDecision::Deny("not today".to_owned())))
        .middleware(By(journal.clone(), |_| MiddlewareDecision::Allow))
        .build()
        .unwrap();
    let response = call(&denied, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(
        (response.text().as_str(), response.outcome.unwrap_err().code()),
        ("not today", "PERMISSION_DENIED")
    );
    assert_eq!(journal.lines().len(), 1);
    // Invalid arguments never reach the middleware.
    assert!(call(&denied, "add", json!({"a": 1})).await.is_error());
    assert_eq!(journal.lines().len(), 1);

    let modified =
        toolbox().middleware(By(journal, |_| MiddlewareDecision::Modify(json!({"a": "x"})))).build().unwrap();
    let response = call(&modified, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(response.outcome.unwrap_err().code(), "INVALID_PARAMS");
}

#[tokio::test]
async fn panicking_middleware_denies_the_call() {
    let toolbox = toolbox().middleware(By(Journal::default(), |_| panic!("secret"))).build().unwrap();
    let response = call(&toolbox, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(response.outcome, Err(ToolError::denied("tool middleware panicked")));
}

struct Says(Journal, Approval);

impl Approver for Says {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, _ctx: &'a ToolContext) -> BoxFuture<'a, Approval> {
        let (id, name, arguments, reasons) =
            (&request.id, &request.name, &request.arguments, &request.reasons);
        let asked = json!({"id": &**id, "name": &**name, "arguments": arguments, "reasons": reasons});
        self.0.note(asked.to_string());
        Box::pin(ready(self.1.clone()))
    }
}

fn wary(reason: &'static str) -> fn(&ToolRequest<'_>) -> MiddlewareDecision {
    match reason {
        "first" => |_| MiddlewareDecision::NeedApproval("first".to_owned()),
        _ => |_| MiddlewareDecision::NeedApproval("second".to_owned()),
    }
}

#[tokio::test]
async fn approver_gets_all_reasons() {
    for (approval, text) in [
        (Approval::Approved, "3"),
        (Approval::Rejected("no".to_owned()), "no"),
        (Approval::Later, "The call was not executed: it needs an approval. first second"),
    ] {
        let journal = Journal::default();
        let toolbox = toolbox()
            .middleware(By(Journal::default(), wary("first")))
            .middleware(By(Journal::default(), wary("second")))
            .approver(Says(journal.clone(), approval))
            .build()
            .unwrap();
        assert_eq!(call(&toolbox, "add", json!({"a": 1, "b": 2})).await.text(), text);
        assert_eq!(
            journal.lines(),
            [r#"{"id":"c1","name":"add","arguments":{"a":1,"b":2},"reasons":["first","second"]}"#]
        );
    }
}

#[tokio::test]
async fn call_can_be_approved_later() {
    let toolbox = toolbox().middleware(By(Journal::default(), wary("first"))).build().unwrap();
    let turn = Turn::new("turn");
    let Err(ToolError::ApprovalRequired(request)) =
        call(&toolbox, "add", json!({"a": 1, "b": 2})).await.outcome
    else {
        panic!("it ran");
    };
    let kept = serde_json::to_string(&request).unwrap();
    let request: ApprovalRequest = serde_json::from_str(&kept).unwrap();
    assert_eq!(toolbox.resume(request, &turn).await.text(), "3");
}

#[tokio::test]
async fn waiting_for_an_approval_ends_with_the_turn() {
    struct Never;
    impl Approver for Never {
        fn approve<'a>(
            &'a self,
            _request: &'a ApprovalRequest,
            _ctx: &'a ToolContext,
        ) -> BoxFuture<'a, Approval> {
            Box::pin(std::future::pending())
        }
    }
    let toolbox =
        toolbox().middleware(By(Journal::default(), wary("first"))).approver(Never).build().unwrap();
    let turn = Turn::new("turn");
    let token = turn.cancel().clone();
    let asked = toolbox.run(ToolCall::new("c1", "add", json!({"a": 1, "b": 2})), &turn);
    let (response, ()) = tokio::join!(asked, async { token.cancel() });
    assert_eq!(response.outcome, Err(ToolError::Cancelled));
}
