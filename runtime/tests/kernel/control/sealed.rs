//! Calls that wait for input are resumed unchanged, for the same caller, once.

use crate::prelude::*;

/// How many times a call ran to its end.
#[derive(Clone, Default)]
struct Ran(Arc<AtomicU32>);

/// Removes a branch, if it is sure.
#[tool(undocumented)]
fn remove(name: String, ctx: &ToolContext, #[inject] ran: Service<Ran>) -> ToolResult {
    use toolgen_runtime::Control;
    let Some(response) = ctx.input() else {
        let schema =
            json!({"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]});
        return ToolResult::empty().with_control(Control::NeedInput(InputRequest::new("Sure?", schema)));
    };
    ran.0.fetch_add(1, Ordering::Relaxed);
    ToolResult::text(format!("{name} {}", response["sure"]))
}

/// Rings a bell outside.
#[tool]
fn ring() -> Effect {
    Effect::new("bell", Value::Null)
}

fn toolbox(ran: &Ran) -> ToolboxBuilder {
    let context = ToolboxContext::new().with_service(Arc::new(ran.clone()));
    Toolbox::builder(&Registry::new(toolset![remove, ring]).unwrap()).context(context)
}

fn turn() -> Turn {
    Turn::new("turn").with_principal(Principal::new("alice").with_scopes(["write"]))
}

fn waits(response: ToolResponse) -> PendingInputCall {
    let Err(ToolError::InputRequired(pending)) = response.outcome else { panic!("{}", response.text()) };
    *pending
}

async fn asked(toolbox: &Toolbox) -> PendingInputCall {
    waits(toolbox.run(ToolCall::new("c1", "remove", json!({"name": "main"})), &turn()).await)
}

async fn resumed(toolbox: &Toolbox, pending: PendingInputCall, turn: &Turn) -> String {
    let response = toolbox.resume_with_input(pending, json!({"sure": true}), turn).await.unwrap();
    response.outcome.map_or_else(|error| error.code().to_owned(), |result| result.to_text())
}

#[tokio::test]
async fn modified_request_is_rejected() {
    let ran = Ran::default();
    let toolbox = toolbox(&ran).build().unwrap();
    let whole = serde_json::to_value(asked(&toolbox).await).unwrap();
    for (key, value) in [
        ("arguments", json!({"name": "other"})),
        ("id", json!("c2")),
        ("approved", json!(["removes"])),
        ("principal", json!("bob")),
        ("inputs", json!([{"sure": true}])),
        ("request", json!({"message": "Sure?", "schema": {}})),
        ("expires_at", json!(9_999_999_999_999_u64)),
    ] {
        let mut changed = whole.clone();
        changed[key] = value;
        let changed = serde_json::from_value::<PendingInputCall>(changed).unwrap();
        assert_eq!(resumed(&toolbox, changed, &turn()).await, "INPUT_REQUEST_INVALID", "{key}");
    }
    let bob = turn().with_principal(Principal::new("bob").with_scopes(["write"]));
    let pending = || serde_json::from_value::<PendingInputCall>(whole.clone()).unwrap();
    assert_eq!(resumed(&toolbox, pending(), &bob).await, "INPUT_REQUEST_INVALID");
    assert_eq!(ran.0.load(Ordering::Relaxed), 0);
    // An invalid answer does not use up the request.
    let error = toolbox.resume_with_input(pending(), json!({"sure": 1}), &turn()).await.unwrap_err();
    assert_eq!(error.code(), "INVALID_PARAMS");
    assert_eq!(resumed(&toolbox, pending(), &turn()).await, "main true");
    assert_eq!(resumed(&toolbox, pending(), &turn()).await, "INPUT_REQUEST_USED");
    assert_eq!(ran.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn input_request_expires() {
    let toolbox = toolbox(&Ran::default()).approval_expiry(Duration::ZERO).build().unwrap();
    let pending = asked(&toolbox).await;
    assert_eq!(resumed(&toolbox, pending, &turn()).await, "INPUT_REQUEST_EXPIRED");
}

#[tokio::test]
async fn approval_covers_the_inputs_that_follow() {
    struct Prefix;
    impl Middleware for Prefix {
        fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
            Box::pin(async move {
                if request.approved() {
                    return MiddlewareDecision::Allow;
                }
                let name = request.arguments["name"].as_str().unwrap_or_default();
                MiddlewareDecision::Modify(json!({ "name": format!("team/{name}") }))
            })
        }
    }
    struct Asks;
    impl Middleware for Asks {
        fn before<'a>(&'a self, _: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
            Box::pin(async { MiddlewareDecision::NeedApproval("removes".to_owned()) })
        }
    }
    let ran = Ran::default();
    let built = toolbox(&ran).middleware(Prefix).middleware(Asks).build().unwrap();
    let response = built.run(ToolCall::new("c1", "remove", json!({"name": "main"})), &turn()).await;
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it ran") };
    let pending = waits(built.resume(*request.clone(), &turn()).await);
    assert_eq!((&pending.arguments, pending.approved.len()), (&json!({"name": "team/main"}), 1));
    assert_eq!(resumed(&built, pending, &turn()).await, "team/main true");
    assert_eq!(built.resume(*request, &turn()).await.outcome.unwrap_err().code(), "APPROVAL_USED");
    assert_eq!(ran.0.load(Ordering::Relaxed), 1);

    // Without an approval the arguments are those of the model, and are modified as in the first run.
    let built = toolbox(&ran).middleware(Prefix).build().unwrap();
    let pending = asked(&built).await;
    assert_eq!(pending.arguments, json!({"name": "main"}));
    assert_eq!(resumed(&built, pending, &turn()).await, "team/main true");
}

#[tokio::test(start_paused = true)]
async fn handler_timeout_is_optional() {
    struct Hangs;
    impl InputHandler for Hangs {
        fn ask<'a>(
            &'a self,
            _: InputQuestion<'a>,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
            Box::pin(std::future::pending())
        }
    }
    let built = toolbox(&Ran::default())
        .input_handler(Hangs)
        .effect("bell", |_: Effect, _: ToolContext| std::future::pending())
        .approval_timeout(Duration::from_secs(60))
        .build()
        .unwrap();
    let pending = asked(&built).await;
    assert_eq!(pending.request.message, "Sure?");
    let response = built.run(ToolCall::new("c2", "ring", json!({})), &turn()).await;
    assert_eq!(response.text(), "the effect 'bell' did not complete in time");
}
