//! The sealed set of tools, and guarantees for every call, regardless of the tool.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::prelude::*;

type Run = fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolResult, ToolError>>;

/// A hand-written tool: two functions.
struct Hand {
    spec: ToolSpec,
    run: Run,
}

impl AgentTool for Hand {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        (self.run)(params, ctx.clone())
    }
}

fn echo(params: Value, _ctx: ToolContext) -> BoxFuture<'static, Result<ToolResult, ToolError>> {
    Box::pin(async move { Ok(ToolResult::json(params)) })
}

fn hand(name: &str, run: Run) -> Hand {
    let name = ToolName::parse(name.to_owned()).unwrap();
    let input = toolgen_runtime::Shape::of(toolgen_runtime::schema::shape::Kind::Object(
        toolgen_runtime::schema::shape::ObjectRules::ANY,
    ));
    Hand { spec: ToolSpec { name, input: input.into(), ..ToolSpec::EMPTY }, run }
}

fn shared(name: &str) -> Arc<dyn AgentTool> {
    Arc::new(hand(name, echo))
}

fn ctx() -> ToolContext {
    Turn::default().call_context("1", "t")
}

#[test]
fn sealing_reports_all_conflicts() {
    let error = Registry::builder()
        .add_all(["b", "a", "b", "c", "a", "a"].map(shared))
        .replace(hand("z", echo))
        .seal()
        .unwrap_err();
    let message = error.to_string();
    let lines: Vec<&str> = message.lines().collect();
    for (line, start) in lines.iter().zip([
        "Tool [a] is already registered. ",
        "Tool [b] is already registered. ",
        "Tool [z] is not registered.",
    ]) {
        assert!(line.starts_with(start), "{line}");
    }
    assert_eq!(lines.len(), 3);
}

#[test]
fn registry_does_not_depend_on_registration_order() {
    let names = |order: [&str; 3]| {
        let registry = Registry::new(order.map(shared)).unwrap();
        assert_eq!(registry.len(), 3);
        registry.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(["c", "a", "b"]), ["a", "b", "c"]);
    assert_eq!(names(["b", "c", "a"]), ["a", "b", "c"]);
    assert!(Registry::builder().seal().unwrap().is_empty());
}

#[tokio::test]
async fn sealed_registry_is_extended_by_copying() {
    let first = Registry::new([shared("a")]).unwrap();
    let second = first.extend([shared("b")]).unwrap();
    assert_eq!((first.len(), second.len()), (1, 2));
    let message = second.extend([shared("a")]).unwrap_err().to_string();
    let location = format!("{}:{}:", file!(), line!() - 1);
    let start = format!(
        "Tool [a] is already registered. One is in the set already, the other is added at {location}"
    );
    assert!(message.starts_with(&start), "{message}");
    let third = second
        .to_builder()
        .replace(hand("a", |_, _| Box::pin(async { Ok(ToolResult::text("new")) })))
        .seal()
        .unwrap();
    assert_eq!(third.call_without_layers("a", Value::Null, &ctx()).await.unwrap().to_text(), "new");
    assert_eq!(second.call_without_layers("a", Value::Null, &ctx()).await.unwrap().to_text(), "{}");
}

#[tokio::test]
async fn unknown_tool_name_gets_a_suggestion() {
    let registry = Registry::new(["get_pet", "list_pets"].map(shared)).unwrap();
    let error =
        registry.call_without_layers("getPet", json!("not even looked at"), &ctx()).await.unwrap_err();
    assert_eq!(error.to_string(), "Tool not found: getPet");
    assert_eq!(
        error,
        ToolError::NotFound { name: "getPet".to_owned(), suggestion: Some("get_pet".to_owned()) }
    );
    let error = registry.call_without_layers("zzz", Value::Null, &ctx()).await.unwrap_err();
    assert_eq!(error, ToolError::NotFound { name: "zzz".to_owned(), suggestion: None });
}

#[tokio::test]
async fn arguments_are_accepted_as_object_or_string() {
    let registry = Registry::new([shared("echo")]).unwrap();
    for (sent, got) in [
        (Value::Null, "{}"),
        (json!(""), "{}"),
        (json!("null"), "{}"),
        (json!("{\"a\":1}"), "{\"a\":1}"),
        (json!({"a": 1}), "{\"a\":1}"),
    ] {
        let result = registry.call_without_layers("echo", sent.clone(), &ctx()).await.unwrap();
        assert_eq!(result.to_text(), got, "{sent}");
    }
    for (sent, text) in [
        (json!([1]), "Invalid arguments: Expected object parameters, got array"),
        (json!(5), "Invalid arguments: Expected object parameters, got number"),
        (json!("\"x\""), "Invalid arguments: Expected object parameters, got string"),
        (json!("{\"a\": 1"), "Invalid arguments: the arguments are not JSON: EOF"),
    ] {
        let error = registry.call_without_layers("echo", sent, &ctx()).await.unwrap_err();
        assert!(error.to_string().starts_with(text), "{error}");
        assert_eq!(error.code(), "INVALID_INPUT");
    }
}

fn sleep(_: Value, ctx: ToolContext) -> BoxFuture<'static, Result<ToolResult, ToolError>> {
    tokio::spawn(async move {
        ctx.cancel().cancelled().await;
        STOPPED.store(true, Ordering::SeqCst);
    });
    Box::pin(async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(ToolResult::empty())
    })
}

static STOPPED: AtomicBool = AtomicBool::new(false);

#[tokio::test]
async fn timeout_applies_to_every_tool() {
    let mut tool = hand("slow", sleep);
    tool.spec.timeout = Timeout::Millis(50);
    let registry = Registry::builder().add(tool).seal().unwrap();
    let started = Instant::now();
    let error = registry.call_without_layers("slow", Value::Null, &ctx()).await.unwrap_err();
    assert_eq!(error.to_string(), "Tool exceeded timeout of 50ms");
    assert!(started.elapsed() < Duration::from_secs(5));
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(STOPPED.load(Ordering::SeqCst), "the work that the tool started is cancelled");

    // The caller may shorten the timeout, but not extend it.
    for (granted, fires) in [(10, "10ms"), (5000, "50ms")] {
        let ctx = ctx().with_timeout(Duration::from_millis(granted));
        let error = registry.call_without_layers("slow", Value::Null, &ctx).await.unwrap_err();
        assert_eq!(error.to_string(), format!("Tool exceeded timeout of {fires}"));
        assert!(!ctx.is_cancelled(), "the caller's own token is not cancelled");
    }
}

#[tokio::test]
async fn default_timeout_applies_unless_the_tool_has_none() {
    let mut tool = hand("never", sleep);
    tool.spec.timeout = Timeout::Never;
    let registry = Registry::builder()
        .add(tool)
        .add(hand("slow", sleep))
        .default_timeout(Duration::from_millis(20))
        .seal()
        .unwrap();
    let error = registry.call_without_layers("slow", Value::Null, &ctx()).await.unwrap_err();
    assert_eq!(error.to_string(), "Tool exceeded timeout of 20ms");
    let ctx = ctx();
    let call = registry.call_without_layers("never", Value::Null, &ctx);
    assert!(tokio::time::timeout(Duration::from_millis(100), call).await.is_err(), "still running");
}

#[tokio::test]
async fn caller_can_cancel_a_call() {
    let registry = Registry::builder().add(hand("slow", sleep)).seal().unwrap();
    let cancel = CancellationToken::new();
    let ctx = ctx().with_cancel(cancel.child_token());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    });
    assert_eq!(
        registry.call_without_layers("slow", Value::Null, &ctx).await.unwrap_err(),
        ToolError::Cancelled
    );
    // A call that was cancelled before it started does not start.
    assert_eq!(
        registry.call_without_layers("slow", Value::Null, &ctx).await.unwrap_err(),
        ToolError::Cancelled
    );
}

#[tokio::test]
async fn panic_is_contained_and_its_message_hidden() {
    let early: Run = |_, _| panic!("secret one");
    let late: Run = |_, _| {
        Box::pin(async {
            tokio::task::yield_now().await;
            panic!("secret two")
        })
    };
    let registry = Registry::builder().add(hand("early", early)).add(hand("late", late)).seal().unwrap();
    for name in ["early", "late"] {
        let error = registry.call_without_layers(name, Value::Null, &ctx()).await.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.code()), ("tool panicked", "EXECUTION_ERROR"));
    }
}

/// Polls a future to completion without a runtime.
fn without_tokio<T>(run: impl Future<Output = T>) -> T {
    let mut run = std::pin::pin!(run);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(value) = run.as_mut().poll(&mut cx) {
            return value;
        }
    }
}

#[test]
fn operator_text_names_the_panicking_tool_and_location() {
    let naps: Run = |_, _| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(ToolResult::empty())
        })
    };
    let blocks: Run = |_, _| {
        Box::pin(async {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            runtime.unwrap().block_on(async {});
            Ok(ToolResult::empty())
        })
    };
    let plain: Run = |_, _| panic!("none there");
    let registry =
        Registry::builder().add(hand("naps", naps)).add(hand("blocks", blocks)).add(hand("plain", plain));
    let registry = registry.seal().unwrap();
    let call = |name: &'static str| {
        let (registry, ctx) = (registry.clone(), ctx());
        async move { registry.call_without_layers(name, Value::Null, &ctx).await.unwrap_err() }
    };
    let inside = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (error, message) in [
        (without_tokio(call("naps")), "start it with `#[tokio::main]`"),
        (inside.block_on(call("naps")), "build it with `enable_time` or `enable_all`"),
        (inside.block_on(call("blocks")), "make it a plain `fn` with `#[tool(blocking)]`"),
        (without_tokio(call("plain")), file!()),
    ] {
        assert_eq!(error.to_string(), "tool panicked");
        let text = error.operator_text();
        assert!(
            text.starts_with("tool panicked: ") && text.contains(".rs:") && text.contains(message),
            "{text}"
        );
    }
}

#[tokio::test]
async fn tool_can_read_its_call_and_report_progress() {
    let run: Run = |_, ctx| {
        Box::pin(async move {
            ctx.progress("half");
            ctx.update(ToolResult::text("so far"));
            Ok(ToolResult::text(format!("{} {}", ctx.tool_call_id, ctx.tool_name)))
        })
    };
    let registry = Registry::builder().add(hand("t", run)).seal().unwrap();
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let progress = sender.clone();
    let ctx = Turn::new("turn")
        .with_on_progress(move |line| progress.send(line).unwrap())
        .with_on_update(move |result| sender.send(result.to_text()).unwrap())
        .call_context("call-7", "t");
    assert_eq!(registry.call_without_layers("t", Value::Null, &ctx).await.unwrap().to_text(), "call-7 t");
    assert_eq!(receiver.recv().await.unwrap(), "half");
    assert_eq!(receiver.recv().await.unwrap(), "so far");
}

#[tokio::test]
async fn registry_reports_all_invalid_arguments_without_a_call() {
    use toolgen_runtime::Shape;
    use toolgen_runtime::schema::shape::{Extra, Field, Kind, NumberRules, ObjectRules, StringRules};
    let field = |name: &'static str, required, kind| Field {
        name: name.into(),
        required,
        shape: Shape::of(kind),
        ..Field::OPTIONAL
    };
    let fields = vec![
        field("id", true, Kind::Integer(NumberRules::ANY)),
        Field { wire: "filter[x]".into(), ..field("filter_x", false, Kind::String(StringRules::ANY)) },
    ];
    let mut tool = hand("strict", echo);
    let rules = ObjectRules { fields: fields.into(), extra: Extra::Closed, ..ObjectRules::ANY };
    tool.spec.input = Shape::of(Kind::Object(rules)).into();
    let registry = Registry::builder().add(tool).seal().unwrap();

    let error = registry.call_without_layers("strict", Value::Null, &ctx()).await.unwrap_err();
    assert_eq!(error.code(), "MISSING_PARAMETER");
    let error =
        registry.call_without_layers("strict", json!({"filter_x": 1, "idd": 2}), &ctx()).await.unwrap_err();
    assert_eq!(error.code(), "INVALID_PARAMS");
    let ToolError::InvalidArgs { problems, .. } = &error else { panic!("{error:?}") };
    assert_eq!(problems.len(), 3, "{error}");
    assert!(error.to_string().starts_with("Invalid arguments: "), "{error}");
    assert_eq!(error.to_json()["problems"].as_array().unwrap().len(), 3);

    let result =
        registry.call_without_layers("strict", json!({"id": 5.0, "filter_x": "y"}), &ctx()).await.unwrap();
    assert_eq!(result.details, json!({"id": 5, "filter[x]": "y"}));
}
