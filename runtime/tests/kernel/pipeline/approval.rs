//! An approved call runs with the same arguments, for the same caller, once.

use std::time::SystemTime;

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::layers::middleware::approver;
use toolgen_runtime::store::{Expected, MemoryStore, Row, Store, StoreError};

use super::Journal;
use crate::prelude::*;

/// Writes a file.
#[tool(undocumented)]
fn write(path: String, #[inject] ran: Service<Journal>) -> String {
    ran.note(path.clone());
    format!("wrote {path}")
}

/// Pays somebody.
#[tool(undocumented)]
fn pay(to: String, #[arg(default = 100)] amount: i64, #[inject] ran: Service<Journal>) -> String {
    ran.note(format!("{amount} to {to}"));
    format!("paid {amount} to {to}")
}

type Decide = fn(&ToolRequest<'_>) -> MiddlewareDecision;

fn prefixed(request: &ToolRequest<'_>) -> MiddlewareDecision {
    let path = request.arguments["path"].as_str().unwrap();
    MiddlewareDecision::Modify(json!({ "path": format!("/tenant{path}") }))
}

/// Does not change calls that were already approved.
fn prefixed_once(request: &ToolRequest<'_>) -> MiddlewareDecision {
    if request.approved() { MiddlewareDecision::Allow } else { prefixed(request) }
}

fn asks(_: &ToolRequest<'_>) -> MiddlewareDecision {
    MiddlewareDecision::NeedApproval("writes".to_owned())
}

fn toolbox(ran: &Journal, middleware: &[Decide]) -> ToolboxBuilder {
    let registry = Registry::new(toolset![write, pay]).unwrap();
    let context = ToolboxContext::new().with_service(Arc::new(ran.clone()));
    let builder = Toolbox::builder(&registry).context(context);
    middleware.iter().fold(builder, |builder, decide| builder.middleware(*decide))
}

fn turn() -> Turn {
    Turn::new("turn")
}

fn waits(response: ToolResponse) -> ApprovalRequest {
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("{}", response.text()) };
    *request
}

async fn asked(toolbox: &Toolbox, name: &str, arguments: Value, turn: &Turn) -> ApprovalRequest {
    waits(toolbox.run(ToolCall::new("c1", name, arguments), turn).await)
}

fn code(response: ToolResponse) -> String {
    response.outcome.unwrap_err().code().to_owned()
}

/// Serializes and deserializes a request.
fn stored(request: &ApprovalRequest) -> ApprovalRequest {
    let text = serde_json::to_string(request).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn closures_can_be_middleware_and_approvers() {
    let ran = Journal::default();
    let limit = 50;
    let builder = || {
        toolbox(&ran, &[]).middleware(move |request: &ToolRequest<'_>| {
            match request.arguments["amount"].as_i64() {
                Some(amount) if amount > limit => {
                    MiddlewareDecision::NeedApproval(format!("It costs {amount}."))
                }
                _ => MiddlewareDecision::Allow,
            }
        })
    };
    let at_once = builder().approver(|request: &ApprovalRequest, _: &ToolContext| {
        if request.arguments["amount"] == 60 {
            Approval::Approved
        } else {
            Approval::Rejected("too much".to_owned())
        }
    });
    let waiting = builder().approver(approver(|request, ctx| async move {
        tokio::task::yield_now().await;
        assert_eq!(ctx.tool_name.as_str(), "pay");
        if request.arguments["amount"] == 60 {
            Approval::Approved
        } else {
            Approval::Rejected("too much".to_owned())
        }
    }));
    for toolbox in [at_once.build().unwrap(), waiting.build().unwrap()] {
        for (amount, message) in [(50, "paid 50 to x"), (60, "paid 60 to x"), (70, "too much")] {
            let call = ToolCall::new("c1", "pay", json!({"to": "x", "amount": amount}));
            let output = toolbox.run(call, &turn()).await.text();
            assert!(output.contains(message), "{output}");
        }
    }
    assert_eq!(ran.lines(), ["50 to x", "60 to x", "50 to x", "60 to x"]);
}

#[tokio::test]
async fn arguments_are_modified_once_in_either_order() {
    for order in [[prefixed_once as Decide, asks], [asks, prefixed_once]] {
        let ran = Journal::default();
        let toolbox = toolbox(&ran, &order).build().unwrap();
        let request = asked(&toolbox, "write", json!({"path": "/x"}), &turn()).await;
        assert_eq!(request.arguments, json!({"path": "/tenant/x"}));
        assert_eq!(toolbox.resume(stored(&request), &turn()).await.text(), "wrote /tenant/x");
        assert_eq!(ran.lines(), ["/tenant/x"]);
    }
}

#[tokio::test]
async fn middleware_may_deny_an_approved_call_but_not_change_it() {
    let ran = Journal::default();
    let built = toolbox(&ran, &[prefixed, asks]).build().unwrap();
    let request = asked(&built, "write", json!({"path": "/x"}), &turn()).await;
    let response = built.resume(request, &turn()).await;
    assert!(response.text().contains("would have changed them"), "{}", response.text());
    assert_eq!(code(response), "PERMISSION_DENIED");

    fn wary(request: &ToolRequest<'_>) -> MiddlewareDecision {
        if request.approved() { MiddlewareDecision::Deny("too late".to_owned()) } else { asks(request) }
    }
    fn same(request: &ToolRequest<'_>) -> MiddlewareDecision {
        MiddlewareDecision::Modify(request.arguments.clone())
    }
    let built = toolbox(&ran, &[wary]).build().unwrap();
    let request = asked(&built, "write", json!({"path": "/x"}), &turn()).await;
    assert_eq!(built.resume(request, &turn()).await.text(), "too late");
    assert!(ran.lines().is_empty());

    let built = toolbox(&ran, &[same, asks]).build().unwrap();
    let request = asked(&built, "write", json!({"path": "/x"}), &turn()).await;
    assert_eq!(built.resume(request, &turn()).await.text(), "wrote /x");
}

/// Approves, and records the requests.
struct Approves(Journal);

impl Approver for Approves {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, ctx: &'a ToolContext) -> BoxFuture<'a, Approval> {
        self.0.note(format!("{} {} {}", request.arguments, ctx.tool_call_id, request.reasons.join(" ")));
        Box::pin(ready(Approval::ApprovedBy("Ada".into())))
    }
}

#[tokio::test]
async fn middleware_and_approvers_see_the_applied_defaults() {
    fn large(request: &ToolRequest<'_>) -> MiddlewareDecision {
        match request.arguments["amount"].as_i64() {
            Some(amount) if amount < 50 => MiddlewareDecision::Allow,
            amount => MiddlewareDecision::NeedApproval(format!("pays {amount:?}")),
        }
    }
    let (ran, visible) = (Journal::default(), Journal::default());
    let built = toolbox(&ran, &[large]).approver(Approves(visible.clone())).build().unwrap();
    async fn text(response: impl Future<Output = ToolResponse>) -> String {
        response.await.text()
    }
    let turn = turn();
    let call = |arguments| built.run(ToolCall::new("c1", "pay", arguments), &turn);
    assert_eq!(text(call(json!({"to": "x"}))).await, "paid 100 to x");
    assert_eq!(text(call(json!({"to": "x", "amount": 7}))).await, "paid 7 to x");
    assert_eq!(visible.lines(), [r#"{"to":"x","amount":100} c1 pays Some(100)"#]);
    let later = toolbox(&ran, &[large]).build().unwrap();
    let request = asked(&later, "pay", json!({"to": "y"}), &turn).await;
    assert_eq!(request.arguments, json!({"to": "y", "amount": 100}));
    assert_eq!(later.resume(request, &turn).await.text(), "paid 100 to y");
}

#[tokio::test]
async fn request_runs_once() {
    let ran = Journal::default();
    let toolbox = toolbox(&ran, &[asks]).build().unwrap();
    let request = asked(&toolbox, "write", json!({"path": "/x"}), &turn()).await;
    let (context, other) = (turn(), turn());
    let both =
        tokio::join!(toolbox.resume(request.clone(), &context), toolbox.resume(stored(&request), &other));
    let codes: Vec<String> = [both.0, both.1]
        .into_iter()
        .map(|response| response.outcome.map_or_else(|error| error.code().to_owned(), |_| "ok".to_owned()))
        .collect();
    assert_eq!(codes.iter().filter(|code| *code == "ok").count(), 1, "{codes:?}");
    assert!(codes.contains(&"APPROVAL_USED".to_owned()), "{codes:?}");
    for _ in 0..5 {
        // For any number of attempts: the message of the repeat guard would hide the reason.
        assert_eq!(code(toolbox.resume(request.clone(), &turn()).await), "APPROVAL_USED");
    }
    assert_eq!(ran.lines(), ["/x"]);
    // The same call made again is a separate call.
    let again = asked(&toolbox, "write", json!({"path": "/x"}), &turn()).await;
    assert_eq!(toolbox.resume(again, &turn()).await.text(), "wrote /x");
}

#[tokio::test]
async fn modified_request_runs_nothing() {
    let ran = Journal::default();
    let toolbox = toolbox(&ran, &[asks]).build().unwrap();
    let request = asked(&toolbox, "write", json!({"path": "/x"}), &turn()).await;
    let whole = serde_json::to_value(&request).unwrap();
    for (key, value) in [
        ("id", json!("c2")),
        ("name", json!("pay")),
        ("arguments", json!({"path": "/etc"})),
        ("shown", json!({"path": "/tmp/harmless"})),
        ("reasons", json!([])),
        ("reasons", json!(["writes", "pays"])),
        ("approved", json!(["pays"])),
        ("principal", json!("root")),
        ("session_id", json!("s")),
        ("agent_id", json!("a")),
        ("inputs", json!([{"sure": true}])),
        ("expires_at", json!(9_999_999_999_999_u64)),
        ("seal", json!("")),
        ("seal", json!("00.00")),
    ] {
        let mut changed = whole.clone();
        changed[key] = value;
        let changed: ApprovalRequest = serde_json::from_value(changed).unwrap();
        let response = toolbox.resume(changed, &turn()).await;
        assert_eq!(code(response), "APPROVAL_INVALID", "{key}");
    }
    assert!(ran.lines().is_empty());
    // Neither the order of keys nor the approver is a change.
    let fields: Vec<_> = whole.as_object().unwrap().clone().into_iter().rev().collect();
    let turned = Value::Object(fields.into_iter().collect());
    let turned = serde_json::from_value::<ApprovalRequest>(turned).unwrap().approved_by("Ada");
    assert_eq!(toolbox.resume(turned, &turn()).await.text(), "wrote /x");
}

#[tokio::test]
async fn request_cannot_be_resumed_by_another_principal() {
    let ran = Journal::default();
    let toolbox = toolbox(&ran, &[asks]).build().unwrap();
    let who = |name: &str| Principal::new(name.to_owned()).with_scopes(["write"]);
    let of = |name: &str, session: &str| {
        turn().with_principal(who(name)).with_session(Session::new(session.to_owned()))
    };
    let request = asked(&toolbox, "write", json!({"path": "/x"}), &of("alice", "1")).await;
    assert_eq!(request.caller.principal.as_deref(), Some("alice"));
    for other in [of("bob", "1"), of("alice", "2"), of("alice", "1").with_agent_id("other"), turn()] {
        let response = toolbox.resume(stored(&request), &other).await;
        assert!(response.text().contains("another"), "{}", response.text());
        assert_eq!(code(response), "APPROVAL_INVALID");
    }
    // The rights of the principal are checked again.
    let bare = turn().with_principal(Principal::new("alice")).with_session(Session::new("1"));
    assert_eq!(code(toolbox.resume(stored(&request), &bare).await), "PERMISSION_DENIED");
    assert!(ran.lines().is_empty());
    assert_eq!(toolbox.resume(stored(&request), &of("alice", "1")).await.text(), "wrote /x");
}

#[tokio::test]
async fn request_expires() {
    let ran = Journal::default();
    let built = toolbox(&ran, &[asks]).approval_expiry(Duration::ZERO).build().unwrap();
    let request = asked(&built, "write", json!({"path": "/x"}), &turn()).await;
    assert_eq!(code(built.resume(request, &turn()).await), "APPROVAL_EXPIRED");
    let built = toolbox(&ran, &[asks]).approval_expiry(Duration::MAX).build().unwrap();
    let request = asked(&built, "write", json!({"path": "/x"}), &turn()).await;
    assert!(request.expires_at > SystemTime::now());
    assert_eq!(built.resume(stored(&request), &turn()).await.text(), "wrote /x");
}

#[test]
fn weak_approval_key_is_rejected() {
    let ran = Journal::default();
    for key in ["", "a key of thirty-one random byte"] {
        let reason = toolbox(&ran, &[asks]).approval_key(key).build().unwrap_err().to_string();
        assert!(reason.contains(&format!("has {} bytes and needs at least 32", key.len())), "{reason}");
    }
}

#[tokio::test]
async fn approval_key_lets_requests_outlive_their_toolbox() {
    let (ran, table) = (Journal::default(), Approvals::on(MemoryStore::new()));
    let with_key = |key: &'static str| {
        let key = format!("{key}, of thirty-two bytes or more");
        toolbox(&ran, &[asks]).approval_key(key).approval_store(table.clone()).build().unwrap()
    };
    let request = asked(&with_key("secret"), "write", json!({"path": "/x"}), &turn()).await;
    let without = toolbox(&ran, &[asks]).build().unwrap();
    for other in [with_key("other"), without] {
        assert_eq!(code(other.resume(stored(&request), &turn()).await), "APPROVAL_INVALID");
    }
    assert_eq!(with_key("secret").resume(stored(&request), &turn()).await.text(), "wrote /x");
    assert_eq!(code(with_key("secret").resume(request, &turn()).await), "APPROVAL_USED");
    assert_eq!(ran.lines(), ["/x"]);
}

/// A store that does not respond.
#[derive(Debug)]
struct Broken(&'static str);

impl Broken {
    fn answer<T: Send + 'static>(&self) -> BoxFuture<'_, Result<T, StoreError>> {
        Box::pin(async {
            match self.0 {
                "fails" => Err(StoreError::new("the disk is full")),
                "panics" => panic!("secret"),
                _ => std::future::pending().await,
            }
        })
    }
}

impl Store for Broken {
    fn get<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        self.answer()
    }

    fn scan<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        self.answer()
    }

    fn put<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: &'a [u8],
        _: Duration,
        _: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        self.answer()
    }

    fn delete<'a>(&'a self, _: &'a str, _: &'a str, _: Expected) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.answer()
    }

    fn count<'a>(
        &'a self,
        _: &'a str,
        _: &'a [(&'a str, u32)],
        _: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.answer()
    }
}

#[tokio::test]
async fn failing_approval_store_runs_nothing() {
    let ran = Journal::default();
    for how in ["fails", "panics", "hangs"] {
        let toolbox = toolbox(&ran, &[asks])
            .approval_store(Approvals::on(Broken(how)))
            .callback_timeout(Duration::from_millis(10))
            .build()
            .unwrap();
        let request = asked(&toolbox, "write", json!({"path": "/x"}), &turn()).await;
        let response = toolbox.resume(request, &turn()).await;
        assert!(!response.text().contains("disk"));
        assert_eq!(code(response), "APPROVAL_UNKNOWN", "{how}");
    }
    assert!(ran.lines().is_empty());
}

/// Asks for one thing the first time and another the second.
fn fickle(request: &ToolRequest<'_>) -> MiddlewareDecision {
    MiddlewareDecision::NeedApproval(if request.approved() { "B" } else { "A" }.to_owned())
}

#[tokio::test]
async fn reasons_accumulate_until_all_are_approved() {
    let ran = Journal::default();
    let toolbox = toolbox(&ran, &[fickle]).build().unwrap();
    let first = asked(&toolbox, "write", json!({"path": "/x"}), &turn()).await;
    assert_eq!((first.reasons.clone(), first.approved.len()), (vec!["A".to_owned()], 0));
    let second = waits(toolbox.resume(stored(&first), &turn()).await);
    assert_eq!((second.reasons.join(" "), second.approved.join(" ")), ("B".to_owned(), "A".to_owned()));
    // The second request replaced the first.
    assert_eq!(code(toolbox.resume(first, &turn()).await), "APPROVAL_USED");
    assert_eq!(toolbox.resume(stored(&second), &turn()).await.text(), "wrote /x");
    assert_eq!(ran.lines(), ["/x"]);
}

#[tokio::test]
async fn request_approved_inline_cannot_be_resumed() {
    #[derive(Clone, Default)]
    struct Keeps(Arc<Mutex<Option<ApprovalRequest>>>);
    impl Approver for Keeps {
        fn approve<'a>(
            &'a self,
            request: &'a ApprovalRequest,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Approval> {
            *self.0.lock().unwrap() = Some(request.clone());
            Box::pin(ready(Approval::Approved))
        }
    }
    let (ran, keeps) = (Journal::default(), Keeps::default());
    let toolbox = toolbox(&ran, &[asks]).approver(keeps.clone()).build().unwrap();
    let call = ToolCall::new("c1", "write", json!({"path": "/x"}));
    assert_eq!(toolbox.run(call, &turn()).await.text(), "wrote /x");
    let kept = keeps.0.lock().unwrap().take().unwrap();
    assert_eq!(code(toolbox.resume(kept, &turn()).await), "APPROVAL_USED");
    assert_eq!(ran.lines(), ["/x"]);
}

#[tokio::test]
async fn records_name_the_approver() {
    let (ran, sink) = (Journal::default(), MemorySink::new());
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let built = toolbox(&ran, &[asks]).layer(auditor.clone()).build().unwrap();
    let request = asked(&built, "write", json!({"path": "/x"}), &turn()).await;
    built.resume(request.clone().approved_by("Eve"), &turn()).await;
    built.resume(request.approved_by("Eve"), &turn()).await;
    let built =
        toolbox(&ran, &[asks]).approver(Approves(Journal::default())).layer(auditor.clone()).build().unwrap();
    built.run(ToolCall::new("c1", "write", json!({"path": "/y"})), &turn()).await;
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    let messages: Vec<_> = rows
        .iter()
        .map(|row| (row.status().as_str(), row.intent.approved, row.intent.approved_by.as_deref()))
        .collect();
    assert_eq!(
        messages,
        [
            ("refused", false, None),
            ("ok", true, Some("Eve")),
            ("error", true, Some("Eve")),
            ("ok", true, Some("Ada"))
        ]
    );
}

/// Has another tool write a file.
#[tool(undocumented)]
async fn relay(ctx: &ToolContext, path: &str) -> Result<String, ToolError> {
    let result = ctx.call("write", json!({ "path": path })).await?;
    Ok(format!("relayed: {}", result.to_text()))
}

/// Has another tool do it.
#[tool(undocumented)]
async fn relay_twice(ctx: &ToolContext, path: &str) -> Result<ToolResult, ToolError> {
    ctx.call("relay", json!({ "path": path })).await
}

fn writes_need_approval(request: &ToolRequest<'_>) -> MiddlewareDecision {
    if request.spec.name.as_str() == "write" { asks(request) } else { MiddlewareDecision::Allow }
}

fn relaying(ran: &Journal) -> ToolboxBuilder {
    let registry = Registry::new(toolset![write, relay, relay_twice]).unwrap();
    let context = ToolboxContext::new().with_service(Arc::new(ran.clone()));
    Toolbox::builder(&registry).context(context).middleware(writes_need_approval)
}

#[tokio::test]
async fn nested_call_asks_the_approver() {
    let (ran, asked) = (Journal::default(), Journal::default());
    let toolbox = relaying(&ran).approver(Approves(asked.clone())).build().unwrap();
    for (name, path) in [("relay", "/x"), ("relay_twice", "/y")] {
        let call = ToolCall::new("c1", name, json!({ "path": path }));
        assert_eq!(toolbox.run(call, &turn()).await.text(), format!("relayed: wrote {path}"));
    }
    assert_eq!(ran.lines(), ["/x", "/y"]);
    assert_eq!(asked.lines().len(), 2);
}

#[tokio::test]
async fn waiting_nested_call_is_named_and_nothing_runs() {
    let ran = Journal::default();
    let toolbox = relaying(&ran).build().unwrap();
    for name in ["relay", "relay_twice"] {
        let call = ToolCall::new("c1", name, json!({"path": "/x"}));
        let error = toolbox.run(call, &turn()).await.outcome.unwrap_err();
        // Only the inner call could be resumed, not the call that the model made.
        assert!(matches!(error, ToolError::Failed { .. }), "{error:?}");
        assert_eq!(error.code(), "APPROVAL_REQUIRED");
        assert_eq!(
            error.to_string(),
            "The call was not finished: it calls 'write', which needs an approval first. writes Call 'write' itself, \
             so that it can be approved."
        );
    }
    assert!(ran.lines().is_empty());
    // There is a way to run it.
    let request = asked(&toolbox, "write", json!({"path": "/x"}), &turn()).await;
    assert_eq!(toolbox.resume(request, &turn()).await.text(), "wrote /x");
}

#[tokio::test]
async fn events_name_the_principal_and_the_approver() {
    let (ran, seen) = (Journal::default(), Arc::new(Mutex::new(Vec::new())));
    let events = seen.clone();
    let toolbox = toolbox(&ran, &[asks])
        .approver(Approves(Journal::default()))
        .on_event(move |event| events.lock().unwrap().push(event))
        .build()
        .unwrap();
    let turn = turn().with_principal(Principal::new("eve").with_scopes(["read", "write"]));
    toolbox.run(ToolCall::new("c1", "write", json!({"path": "/x"})), &turn).await;
    let messages: Vec<_> = seen
        .lock()
        .unwrap()
        .iter()
        .map(|event| (event.type_name(), event.principal.clone(), event.approved_by.clone()))
        .collect();
    let eve = Some("eve".into());
    assert_eq!(messages, [("tool_call", eve.clone(), None), ("tool_response", eve, Some("Ada".into()))]);
}

/// Delays calls that were approved.
struct Late;

impl Middleware for Late {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(async {
            if request.approved() {
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
            asks(request)
        })
    }
}

#[tokio::test]
async fn approval_expiring_before_the_tool_starts_runs_nothing() {
    let ran = Journal::default();
    let late =
        toolbox(&ran, &[]).middleware(Late).approval_expiry(Duration::from_millis(200)).build().unwrap();
    let request = asked(&late, "write", json!({"path": "/x"}), &turn()).await;
    assert_eq!(code(late.resume(request, &turn()).await), "APPROVAL_EXPIRED");
    assert!(ran.lines().is_empty());
}
