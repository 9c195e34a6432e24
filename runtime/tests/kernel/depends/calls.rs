//! Requirements of calls through a toolbox.

use super::{in_session, probe, registry};
use crate::prelude::*;

async fn call(toolbox: &Toolbox, name: &str, arguments: Value, turn: &Turn) -> ToolResponse {
    toolbox.run(ToolCall::new("c1", name, arguments), turn).await
}

fn code(response: &ToolResponse) -> &str {
    response.outcome.as_ref().map_or_else(ToolError::code, |_| "ok")
}

#[tokio::test]
async fn tool_with_unmet_requirements_never_runs() {
    let dependent = probe("dependent", [Requirement::tool("required")]);
    let tools = registry([probe("required", []), dependent.clone()]);
    let toolbox = Toolbox::builder(&tools).build().unwrap();
    let session = Session::new("s");
    let turn = in_session(&session);
    let refused = call(&toolbox, "dependent", json!({}), &turn).await;
    assert_eq!((code(&refused), dependent.runs()), ("DEPENDENCY_NOT_MET", 0));
    assert!(refused.text().starts_with("Cannot execute 'dependent': prerequisites not met.\n\nMissing:\n"));
    assert!(!session.has_called("dependent"));
    assert!(!call(&toolbox, "required", json!({}), &turn).await.is_error());
    let answered = call(&toolbox, "dependent", json!({}), &turn).await;
    assert_eq!((code(&answered), dependent.runs()), ("ok", 1));
    assert_eq!(session.called(), ["required", "dependent"]);
    let nobody = Turn::new("turn");
    assert_eq!(code(&call(&toolbox, "dependent", json!({}), &nobody).await), "DEPENDENCY_NOT_MET");
}

#[tokio::test]
async fn failed_call_does_not_satisfy_a_requirement() {
    let response = Ok(ToolResult::json(json!({ "error": "locked", "code": "resource_locked" })));
    let tools = registry([
        probe("fails", []).gives(Err(ToolError::failed("it broke"))),
        probe("tells", []).gives(response),
        probe("after", [Requirement::tool("fails"), Requirement::tool("tells")]),
    ]);
    let toolbox = Toolbox::builder(&tools).build().unwrap();
    let session = Session::new("s");
    for name in ["fails", "tells"] {
        assert!(call(&toolbox, name, json!({}), &in_session(&session)).await.is_error());
    }
    let refused = call(&toolbox, "after", json!({}), &in_session(&session)).await;
    let Err(ToolError::MissingDependencies(missing)) = refused.outcome else { panic!("{refused:?}") };
    assert_eq!(missing.suggested_order, ["fails", "tells"]);
}

#[tokio::test]
async fn call_cannot_override_trusted_values() {
    let tools = registry([probe("t", [Requirement::entity("plan", "plan_slug")])]);
    let mine = Dependencies::new().entity("plan", |_, ctx| {
        let mine = ctx.values().get("workspace_id") == Some(&json!(1));
        Box::pin(async move { Ok(mine) })
    });
    let context = ToolboxContext::new().with_values(ContextValues::default().with_trusted("workspace_id", 1));
    let toolbox = Toolbox::builder(&tools).context(context).dependencies(mine).build().unwrap();
    let claims = ContextValues::default().with_client("workspace_id", 2);
    let turn = Turn::new("turn").with_values(claims);
    assert_eq!(code(&call(&toolbox, "t", json!({ "plan_slug": "x" }), &turn).await), "ok");
}

#[tokio::test]
async fn dependencies_are_checked_before_arguments() {
    let seen = Dependencies::new().entity("plan", |slug, _| {
        let exists = slug == "launch";
        Box::pin(async move { Ok(exists) })
    });
    let tools = registry([probe("t", [Requirement::entity("plan", "plan_slug")])]);
    let toolbox = Toolbox::builder(&tools).dependencies(seen).build().unwrap();
    let turn = Turn::new("turn");
    let code_of = |arguments: Value| {
        let (toolbox, turn) = (&toolbox, &turn);
        async move { code(&call(toolbox, "t", arguments, turn).await).to_owned() }
    };
    assert_eq!(code_of(json!({ "plan_slug": "launch" })).await, "ok");
    assert_eq!(code_of(json!("{\"plan_slug\": \"launch\"}")).await, "ok", "arguments sent as text");
    assert_eq!(code_of(json!({ "plan_slug": "gone", "extra": 1 })).await, "DEPENDENCY_NOT_MET");
    assert_eq!(code_of(json!({ "plan_slug": "launch", "extra": 1 })).await, "INVALID_PARAMS");
    assert_eq!(code_of(json!("{\"plan_slug\": ")).await, "DEPENDENCY_NOT_MET");
}

#[tokio::test]
async fn unmet_optional_requirement_is_reported_in_details() {
    let requires = [Requirement::tool("soft").optional(), Requirement::tool("hard")];
    let tools = registry([
        probe("soft", []),
        probe("hard", []),
        probe("object", requires.clone()).gives(Ok(ToolResult::json(json!({ "id": 7 })))),
        probe("text", requires.clone()),
        probe("list", requires).gives(Ok(ToolResult::json(json!([1])))),
    ]);
    let toolbox = Toolbox::builder(&tools).build().unwrap();
    let session = Session::new("s");
    session.record_success("hard");
    let details = |name: &'static str| {
        let (toolbox, session) = (&toolbox, &session);
        async move { call(toolbox, name, json!({}), &in_session(session)).await.outcome.unwrap().details }
    };
    let object = details("object").await;
    assert_eq!((&object["id"], &object["unmet_dependencies"][0]["key"]), (&json!(7), &json!("soft")));
    let text = details("text").await;
    assert_eq!(text["unmet_dependencies"][0]["description"], "Tool 'soft' must be called first");
    assert_eq!(details("list").await, json!([1]));
    session.record_success("soft");
    assert_eq!(details("object").await, json!({ "id": 7 }));
}

/// Opens a phase.
#[tool(undocumented, requires(entity("phase", argument = "number")))]
fn phase_open(#[arg(alias = "no")] number: u8) -> String {
    number.to_string()
}

#[tokio::test]
async fn entity_lookup_uses_the_coerced_argument() {
    let second = Dependencies::new().entity("phase", |number, _| {
        let exists = *number == json!(2);
        Box::pin(async move { Ok(exists) })
    });
    let tools = Registry::new(toolset![phase_open]).unwrap();
    let toolbox = Toolbox::builder(&tools).dependencies(second).build().unwrap();
    let turn = Turn::new("turn");
    for two in [json!({ "number": 2 }), json!({ "no": 2 }), json!({ "number": 2.0 })] {
        let answered = call(&toolbox, "phase_open", two.clone(), &turn).await;
        assert_eq!(answered.text(), "2", "{two}");
    }
    for other in [json!({ "number": 3 }), json!({ "no": 3 }), json!({ "number": 3, "no": 2 })] {
        let refused = call(&toolbox, "phase_open", other.clone(), &turn).await;
        assert_eq!(code(&refused), "DEPENDENCY_NOT_MET", "{other}");
    }
}
