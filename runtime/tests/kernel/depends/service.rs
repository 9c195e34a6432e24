//! The standard cases of services as dependencies of tools.

use toolgen_runtime::spec::graph::Graph;

use super::{check, in_session, missing, probe, registry};
use crate::prelude::*;

#[test]
fn requirements_keep_their_order() {
    let tool = probe("custom_tool", [Requirement::tool("plan_create"), Requirement::context("workspace_id")]);
    let messages: Vec<_> = tool.spec.requires.iter().map(|it| (it.kind, it.name.as_str())).collect();
    assert_eq!(
        messages,
        [(RequirementKind::Tool, "plan_create"), (RequirementKind::Context, "workspace_id")]
    );
}

#[test]
fn unknown_tool_has_no_requirements() {
    let specs = [probe("a", [Requirement::tool("b")]).spec];
    let graph = Graph::of(&specs);
    assert!(graph.before("nonexistent_tool").is_empty() && graph.dependents("nonexistent_tool").is_empty());
}

#[tokio::test]
async fn tool_without_requirements_may_be_called() {
    let tools = registry([probe("free", [])]);
    let checked = check(&tools, "free", json!({}), &Turn::new("1"), &Dependencies::new()).await;
    assert_eq!(checked, Ok(Vec::new()));
}

#[tokio::test]
async fn required_tool_must_have_been_called() {
    let tools = registry([probe("required", []), probe("dependent", [Requirement::tool("required")])]);
    let session = Session::new("s");
    assert_eq!(missing(&tools, "dependent", &in_session(&session)).await, ["required"]);
    session.record_success("required");
    assert!(missing(&tools, "dependent", &in_session(&session)).await.is_empty());
}

#[tokio::test]
async fn required_context_value_must_be_present() {
    let tools = registry([probe("workspace_tool", [Requirement::context("workspace_id")])]);
    let with = |values| Turn::new("1").with_values(values);
    let none = ContextValues::default();
    assert_eq!(missing(&tools, "workspace_tool", &with(none.clone())).await, ["workspace_id"]);
    for empty in [Value::Null, json!(""), json!("  "), json!([]), json!({})] {
        let ctx = with(none.clone().with_trusted("workspace_id", empty));
        assert_eq!(missing(&tools, "workspace_tool", &ctx).await, ["workspace_id"]);
    }
    for given in [json!(123), json!("ws"), json!(0), json!(false)] {
        let ctx = with(none.clone().with_trusted("workspace_id", given));
        assert!(missing(&tools, "workspace_tool", &ctx).await.is_empty());
    }
}

#[tokio::test]
async fn required_session_state_must_be_present_and_not_null() {
    let tools = registry([probe("session_tool", [Requirement::session("session_id")])]);
    let session = Session::new("s");
    assert_eq!(missing(&tools, "session_tool", &in_session(&session)).await, ["session_id"]);
    session.set("session_id", Value::Null);
    assert_eq!(missing(&tools, "session_tool", &in_session(&session)).await, ["session_id"]);
    session.set("session_id", "ses_123");
    assert!(missing(&tools, "session_tool", &in_session(&session)).await.is_empty());
}

#[tokio::test]
async fn missing_requirements_are_reported_in_order() {
    let requires =
        [Requirement::tool("tool_a"), Requirement::tool("tool_b"), Requirement::context("workspace_id")];
    let tools = registry([probe("tool_a", []), probe("tool_b", []), probe("multi", requires)]);
    let session = Session::new("s");
    session.record_success("tool_a");
    assert_eq!(missing(&tools, "multi", &in_session(&session)).await, ["tool_b", "workspace_id"]);
}

#[tokio::test]
async fn error_names_the_tool_and_quotes_the_requirement() {
    let requires = [Requirement::tool("required").message("You must call required first")];
    let tools = registry([probe("required", []), probe("validated", requires)]);
    let session = Session::new("s");
    let ctx = in_session(&session);
    let spec = tools.get("validated").unwrap().spec();
    let error =
        Dependencies::new().check(spec, &json!({}), &ctx.call_context("1", "t"), &tools).await.unwrap_err();
    assert!(matches!(&error, ToolError::MissingDependencies(_)));
    let text = "Cannot execute 'validated': prerequisites not met.\n\nMissing:\n- You must call required first\n\n\
                Suggested order:\n  1. required";
    assert_eq!((error.to_string().as_str(), error.code()), (text, "DEPENDENCY_NOT_MET"));
    session.record_success("required");
    assert_eq!(
        Dependencies::new().check(spec, &json!({}), &ctx.call_context("1", "t"), &tools).await,
        Ok(Vec::new())
    );
}

#[tokio::test]
async fn optional_requirements_are_reported_and_do_not_block() {
    let requires = [Requirement::tool("hard"), Requirement::tool("soft").optional()];
    let tools = registry([probe("hard", []), probe("soft", []), probe("tool", requires)]);
    let session = Session::new("s");
    session.record_success("hard");
    let checked =
        || async { check(&tools, "tool", json!({}), &in_session(&session), &Dependencies::new()).await };
    let unmet = checked().await.unwrap();
    let messages: Vec<_> = unmet.iter().map(|it| (it.message.as_str(), it.optional)).collect();
    assert_eq!(messages, [("Tool 'soft' must be called first", true)]);
    session.record_success("soft");
    assert_eq!(checked().await, Ok(Vec::new()));
}

#[test]
fn session_remembers_called_tools() {
    let session = Session::new("s");
    for tool in ["tool_a", "tool_b", "tool_a"] {
        session.record_success(tool);
    }
    assert_eq!(session.called(), ["tool_b", "tool_a"], "each once, the last call counts");
    session.forget_calls();
    assert!(session.called().is_empty());
}

#[test]
fn graph_lists_dependents_and_a_valid_order() {
    let specs = [
        probe("tool_c", [Requirement::tool("tool_b")]).spec,
        probe("tool_b", [Requirement::tool("tool_a")]).spec,
        probe("tool_d", [Requirement::tool("tool_a").optional()]).spec,
        probe("tool_a", []).spec,
    ];
    let graph = Graph::of(&specs);
    assert_eq!(graph.dependents("tool_a"), ["tool_b", "tool_d"]);
    assert_eq!(graph.dependents("tool_b"), ["tool_c"]);
    assert_eq!(graph.order(), ["tool_a", "tool_b", "tool_c", "tool_d"]);
}

#[tokio::test]
async fn custom_check_of_the_program_decides() {
    let requires = [Requirement::custom("has_permission").message("User must have admin permission")];
    let tools = registry([probe("guarded", requires)]);
    let dependencies = Dependencies::new().custom("has_permission", |_args, ctx| {
        Box::pin(async { Ok(ctx.values().trusted("role") == Some(&json!("admin"))) })
    });
    let with = |role: &str| {
        let values = ContextValues::default().with_trusted("role", role);
        Turn::new("1").with_values(values)
    };
    let refused = check(&tools, "guarded", json!({}), &with("user"), &dependencies).await.unwrap_err();
    assert_eq!(refused.missing[0].message, "User must have admin permission");
    assert_eq!(check(&tools, "guarded", json!({}), &with("admin"), &dependencies).await, Ok(Vec::new()));
}

#[tokio::test]
async fn sessions_are_independent() {
    let tools = registry([probe("prereq", []), probe("isolated", [Requirement::tool("prereq")])]);
    let (first, second) = (Session::new("session-1"), Session::new("session-2"));
    first.record_success("prereq");
    assert!(missing(&tools, "isolated", &in_session(&first)).await.is_empty());
    assert_eq!(missing(&tools, "isolated", &in_session(&second)).await, ["prereq"]);
}

#[tokio::test]
async fn json_error_is_complete() {
    let requires = [
        Requirement::tool("tool_a").message("Tool A must be called first"),
        Requirement::entity("plan", "plan_slug"),
    ];
    let tools = registry([probe("tool_a", []), probe("target", requires)]);
    let ctx = Turn::new("1");
    let error = check(&tools, "target", json!({}), &ctx, &Dependencies::new()).await.unwrap_err();
    let expected = json!({
        "error": "dependency_not_met",
        "message": "Cannot execute 'target': prerequisites not met",
        "tool": "target",
        "missing_dependencies": [
            { "type": "tool_called", "key": "tool_a", "description": "Tool A must be called first",
              "optional": false, "metadata": {} },
            { "type": "entity_exists", "key": "plan", "description": "Entity 'plan' must exist",
              "optional": false, "metadata": { "arg_key": "plan_slug" } },
        ],
        "suggested_order": ["tool_a"],
        "help": "Call these tools in order before attempting target: tool_a",
    });
    assert_eq!(error.to_json(), expected);
    assert_eq!(ToolError::from(error).to_json(), expected);
}

#[tokio::test]
async fn error_without_a_helping_tool_suggests_no_order() {
    let tools = registry([probe("plan_create", [Requirement::context("workspace_id")])]);
    let ctx = Turn::new("1");
    let error = check(&tools, "plan_create", json!({}), &ctx, &Dependencies::new()).await.unwrap_err();
    let text = "Cannot execute 'plan_create': prerequisites not met.\n\nMissing:\n- Context 'workspace_id' is required";
    assert_eq!(error.to_string(), text);
    let help = "Ensure all required dependencies are satisfied before calling this tool.";
    assert_eq!((error.help().as_str(), &error.to_json()["suggested_order"]), (help, &json!([])));
}

/// Logs a line.
#[tool(
    undocumented,
    requires(session("session_id", message = "Active session required. Call session_start first."))
)]
fn session_log(line: String) -> String {
    line
}

/// Changes a task of a plan.
#[tool(
    undocumented,
    requires(
        context("workspace_id", message = "Workspace context required"),
        entity("plan", argument = "plan_slug", message = "Plan must exist"),
        custom("is_open", optional)
    )
)]
fn task_update(plan_slug: String) -> String {
    plan_slug
}

#[tokio::test]
async fn functions_declare_their_requirements() {
    let tools = Registry::new(toolset![session_log, task_update]).unwrap();
    let ctx = Turn::new("1");
    let messages = |name: &'static str| {
        let (tools, ctx) = (&tools, &ctx);
        async move {
            let error = check(tools, name, json!({}), ctx, &Dependencies::new()).await.unwrap_err();
            error.missing.into_iter().map(|it| it.message).collect::<Vec<_>>()
        }
    };
    assert_eq!(messages("session_log").await, ["Active session required. Call session_start first."]);
    assert_eq!(messages("task_update").await, ["Workspace context required", "Plan must exist"]);
}
