//! Calls that keep failing, and services that are down.
use toolgen_runtime::engine::dynamic::DynamicTool;

use crate::prelude::*;

/// A tool that fails as its arguments say, and counts its calls.
fn flaky(service: &'static str) -> (ToolboxBuilder, Arc<AtomicU32>) {
    let open = toolgen_runtime::Shape::of(toolgen_runtime::schema::shape::Kind::Object(
        toolgen_runtime::schema::shape::ObjectRules::ANY,
    ));
    let name = ToolName::new("flaky");
    let spec = ToolSpec { name, service: service.into(), input: open.into(), ..ToolSpec::EMPTY };
    let ran = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&ran);
    let tool = DynamicTool::new(spec, move |params, _| {
        count.fetch_add(1, Ordering::SeqCst);
        ready(params["fails"].as_str().map_or(Ok("good"), |reason| Err(ToolError::failed(reason))))
    });
    let registry = Registry::builder().add(tool).seal().unwrap();
    (Toolbox::builder(&registry), ran)
}

async fn call(toolbox: &Toolbox, arguments: Value, turn: &Turn) -> String {
    toolbox.run(ToolCall::new("c", "flaky", arguments), turn).await.text()
}

#[tokio::test]
async fn identical_call_is_blocked_after_three_failures() {
    let (builder, ran) = flaky("");
    let toolbox = builder.build().unwrap();
    let turn = Turn::new("turn").with_agent_id("a");
    let stopped = "⚠️ Tool circuit breaker: 'flaky' has failed 3 consecutive times with the same error.\n\
                   Execution skipped. Try a different approach or tool.\nLast error: no";
    for expected in ["no", "no", "no", stopped, stopped] {
        assert_eq!(call(&toolbox, json!({"fails": "no", "x": 1}), &turn).await, expected);
    }
    assert_eq!(ran.load(Ordering::SeqCst), 3);
    assert_eq!(call(&toolbox, json!({"fails": "no", "x": 2}), &turn).await, "no");
    // Another session has separate counts.
    let other = Turn::new("turn").with_session(Session::new("s"));
    assert_eq!(call(&toolbox, json!({"x": 1, "fails": "no"}), &other).await, "no");
}

#[tokio::test]
async fn failures_count_per_principal_agent_and_session() {
    let (builder, ran) = flaky("");
    let toolbox = builder.build().unwrap();
    let (session, turn) = (Session::new("s"), || Turn::new("turn"));
    let known = || turn().with_session(session.clone());
    let callers = [
        turn().with_agent_id("a"),
        turn().with_agent_id("b"),
        turn().with_principal(Principal::new("a").with_scopes(["write"])),
        known(),
        known().with_agent_id("a"),
        known().with_principal(Principal::new("a").with_scopes(["write"])),
        turn().with_session(Session::new("t")),
    ];
    for (index, caller) in callers.iter().enumerate() {
        for _ in 0..5 {
            call(&toolbox, json!({"fails": "no"}), caller).await;
        }
        assert_eq!(ran.swap(0, Ordering::SeqCst), 3, "caller {index}");
    }
    // Callers without session, principal and agent share no counts.
    for _ in 0..5 {
        assert_eq!(call(&toolbox, json!({"fails": "no"}), &turn()).await, "no");
    }
    // A session of one turn is too short to count in, if there is another owner.
    let calls = || vec![ToolCall::new("c", "flaky", json!({"fails": "again"}))];
    ran.store(0, Ordering::SeqCst);
    for _ in 0..5 {
        toolbox.dispatch(calls(), &turn().with_agent_id("a"), &DispatchOptions::new()).await;
    }
    assert_eq!(ran.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn equal_arguments_in_any_notation_are_one_call() {
    let (builder, ran) = flaky("");
    let toolbox = builder.build().unwrap();
    let turn = Turn::new("turn").with_agent_id("a");
    let written = [
        json!(r#"{"fails":"no","x":1}"#),
        json!(r#"{ "x": 1, "fails": "no" }"#),
        json!({"x": 1, "fails": "no"}),
        json!(r#"{"fails":"no", "x":1}"#),
    ];
    for arguments in written {
        call(&toolbox, arguments, &turn).await;
    }
    assert_eq!(ran.load(Ordering::SeqCst), 3, "the fourth is refused");
    assert_eq!(call(&toolbox, json!(r#"{"x":1}"#), &turn).await, "good");
}

#[tokio::test]
async fn repeat_limit_can_be_disabled() {
    let (builder, ran) = flaky("");
    let toolbox = builder.max_repeated_failures(None).build().unwrap();
    for _ in 0..5 {
        call(&toolbox, json!({"fails": "no"}), &Turn::new("turn")).await;
    }
    assert_eq!(ran.load(Ordering::SeqCst), 5);
}

#[tokio::test(start_paused = true)]
async fn failing_service_opens_its_circuit() {
    let (builder, ran) = flaky("search");
    let toolbox = builder.build().unwrap();
    let turn = Turn::new("turn");
    for number in 0..5 {
        assert_eq!(call(&toolbox, json!({"fails": "down", "n": number}), &turn).await, "down");
    }
    let text = "Service 'search' is temporarily unavailable. Please try again later.";
    for _ in 0..5 {
        let response = toolbox.run(ToolCall::new("c", "flaky", json!({})), &turn).await;
        assert_eq!(response.text(), text);
        assert_eq!(response.outcome.unwrap_err().code(), "SERVICE_UNAVAILABLE");
    }
    assert_eq!(ran.load(Ordering::SeqCst), 5);
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(call(&toolbox, json!({}), &turn).await, "good");
    assert_eq!(call(&toolbox, json!({"fails": "once"}), &turn).await, "once");
}
