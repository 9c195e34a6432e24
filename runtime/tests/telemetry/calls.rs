//! Spans of calls: their attributes, parents, and redactions.

use opentelemetry::Context;
use opentelemetry::trace::{FutureExt, TraceContextExt, Tracer, TracerProvider};
use serde_json::Value;
use tokio::time::{sleep, timeout};
use toolgen_runtime::{DispatchOptions, Session, ToolResult};

use crate::prelude::*;
use crate::receiver::{Telemetry, attribute, attributes, events, failed};

/// Logs in.
#[tool(undocumented, read_only)]
fn login(user: &str, #[arg(secret)] pin: &str) -> Result<String, ToolError> {
    match user {
        "root" => Err(ToolError::denied(format!("no {pin}"))),
        "odd" => Err(ToolError::failed_with("ODD_PIN", pin)),
        _ => Ok(format!("{user} {pin}")),
    }
}

/// Makes two concurrent `login` calls, from its own task and within its own span.
#[tool(undocumented, read_only)]
async fn relay(ctx: &ToolContext) -> Result<String, ToolError> {
    let tracer = ctx.service::<opentelemetry_sdk::trace::SdkTracer>().unwrap();
    let own = Context::current_with_span(tracer.start("own work"));
    let arguments = json!({"user": "me", "pin": "0"});
    let (one, other) = tokio::join!(
        ctx.call("login", arguments.clone()).with_context(own.clone()),
        ctx.call("login", arguments.clone())
    );
    one.and(other)?;
    let elsewhere = ctx.clone();
    let spawned = tokio::spawn(async move { elsewhere.call("login", arguments).await });
    spawned.await.unwrap()?;
    Ok("done".to_owned())
}

/// Fails with the error that its argument names.
#[tool(undocumented, read_only)]
fn says(code: &str) -> Result<ToolResult, ToolError> {
    Ok(ToolResult::text("no").with_details(json!({"success": false, "code": code})))
}

/// Takes a while.
#[tool(undocumented, read_only)]
async fn hang() {
    sleep(Duration::from_secs(60)).await;
}

pub(crate) fn toolbox(otel: Otel) -> Toolbox {
    Toolbox::builder(&Registry::new(toolset![login, relay, says, hang]).unwrap()).layer(otel).build().unwrap()
}

fn call(name: &'static str, arguments: Value) -> ToolCall {
    ToolCall::new("c-1", name, arguments)
}

fn turn() -> Turn {
    Turn::new("turn").with_agent_id("clerk").with_session(Session::new("s-1"))
}

#[tokio::test(flavor = "multi_thread")]
async fn call_span_follows_the_conventions() {
    let telemetry = Telemetry::start();
    toolbox(telemetry.otel()).run(call("login", json!({"user": "me", "pin": "hunter2"})), &turn()).await;
    let span = telemetry.span("execute_tool login");
    assert_eq!(
        attributes(&span.attributes),
        [
            "gen_ai.agent.name=clerk",
            "gen_ai.conversation.id=s-1",
            "gen_ai.operation.name=execute_tool",
            "gen_ai.tool.call.id=c-1",
            "gen_ai.tool.description=Logs in.",
            "gen_ai.tool.name=login",
            "gen_ai.tool.type=function",
        ]
    );
    assert_eq!(span.kind, 1, "internal");
    assert!(!failed(&span) && span.parent_span_id.is_empty() && span.events.is_empty(), "{span:?}");
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
    assert_eq!(telemetry.scopes(), [("toolgen-runtime".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_codes_and_long_attributes_are_bounded() {
    let telemetry = Telemetry::start();
    let toolbox = toolbox(telemetry.otel());
    for code in ["patient-1", "patient-2", "NOT_FOUND"] {
        toolbox.run(call("says", json!({"code": code})), &turn()).await;
    }
    let long = "x".repeat(100_000);
    toolbox.run(ToolCall::new(long.as_str(), long.as_str(), json!({})), &turn()).await;
    let spans = telemetry.spans();
    let kinds: Vec<_> = spans.iter().map(|span| attribute(span, "error.type").unwrap()).collect();
    assert_eq!(kinds, ["EXECUTION_ERROR", "EXECUTION_ERROR", "NOT_FOUND", "TOOL_NOT_FOUND"]);
    for name in ["gen_ai.tool.call.id", "gen_ai.tool.name"] {
        assert!((1..=256).contains(&attribute(&spans[3], name).unwrap().len()), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_call_span_has_the_code_without_the_message() {
    let telemetry = Telemetry::start();
    let toolbox = toolbox(telemetry.otel());
    let calls = [
        ("login", json!({"user": "root", "pin": "hunter2"}), "PERMISSION_DENIED", false),
        ("login", json!({"user": "odd", "pin": "hunter2"}), "ODD_PIN", false),
        ("login", json!({"user": "me"}), "MISSING_PARAMETER", true),
        ("nobody", json!({}), "TOOL_NOT_FOUND", true),
    ];
    for (name, arguments, _, _) in &calls {
        toolbox.run(call(name, arguments.clone()), &turn()).await;
    }
    let spans = telemetry.spans();
    assert_eq!(spans.len(), calls.len());
    for (span, (name, _, code, refused)) in spans.iter().zip(calls) {
        assert_eq!(attribute(span, "error.type").as_deref(), Some(code));
        assert!(failed(span) && span.status.as_ref().unwrap().message.is_empty());
        assert_eq!(attribute(span, "gen_ai.tool.name").as_deref(), Some(name));
        let messages = events(span);
        let wanted = [("toolgen.call.refused".to_owned(), vec![format!("error.type={code}")])];
        assert_eq!(messages, if refused { &wanted[..] } else { &[] }, "{code}");
    }
    assert_eq!(spans[3].name, "execute_tool", "invented tool names are not span names");
    assert!(!format!("{spans:?}").contains("hunter2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoned_call_ends_its_span() {
    let telemetry = Telemetry::start();
    let toolbox = toolbox(telemetry.otel());
    let given_up = timeout(Duration::from_millis(50), toolbox.run(call("hang", json!({})), &turn())).await;
    assert!(given_up.is_err());
    assert_eq!(attribute(&telemetry.span("execute_tool hang"), "error.type").as_deref(), Some("CANCELLED"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_calls_are_children_and_calls_of_a_turn_siblings() {
    let telemetry = Telemetry::start();
    let tracer = std::sync::Arc::new(telemetry.tracers.tracer("the program"));
    let toolbox = toolbox(telemetry.otel());
    let above = Context::new().with_span(tracer.start("request"));
    let turn = turn().with_service(std::sync::Arc::clone(&tracer));
    let calls = [("1", "relay"), ("2", "login")].map(|(id, name)| {
        ToolCall::new(
            id,
            name,
            json!(if name == "relay" { json!({}) } else { json!({"user": "a", "pin": "b"}) }),
        )
    });
    let options = DispatchOptions::new();
    let replies = toolbox.dispatch(calls.to_vec(), &turn, &options);
    let replies = replies.with_context(above.clone()).await;
    assert!(replies.responses.iter().all(|response| response.outcome.is_ok()), "{replies:?}");
    above.span().end();
    let request = telemetry.span("request");
    let relay = telemetry.span("execute_tool relay");
    let own = telemetry.span("own work");
    assert_eq!(relay.parent_span_id, request.span_id);
    assert_eq!(own.parent_span_id, relay.span_id, "other instrumentation is inside the call");
    let below = |id: &str| {
        let spans = telemetry.spans().into_iter();
        let mut found = spans.filter(|span| attribute(span, "gen_ai.tool.call.id").as_deref() == Some(id));
        found.next().unwrap()
    };
    assert_eq!(below("2").parent_span_id, request.span_id);
    assert_eq!(below("1.1").parent_span_id, own.span_id, "a span that the tool opened is the parent");
    assert_eq!(below("1.2").parent_span_id, relay.span_id);
    assert_eq!(below("1.3").parent_span_id, relay.span_id, "also from a task where nothing is current");
    assert!(telemetry.spans().iter().all(|span| span.trace_id == request.trace_id));
}

#[tokio::test(flavor = "multi_thread")]
async fn explicit_context_takes_precedence_over_the_current_one() {
    let telemetry = Telemetry::start();
    let tracer = telemetry.tracers.tracer("the program");
    let given = Context::new().with_span(tracer.start("given"));
    let current = Context::new().with_span(tracer.start("current"));
    let turn = turn().with_otel_context(given.clone());
    let arguments = json!({"user": "me", "pin": "0"});
    let toolbox = toolbox(telemetry.otel());
    toolbox.run(call("login", arguments), &turn).with_context(current.clone()).await;
    given.span().end();
    current.span().end();
    assert_eq!(telemetry.span("execute_tool login").parent_span_id, telemetry.span("given").span_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn content_is_opt_in_and_redacted() {
    let telemetry = Telemetry::start();
    let toolbox = toolbox(telemetry.otel().with_content());
    toolbox.run(call("login", json!({"user": "me", "pin": "hunter2"})), &turn()).await;
    let span = telemetry.span("execute_tool login");
    let arguments = attribute(&span, "gen_ai.tool.call.arguments").unwrap();
    assert_eq!(arguments, "{\"user\":\"me\",\"pin\":\"[REDACTED]\"}");
    assert!(attribute(&span, "gen_ai.tool.call.result").unwrap().contains("me [REDACTED]"), "{span:?}");
    assert!(!format!("{span:?}").contains("hunter2"));
}

#[tokio::test]
async fn calls_run_without_the_layer_or_the_sdk() {
    let registry = Registry::new(toolset![login]).unwrap();
    let arguments = json!({"user": "me", "pin": "0"});
    for toolbox in [
        Toolbox::builder(&registry).build().unwrap(),
        Toolbox::builder(&registry).layer(Otel::new()).build().unwrap(),
    ] {
        assert_eq!(toolbox.run(call("login", arguments.clone()), &turn()).await.text(), "me 0");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn span_of_the_program_is_not_modified_without_a_layer_span() {
    let telemetry = Telemetry::start();
    let tracer = telemetry.tracers.tracer("the program");
    let above = Context::new().with_span(tracer.start("request"));
    // The layer exports to the global providers, but none are set.
    let toolbox = toolbox(Otel::new().with_content());
    for user in ["me", "root"] {
        let call = call("login", json!({"user": user, "pin": "hunter2"}));
        toolbox.run(call, &turn()).with_context(above.clone()).await;
    }
    assert!(above.span().is_recording(), "a call has ended it");
    above.span().end();
    let span = telemetry.span("request");
    assert!(span.attributes.is_empty() && span.events.is_empty() && !failed(&span), "{span:?}");
    assert_eq!(telemetry.names(), ["request"]);
}

/// Returns the log lines of a call, and whether the OpenTelemetry span was current when they were written.
#[derive(Clone, Default)]
struct Lines(std::sync::Arc<std::sync::Mutex<Vec<(String, bool)>>>);

struct Message(String);

impl tracing::field::Visit for Message {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl tracing::Subscriber for Lines {
    fn enabled(&self, of: &tracing::Metadata<'_>) -> bool {
        of.target() == "toolgen_runtime::trace"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        let is_within = Context::current().span().span_context().is_valid();
        self.0.lock().unwrap().push((message.0, is_within));
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn log_records_of_a_call_are_in_its_span() {
    let (telemetry, lines) = (Telemetry::start(), Lines::default());
    let toolbox = toolbox(telemetry.otel());
    let listening = tracing::subscriber::set_default(lines.clone());
    toolbox.run(call("login", json!({"user": "me", "pin": "hunter2"})), &turn()).await;
    drop(listening);
    let seen = lines.0.lock().unwrap().clone();
    let expected = ["Executing tool: login", "Tool login executed successfully"];
    assert_eq!(seen, expected.map(|line| (line.to_owned(), true)));
}
