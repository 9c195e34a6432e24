//! Tests of tools that call other tools.

use std::sync::atomic::{AtomicUsize, Ordering};

use toolgen_runtime::layers::events::{Event, EventKind};
use toolgen_runtime::layers::middleware::{MiddlewareDecision, ToolRequest};
use toolgen_runtime::spec::Completion;
use toolgen_runtime::spec::plan::{CompletePlan, ComposePlan, ForEach, Step};
use toolgen_runtime::spec::template::Condition;
use toolgen_runtime::{Control, tool, toolset};

use crate::engines::{reference, spec, template};
use crate::prelude::*;

/// The result of a search.
#[derive(serde::Serialize)]
struct Found {
    files: Vec<String>,
}

/// Finds files.
#[tool(undocumented, read_only)]
fn find(pattern: &str) -> Result<ToolResult, ToolError> {
    match pattern {
        "none" => Err(ToolError::failed_with("NO_FILES", "nothing matches")),
        "said" => Ok(ToolResult::text("broken").with_details(json!({"success": false}))),
        pattern => {
            let found = Found { files: (0..5).map(|number| format!("{pattern}{number}")).collect() };
            Ok(ToolResult::json(serde_json::to_value(found).unwrap()))
        }
    }
}

/// Counts the letters of a text; `slow` takes its time.
#[tool(undocumented, read_only)]
async fn count(text: String, ctx: &ToolContext) -> Result<i64, ToolError> {
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    // Other tests call it concurrently.
    let counted = usize::from(text.starts_with("wide"));
    let beside = RUNNING.fetch_add(counted, Ordering::SeqCst) + counted;
    ctx.progress(format!("{beside}"));
    // The first takes longest, so that the order is not accidental.
    let wait = if text.ends_with('0') { 60 } else { 20 };
    tokio::time::sleep(Duration::from_millis(wait)).await;
    RUNNING.fetch_sub(counted, Ordering::SeqCst);
    match text.as_str() {
        "bad3" | "bad1" => Err(ToolError::failed(format!("cannot count {text}"))),
        text => Ok(text.len() as i64),
    }
}

/// Waits for long.
#[tool(undocumented, read_only, timeout = "50ms")]
async fn sleepy() -> String {
    tokio::time::sleep(Duration::from_secs(60)).await;
    String::new()
}

fn step(id: &str, tool: &str, arguments: Value) -> Step {
    Step {
        id: id.to_owned().into(),
        tool: tool.to_owned().into(),
        arguments: template(&arguments),
        condition: None,
        for_each: None,
        optional: false,
    }
}

fn each(step: Step, parallel: u32) -> Step {
    let list = reference("steps.find.files");
    Step { for_each: Some(ForEach { list, parallel, max_items: 5 }), ..step }
}

fn composed(steps: Vec<Step>, result: Option<Value>) -> Vec<Arc<dyn AgentTool>> {
    let result = result.map(|result| template(&result));
    let plan = ComposePlan { steps: steps.into(), result };
    let tool = Tool { spec: spec("both", &["pattern", "deep?"]), call: ExecutionPlan::Compose(plan) };
    Engines::new().tools_from([tool]).unwrap()
}

fn registry(steps: Vec<Step>, result: Option<Value>) -> Registry {
    Registry::builder()
        .add_all(composed(steps, result))
        .add_all(toolset![find, count, sleepy])
        .seal()
        .unwrap()
}

async fn call(steps: Vec<Step>, result: Option<Value>, arguments: Value) -> ToolResponse {
    let toolbox = registry(steps, result).toolbox(Default::default());
    toolbox.run(ToolCall::new("1", "both", arguments), &Turn::new("turn")).await
}

fn usual() -> Vec<Step> {
    vec![
        step("find", "find", json!({"pattern": "{pattern}"})),
        each(step("sizes", "count", json!({"text": "{item}"})), 2),
    ]
}

#[tokio::test]
async fn step_results_are_values_and_arrays_keep_order() {
    let result = json!({"first": "{steps.find.files.0}", "sizes": "{steps.sizes}", "of": "{pattern}!"});
    let response = call(usual(), Some(result), json!({"pattern": "abc"})).await;
    let expected = json!({"first": "abc0", "sizes": [4, 4, 4, 4, 4], "of": "abc!"});
    assert_eq!(serde_json::from_str::<Value>(&response.text()).unwrap(), expected);
    assert_eq!(response.outcome.unwrap().details, expected);
    // Without a template, the result is that of the last step.
    assert_eq!(call(usual(), None, json!({"pattern": "a"})).await.text(), "[2,2,2,2,2]");
}

#[tokio::test]
async fn next_step_gets_the_untruncated_result() {
    let result = json!({"sizes": "{steps.sizes}"});
    let response = call(usual(), Some(result), json!({"pattern": "x".repeat(40_000)})).await;
    assert_eq!(response.text(), r#"{"sizes":[40001,40001,40001,40001,40001]}"#);
    // The model gets the part that fits its limit.
    let response = call(usual()[..1].to_vec(), None, json!({"pattern": "x".repeat(40_000)})).await;
    assert!(
        response.text().len() < 60_000 && response.text().contains("read_result"),
        "{}",
        response.text().len()
    );
}

#[tokio::test]
async fn final_completion_ends_the_loop() {
    let steps =
        vec![step("find", "find", json!({"pattern": "a"})), step("end", "finish", json!({"note": "x"}))];
    for result in [None, Some(json!({"found": "{steps.find.files.0}"}))] {
        let finish = Tool {
            spec: ToolSpec {
                completion: Some(Completion { next_state: "DONE".into() }),
                ..spec("finish", &["note"])
            },
            call: ExecutionPlan::Complete(CompletePlan { message: None, data: None }),
        };
        let tools = Engines::new().tools_from([finish]).unwrap();
        let tools = composed(steps.clone(), result).into_iter().chain(tools).chain(toolset![find]);
        let toolbox = Registry::new(tools).unwrap().toolbox(Default::default());
        let call = ToolCall::new("1", "both", json!({"pattern": ""}));
        let response = toolbox.run(call, &Turn::new("turn")).await;
        assert_eq!(response.control(), Control::complete("DONE", json!({"note": "x"})));
    }
}

#[tokio::test]
async fn optional_step_still_waits_for_its_approval() {
    let mut steps = usual();
    steps[1].optional = true;
    let toolbox = Toolbox::builder(&registry(steps, None)).middleware(refuse).build().unwrap();
    let call = |pattern| ToolCall::new("1", "both", json!({ "pattern": pattern }));
    let turn = Turn::new("turn");
    assert_eq!(toolbox.run(call("a"), &turn).await.outcome.unwrap_err().code(), "APPROVAL_REQUIRED");
    assert_eq!(toolbox.run(call("b"), &turn).await.text(), "[2,2,null,2,2]");
}

#[tokio::test]
async fn step_limits_its_concurrent_calls() {
    let max = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&max);
    let turn = Turn::new("turn").with_on_progress(move |line| {
        seen.fetch_max(line.parse().unwrap(), Ordering::SeqCst);
    });
    let toolbox = registry(usual(), None).toolbox(Default::default());
    let call = ToolCall::new("1", "both", json!({"pattern": "wide"}));
    assert!(!toolbox.run(call, &turn).await.is_error());
    assert_eq!(max.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn failure_names_the_step_and_keeps_its_code() {
    for (pattern, text, code) in [
        ("none", "step `find` (find): nothing matches", "NO_FILES"),
        ("said", "step `find` (find): broken", "EXECUTION_ERROR"),
        ("bad", "step `sizes` (count), item 1: cannot count bad1", "EXECUTION_ERROR"),
    ] {
        let response = call(usual(), None, json!({ "pattern": pattern })).await;
        let error = response.outcome.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.code()), (text, code));
    }
    let nothing = vec![step("x", "missing", json!({}))];
    let error = call(nothing, None, json!({"pattern": ""})).await.outcome.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        ("step `x` (missing): Tool not found: missing", "TOOL_NOT_FOUND")
    );
    let error =
        call(vec![step("x", "sleepy", json!({}))], None, json!({"pattern": ""})).await.outcome.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        ("step `x` (sleepy): Tool exceeded timeout of 50ms", "TIMEOUT")
    );
}

#[tokio::test]
async fn failed_optional_step_is_null_in_an_array() {
    let mut steps = usual();
    steps[1].optional = true;
    let result = json!({"sizes": "{steps.sizes}", "x": "{steps.find.nothing?}"});
    let response = call(steps, Some(result.clone()), json!({"pattern": "bad"})).await;
    assert_eq!(response.text(), r#"{"sizes":[4,null,4,null,4]}"#);
    let mut steps = usual();
    steps[0].optional = true;
    let error = call(steps, Some(result), json!({"pattern": "none"})).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "step `sizes` cannot run: there is no value for `steps.find.files`");
}

#[tokio::test]
async fn conditions_skip_steps_and_items() {
    let mut steps = usual();
    steps[1].condition = Some(Condition::True(reference("deep?")));
    let result = Some(json!({"sizes": "{steps.sizes?}"}));
    let shallow = call(steps.clone(), result.clone(), json!({"pattern": "a", "deep": false})).await;
    assert_eq!(shallow.text(), "{}");
    let deep = call(steps.clone(), result.clone(), json!({"pattern": "a", "deep": true})).await;
    assert_eq!(deep.text(), r#"{"sizes":[2,2,2,2,2]}"#);
    steps[1].condition = Some(Condition::Equal(template(&json!("{item}")), template(&json!("a3"))));
    assert_eq!(
        call(steps, result, json!({"pattern": "a"})).await.text(),
        r#"{"sizes":[null,null,null,2,null]}"#
    );
}

#[tokio::test]
async fn too_long_or_missing_array_is_reported() {
    let mut steps = usual();
    steps[1].for_each.as_mut().unwrap().max_items = 4;
    let error = call(steps.clone(), None, json!({"pattern": "a"})).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "steps.find.files: step `sizes` takes at most 4 items, but got 5");
    steps[1].for_each.as_mut().unwrap().list = reference("pattern");
    let error = call(steps, None, json!({"pattern": "a"})).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Invalid arguments: /pattern: step `sizes` needs an array here");
}

fn refuse(request: &ToolRequest<'_>) -> MiddlewareDecision {
    match request.spec.name.as_str() {
        "count" if request.arguments["text"] == "a2" => {
            MiddlewareDecision::NeedApproval("it is special".to_owned())
        }
        "count" if request.arguments["text"] == "b2" => MiddlewareDecision::Deny("not that".to_owned()),
        _ => MiddlewareDecision::Allow,
    }
}

#[tokio::test]
async fn nested_calls_pass_all_layers() {
    let registry = registry(usual(), None);
    let toolbox = Toolbox::builder(&registry).middleware(refuse).build().unwrap();
    let ask = async |pattern: &str| {
        let call = ToolCall::new("1", "both", json!({ "pattern": pattern }));
        toolbox.run(call, &Turn::new("turn")).await.outcome.unwrap_err()
    };
    let waits = ask("a").await;
    assert_eq!(waits.code(), "APPROVAL_REQUIRED");
    assert!(waits.to_string().contains("Call 'count' itself"), "{waits}");
    let denied = ask("b").await;
    assert!(denied.to_string().starts_with("step `sizes` (count), item 2: "), "{denied}");
    assert_eq!(denied.code(), "PERMISSION_DENIED");
    let only = Toolbox::builder(&registry).allow(["both", "find"]).build().unwrap();
    let call = ToolCall::new("1", "both", json!({"pattern": "a"}));
    let refused = only.run(call, &Turn::new("turn")).await;
    assert_eq!(refused.text(), "step `sizes` (count), item 0: tool 'count' not allowed in this context");
}

#[tokio::test]
async fn number_of_nested_calls_is_limited() {
    let lists = |name: &str, tool: &str, optional: bool| {
        let each = Step { optional, ..each(step("x", tool, json!({"pattern": "{item}"})), 3) };
        let plan = ComposePlan {
            steps: vec![step("find", "find", json!({"pattern": "a"})), each].into(),
            result: None,
        };
        Tool { spec: spec(name, &["pattern"]), call: ExecutionPlan::Compose(plan) }
    };
    for optional in [false, true] {
        // Six calls of the first, six of each of the five in the middle, and six of each of the 25 below: 186.
        let tools = [
            lists("top", "middle", optional),
            lists("middle", "bottom", optional),
            lists("bottom", "find", optional),
        ];
        let tools = Engines::new().tools_from(tools).unwrap();
        let registry = Registry::new(tools.into_iter().chain(toolset![find])).unwrap();
        let counted = Arc::new(AtomicUsize::new(0));
        let ask = async |max: u32| {
            let count = Arc::clone(&counted);
            count.store(0, Ordering::SeqCst);
            let count = move |event: Event| {
                if matches!(event.kind, EventKind::ToolCall { .. }) {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            };
            let toolbox = Toolbox::builder(&registry).max_nested_calls(max).on_event(count).build().unwrap();
            let turn = Turn::new("turn");
            // Earlier calls of the turn do not count.
            toolbox.run(ToolCall::new("1", "bottom", json!({"pattern": ""})), &turn).await;
            counted.store(0, Ordering::SeqCst);
            let response = toolbox.run(ToolCall::new("2", "top", json!({"pattern": ""})), &turn).await;
            (response, counted.load(Ordering::SeqCst) - 1)
        };
        for max in [186, 1_000] {
            let (response, calls) = ask(max).await;
            assert_eq!((response.is_error(), calls), (false, 186), "{optional}");
        }
        let (response, calls) = ask(185).await;
        assert_eq!(calls, 185, "{optional}");
        let error = response.outcome.unwrap_err();
        assert_eq!(error.code(), "CALLS_EXCEEDED");
        let message = "a tool call can make at most 185 nested calls, and this one exceeded the limit. Request less \
                       work per call";
        assert!(
            error.to_string().starts_with("step `x` (middle), item ") && error.to_string().ends_with(message),
            "{error}"
        );
    }
}

#[tokio::test]
async fn cancelled_composition_starts_no_further_step() {
    let toolbox = registry(usual(), None).toolbox(Default::default());
    let token = CancellationToken::new();
    let turn = Turn::new("turn").with_cancel(token.clone());
    let call = toolbox.run(ToolCall::new("1", "both", json!({"pattern": "a"})), &turn);
    let (response, ()) = tokio::join!(call, async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        token.cancel();
    });
    assert_eq!(response.outcome.unwrap_err(), ToolError::Cancelled);
}
