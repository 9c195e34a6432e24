//! Calls that must be refused.

use toolgen_runtime::RegistryProblem;

use super::{check, in_session, missing, probe, registry};
use crate::prelude::*;

/// The existing plans, and the number of look-ups.
fn plans(asked: &Arc<AtomicU32>) -> Dependencies {
    let asked = Arc::clone(asked);
    Dependencies::new().entity("plan", move |slug: &Value, ctx: &ToolContext| {
        asked.fetch_add(1, Ordering::SeqCst);
        let here = ctx.values().trusted("workspace_id") == Some(&json!(1));
        let exists = here && slug == "launch";
        Box::pin(async move { Ok(exists) })
    })
}

#[tokio::test]
async fn entity_is_looked_up_by_its_argument_within_the_workspace() {
    let tools = registry([probe("task_update", [Requirement::entity("plan", "plan_slug")])]);
    let asked = Arc::default();
    let dependencies = plans(&asked);
    let at = |workspace: i64| {
        let values = ContextValues::default().with_trusted("workspace_id", workspace);
        Turn::new("1").with_values(values)
    };
    let found = |args: Value, turn: Turn| {
        let (tools, dependencies) = (&tools, &dependencies);
        async move { check(tools, "task_update", args, &turn, dependencies).await.is_ok() }
    };
    assert!(found(json!({ "plan_slug": "launch" }), at(1)).await);
    assert!(!found(json!({ "plan_slug": "gone" }), at(1)).await);
    assert!(!found(json!({ "plan_slug": "launch" }), at(2)).await, "the plan of another");
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    for nothing in [json!({}), json!({ "plan_slug": null }), json!({ "plan_slug": " " }), json!("launch")] {
        assert!(!found(nothing, at(1)).await);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 3, "there was nothing to look up");
}

#[tokio::test]
async fn requirement_without_a_lookup_is_unmet() {
    let requires = [Requirement::entity("phase", "plan_slug"), Requirement::custom("is_open")];
    let tools = registry([probe("phase_get", requires)]);
    let dependencies = plans(&Arc::default());
    let args = json!({ "plan_slug": "launch" });
    let error = check(&tools, "phase_get", args, &Turn::new("1"), &dependencies).await.unwrap_err();
    let messages: Vec<_> = error.missing.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages, ["Entity 'phase' must exist", "Check 'is_open' must pass"]);
    let unknown = dependencies.unknown(tools.iter().map(|tool| tool.spec()));
    assert_eq!(unknown, error.missing, "a program can check it before any call");
}

#[tokio::test]
async fn client_cannot_use_another_workspace() {
    let tools = registry([probe("plan_create", [Requirement::context("workspace_id")])]);
    let values = ContextValues::default()
        .with_trusted("workspace_id", Value::Null)
        .with_client_object(json!({ "workspace_id": 666 }));
    let ctx = Turn::new("1").with_values(values);
    assert_eq!(missing(&tools, "plan_create", &ctx).await, ["workspace_id"]);
    assert_eq!(ctx.call_context("1", "t").values().shadowed().collect::<Vec<_>>(), ["workspace_id"]);

    let claimed = ContextValues::default().with_client("workspace_id", 666);
    let ctx = Turn::new("1").with_values(claimed.clone());
    let strict = Dependencies::new().trusted("workspace_id");
    assert!(check(&tools, "plan_create", json!({}), &ctx, &strict).await.is_err(), "nobody vouches for it");
    let ctx = Turn::new("1").with_values(claimed.with_trusted("workspace_id", 1));
    assert!(check(&tools, "plan_create", json!({}), &ctx, &strict).await.is_ok());
}

#[tokio::test]
async fn client_cannot_fake_a_session_with_a_value() {
    let requires = [Requirement::session("session_id"), Requirement::tool("start")];
    let tools = registry([probe("start", []), probe("log", requires)]);
    let claims = json!({ "session_id": "ses_123", "called_tools": ["start"] });
    let values = ContextValues::default().with_client_object(claims);
    let ctx = Turn::new("1").with_values(values);
    assert_eq!(missing(&tools, "log", &ctx).await, ["session_id", "start"]);
}

#[tokio::test]
async fn failed_lookup_blocks_the_call_unless_optional() {
    let failing = || {
        Dependencies::new()
            .entity("plan", |_, _| Box::pin(async { Err(ToolError::failed("the database is away")) }))
            .custom("panics", |_, _| panic!("a secret"))
            .custom("panics_late", |_, _| Box::pin(async { panic!("a secret") }))
    };
    let args = json!({ "plan_slug": "launch" });
    let ctx = Turn::new("1");
    let outcome = |requirement: Requirement| {
        let (args, ctx) = (&args, &ctx);
        async move {
            let tools = registry([probe("t", [requirement])]);
            let spec = tools.get("t").unwrap().spec();
            failing().check(spec, args, &ctx.call_context("1", "t"), &tools).await
        }
    };
    let error = outcome(Requirement::entity("plan", "plan_slug")).await.unwrap_err();
    assert_eq!(error.to_string(), "the database is away");
    let unmet = outcome(Requirement::entity("plan", "plan_slug").optional()).await.unwrap();
    assert_eq!(unmet.len(), 1);
    for name in ["panics", "panics_late"] {
        let error = outcome(Requirement::custom(name)).await.unwrap_err();
        assert_eq!(error.to_string(), "a prerequisite of the tool could not be checked");
    }
}

#[tokio::test(start_paused = true)]
async fn lookup_times_out_and_ends_with_the_call() {
    let tools = registry([probe("t", [Requirement::custom("hangs")])]);
    let spec = tools.get("t").unwrap().spec();
    let hanging = || Dependencies::new().custom("hangs", |_, _| Box::pin(std::future::pending()));
    let (args, ctx) = (json!({}), Turn::new("1"));
    let error = hanging()
        .timeout(Duration::from_secs(5))
        .check(spec, &args, &ctx.call_context("1", "t"), &tools)
        .await
        .unwrap_err();
    assert_eq!(error, ToolError::Timeout { duration: Duration::from_secs(5) });
    let hurried = Turn::new("1").with_timeout(Duration::from_secs(1));
    let error = hanging().check(spec, &args, &hurried.call_context("1", "t"), &tools).await.unwrap_err();
    assert_eq!(error, ToolError::Timeout { duration: Duration::from_secs(1) });
    ctx.cancel().cancel();
    assert_eq!(
        hanging().check(spec, &args, &ctx.call_context("1", "t"), &tools).await,
        Err(ToolError::Cancelled)
    );
}

#[test]
fn unsatisfiable_tools_are_rejected_with_all_problems() {
    let cyclic = || {
        [
            probe("b", [Requirement::tool("a"), Requirement::entity("plan", "slug")]),
            probe("a", [Requirement::tool("b"), Requirement::tool("gone")]),
            probe("a", []),
        ]
    };
    let tools = cyclic().map(|probe| Arc::new(probe) as Arc<dyn AgentTool>);
    let error = Registry::new(tools).unwrap_err();
    let expected = "\
Circular dependency detected while validating [a]. The path is a -> b -> a.
Tool [a] requires tool [gone], which is not registered.
Tool [b] finds entity [plan] by argument [slug], which its input does not have.";
    let rest = |message: String| {
        assert!(message.starts_with("Tool [a] is already registered. "), "{message}");
        message.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(rest(error.to_string()), expected);
    assert!(matches!(error.problems[1], RegistryProblem::Requirement(_)));
    let reversed = cyclic().map(|probe| Arc::new(probe) as Arc<dyn AgentTool>);
    assert_eq!(rest(Registry::new(reversed.into_iter().rev()).unwrap_err().to_string()), expected);
}

#[test]
fn tool_may_be_added_together_with_its_requirement() {
    let first = registry([probe("a", [])]);
    let later = |name, requires| Arc::new(probe(name, [Requirement::tool(requires)])) as Arc<dyn AgentTool>;
    assert_eq!(first.extend([later("b", "a"), later("c", "b")]).unwrap().len(), 3);
    assert!(first.extend([later("b", "nowhere")]).is_err());
}

#[tokio::test]
async fn call_without_a_session_has_no_history() {
    let tools = registry([probe("a", []), probe("b", [Requirement::tool("a"), Requirement::session("k")])]);
    let nobody = Turn::new("1");
    toolgen_runtime::layers::dependencies::record(
        &nobody.call_context("1", "t"),
        "a",
        &Ok(ToolResult::empty()),
    );
    assert_eq!(missing(&tools, "b", &nobody).await, ["a", "k"]);
    let somebody = Session::new("");
    somebody.record_success("a");
    somebody.set("k", 1);
    assert!(missing(&tools, "b", &in_session(&somebody)).await.is_empty());
    assert_eq!(missing(&tools, "b", &in_session(&Session::new(""))).await, ["a", "k"]);
}
