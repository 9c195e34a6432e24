//! Spans and log lines of calls through `tracing`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use toolgen_runtime::layers::trace::Trace;
use toolgen_runtime::{
    ContextValues, Registry, Session, ToolCall, ToolContext, ToolError, ToolResult, Toolbox, ToolboxContext,
    Turn, tool, toolset,
};

/// Logs in.
#[tool(undocumented)]
fn login(user: &str, #[arg(secret)] pin: &str) -> Result<String, ToolError> {
    tracing::info!("inside");
    if user == "root" { Err(ToolError::denied(format!("no {pin}"))) } else { Ok(format!("{user} {pin}")) }
}

/// Fetches something.
#[tool(undocumented)]
fn fetch(#[arg(secret)] pin: &str) -> ToolResult {
    let message = format!(
        "GET https://h.example/ → 401: the credential `token` (the environment variable A_TOKEN) is refused {pin}"
    );
    let details = json!({"success": false, "code": "CREDENTIAL_REFUSED", "operator": message});
    ToolResult::text("401").with_details(details)
}

/// Makes a `login` call.
#[tool(undocumented)]
async fn relay(ctx: &ToolContext, #[arg(secret)] word: &str) -> Result<String, ToolError> {
    ctx.call("login", json!({"user": format!("has {word}"), "pin": "0"})).await?;
    Ok("done".to_owned())
}

/// Looks something up.
#[tool(undocumented)]
fn look_up(#[arg(pattern = r"^(a+)(a+)(a+)\1\2\3b")] key: &str) -> String {
    key.len().to_string()
}

/// Blocks its thread, before or after its first await.
#[tool(undocumented, timeout = "50ms")]
async fn block(waits: bool) -> String {
    if waits {
        tokio::task::yield_now().await;
    }
    std::thread::sleep(Duration::from_millis(300));
    "late".to_owned()
}

/// Takes a while.
#[tool]
async fn hang() -> String {
    tokio::time::sleep(Duration::from_secs(60)).await;
    String::new()
}

/// Records all spans and all events.
#[derive(Clone, Default)]
struct Collector(Arc<Collected>);

#[derive(Default)]
struct Collected {
    spans: Mutex<Vec<BTreeMap<String, String>>>,
    lines: Mutex<Vec<String>>,
    entered: AtomicU64,
}

struct Fields<'f>(&'f mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        ["toolgen_runtime::trace", module_path!()].contains(&metadata.target())
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = BTreeMap::from([("span".to_owned(), span.metadata().name().to_owned())]);
        span.record(&mut Fields(&mut fields));
        let mut spans = self.0.spans.lock().unwrap();
        spans.push(fields);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let index = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Fields(&mut self.0.spans.lock().unwrap()[index]));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        let inside = self.0.entered.load(Ordering::Relaxed);
        self.0.lines.lock().unwrap().push(format!(
            "{inside} {} {}",
            event.metadata().level(),
            fields["message"]
        ));
    }

    fn enter(&self, _: &Id) {
        self.0.entered.fetch_add(1, Ordering::Relaxed);
    }

    fn exit(&self, _: &Id) {
        self.0.entered.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn collect(
    trace: Trace,
    calls: &[(&'static str, Value)],
) -> (Vec<BTreeMap<String, String>>, Vec<String>) {
    let collector = Collector::default();
    let guard = tracing::subscriber::set_default(collector.clone());
    let toolbox =
        Toolbox::builder(&Registry::new(toolset![login, hang, relay, fetch, look_up, block]).unwrap())
            .layer(trace)
            .build()
            .unwrap();
    let turn = Turn::new("turn").with_agent_id("coder-1").with_session(Session::new("s-1"));
    for (name, arguments) in calls {
        let call = toolbox.run(ToolCall::new("c-1", *name, arguments.clone()), &turn);
        let _ = tokio::time::timeout(Duration::from_millis(20), call).await;
    }
    drop(guard);
    let spans = collector.0.spans.lock().unwrap().clone();
    let lines = collector.0.lines.lock().unwrap().clone();
    (spans, lines)
}

#[tokio::test]
async fn call_spans_use_opentelemetry_names() {
    let calls = [
        ("login", json!({"user": "me", "pin": "hunter2"})),
        ("login", json!({"user": "root", "pin": "hunter2"})),
        ("missing", json!({})),
        ("hang", json!({})),
    ];
    let (spans, lines) = collect(Trace::new(), &calls).await;
    let wanted = [
        ("gen_ai.agent.id", "coder-1"),
        ("gen_ai.conversation.id", "s-1"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.call.id", "c-1"),
        ("gen_ai.tool.description", "Logs in."),
        ("gen_ai.tool.name", "login"),
        ("gen_ai.tool.type", "function"),
        ("otel.kind", "internal"),
        ("otel.name", "execute_tool login"),
        ("span", "execute_tool"),
    ];
    let wanted: BTreeMap<_, _> = wanted.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    assert_eq!(spans[0], wanted);
    let errors = spans.iter().map(|span| span.get("error.type").map(String::as_str)).collect::<Vec<_>>();
    assert_eq!(errors, [None, Some("PERMISSION_DENIED"), Some("TOOL_NOT_FOUND"), Some("CANCELLED")]);
    assert_eq!(spans[1]["otel.status_code"], "ERROR");
    // Each line is within its span, including those of the tool.
    assert_eq!(
        lines,
        [
            "1 INFO Executing tool: login",
            "1 INFO inside",
            "1 INFO Tool login executed successfully",
            "1 INFO Executing tool: login",
            "1 INFO inside",
            "1 WARN Tool login failed: PERMISSION_DENIED",
            "1 INFO Executing tool: missing",
            "1 WARN Tool missing failed: TOOL_NOT_FOUND",
            "1 INFO Executing tool: hang",
        ]
    );
    assert!(!format!("{spans:?}{lines:?}").contains("hunter2"));
}

#[tokio::test]
async fn arguments_and_results_are_opt_in_and_redacted() {
    let trace = Trace::new().noun("planning tool").with_content();
    let (spans, lines) = collect(trace, &[("login", json!({"user": "me", "pin": "hunter2"}))]).await;
    assert_eq!(spans[0]["gen_ai.tool.call.arguments"], "{\"user\":\"me\",\"pin\":\"[REDACTED]\"}");
    assert!(spans[0]["gen_ai.tool.call.result"].contains("me [REDACTED]"), "{spans:?}");
    assert!(!format!("{spans:?}{lines:?}").contains("hunter2"));
    assert_eq!(lines[0], "1 INFO Executing planning tool: login");
    assert_eq!(lines[2], "1 INFO Planning tool login executed successfully");
}

#[tokio::test]
async fn nested_call_spans_contain_no_secrets_of_outer_calls() {
    let (spans, lines) =
        collect(Trace::new().with_content(), &[("relay", json!({"word": "s3cr3t-4711"}))]).await;
    assert_eq!(spans.len(), 2);
    assert!(spans[1]["gen_ai.tool.call.arguments"].contains("has [REDACTED]"), "{spans:?}");
    assert!(!format!("{spans:?}{lines:?}").contains("s3cr3t"), "{spans:?}");
}

#[tokio::test(flavor = "current_thread")]
async fn rejected_client_value_is_logged_without_the_value() {
    let collector = Collector::default();
    let guard = tracing::subscriber::set_default(collector.clone());
    let trusted = ContextValues::default().with_trusted("workspace_id", 1);
    let context = ToolboxContext::new().with_values(trusted);
    let registry = Registry::new(toolset![login]).unwrap();
    let toolbox = Toolbox::builder(&registry).context(context).build().unwrap();
    let claims = ContextValues::default().with_client("workspace_id", "s3cret").with_client("own", "s3cret");
    let turn = Turn::new("turn").with_values(claims);
    toolbox.run(ToolCall::new("c-1", "login", json!({ "user": "a", "pin": "b" })), &turn).await;
    drop(guard);
    let lines = collector.0.lines.lock().unwrap().clone();
    let line = "1 WARN A client's value of \"workspace_id\" was ignored: the program set it";
    assert!(lines.iter().any(|it| it == line), "{lines:?}");
    assert!(!lines.iter().any(|it| it.contains("own") || it.contains("s3cret")), "{lines:?}");
}

#[tokio::test]
async fn refused_credential_is_logged_without_secrets() {
    let (spans, lines) = collect(Trace::new(), &[("fetch", json!({"pin": "hunter2"}))]).await;
    assert_eq!(spans[0]["error.type"], "CREDENTIAL_REFUSED");
    let line = lines.last().unwrap();
    let message = "fetch failed: CREDENTIAL_REFUSED: GET https://h.example/ → 401: the credential `token` (the environment \
                variable A_TOKEN) is refused [REDACTED]";
    assert!(line.ends_with(message), "{line}");
}

#[tokio::test]
async fn unchecked_pattern_is_logged_for_operators() {
    let long = "a".repeat(3_000);
    for arguments in [json!({"key": long}), Value::String(json!({"key": long}).to_string())] {
        let (_, lines) = collect(Trace::new(), &[("look_up", arguments)]).await;
        assert_eq!(
            lines[1..],
            [
                r"1 WARN /key of `look_up`: passed without a check against the pattern ^(a+)(a+)(a+)\1\2\3b: it takes too many steps",
                "1 INFO Tool look_up executed successfully",
            ]
        );
    }
    let (_, lines) = collect(Trace::new(), &[("look_up", json!({"key": "aaaaaab"}))]).await;
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[tokio::test]
async fn blocking_tool_past_its_timeout_is_logged_for_operators() {
    for waits in [false, true] {
        let (_, lines) = collect(Trace::new(), &[("block", json!({"waits": waits}))]).await;
        let message = lines.iter().find(|line| line.contains("WARN")).unwrap_or_else(|| panic!("{lines:?}"));
        assert!(message.starts_with("1 WARN `block` took "), "{message}");
        assert!(
            message.contains("though its time limit is 50ms") && message.contains("#[tool(blocking)]"),
            "{message}"
        );
    }
}
