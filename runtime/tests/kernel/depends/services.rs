//! Services that a tool needs to be built.

use toolgen_runtime::engine::executor::{Executor, ScriptedExecutor};

use super::{in_session, probe, registry};
use crate::prelude::*;

async fn call(toolbox: &Toolbox, name: &str) -> ToolResponse {
    toolbox.run(ToolCall::new("c1", name, json!({})), &Turn::new("turn")).await
}

fn with_executor() -> ToolboxContext {
    ToolboxContext::new().with_executor(Arc::new(ScriptedExecutor::default()))
}

#[tokio::test]
async fn missing_service_prevents_building_and_calling_the_tool() {
    let shell = probe("shell", [Requirement::service("executor")]);
    let chat = probe("chat_post", [Requirement::service("executor"), Requirement::service("chat service")]);
    let own = probe("own", [Requirement::service("mail").message("Ask for an account of the mail first.")]);
    let tools = registry([shell.clone(), chat.clone(), own.clone()]);
    let bare = tools.toolbox(ToolboxContext::new());
    for (name, described) in [
        ("shell", "failed to create tool 'shell': shell tool requires an executor"),
        ("chat_post", "failed to create tool 'chat_post': chat_post tool requires an executor"),
        ("own", "failed to create tool 'own': Ask for an account of the mail first."),
    ] {
        assert_eq!(bare.get(name).err().unwrap().to_string(), described);
        let response = call(&bare, name).await;
        assert_eq!(
            (response.text().as_str(), response.outcome.as_ref().unwrap_err().code()),
            (described, "SERVICE_UNAVAILABLE")
        );
        let help = response.outcome.unwrap_err().operator_text().into_owned();
        assert!(help.contains("`ToolboxContext::with_service`"), "{help}");
    }
    let lent = tools.toolbox(with_executor());
    assert_eq!(call(&lent, "shell").await.text(), "done");
    assert!(lent.get("shell").is_ok());
    let described = "failed to create tool 'chat_post': chat_post tool requires a chat service";
    assert_eq!(call(&lent, "chat_post").await.text(), described);
    let named = with_executor()
        .with_named_service("chat service", Arc::new(()))
        .with_named_service("mail", Arc::new(()));
    let named = tools.toolbox(named);
    assert_eq!(call(&named, "chat_post").await.text(), "done");
    assert_eq!(call(&named, "own").await.text(), "done");
    assert_eq!((shell.runs(), chat.runs(), own.runs()), (1, 1, 1));
}

#[tokio::test]
async fn service_may_come_from_the_call_context() {
    let tools = registry([probe("shell", [Requirement::service("executor")])]);
    let toolbox = tools.toolbox(ToolboxContext::new());
    let turn = Turn::new("turn").with_service::<dyn Executor>(Arc::new(ScriptedExecutor::default()));
    let response = toolbox.run(ToolCall::new("c1", "shell", json!({})), &turn).await;
    assert_eq!(response.text(), "done");
    // The next call provides no executor.
    assert!(call(&toolbox, "shell").await.text().ends_with("shell tool requires an executor"));
}

#[tokio::test]
async fn missing_optional_service_is_reported_and_does_not_block() {
    let tools = registry([probe("build", [Requirement::service("cache").optional()])]);
    let toolbox = tools.toolbox(ToolboxContext::new());
    let result = call(&toolbox, "build").await.outcome.unwrap();
    assert_eq!(result.details["unmet_dependencies"][0]["description"], "Service 'cache' is required");
    let toolbox = tools.toolbox(ToolboxContext::new().with_named_service("cache", Arc::new(())));
    assert_eq!(call(&toolbox, "build").await.outcome.unwrap().details, Value::Null);
}

/// Runs a line.
#[tool(undocumented, requires(service("executor")))]
fn run_line() -> &'static str {
    "ran"
}

/// Runs a line through another tool.
#[tool(undocumented)]
async fn through(ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    ctx.call("run_line", json!({})).await
}

#[tokio::test]
async fn service_requirement_applies_to_every_kind_of_call() {
    let tools = Registry::new(toolset![run_line, through]).unwrap();
    let message = "failed to create tool 'run_line': run_line tool requires an executor";
    let bare = tools.toolbox(ToolboxContext::new());
    assert_eq!(call(&bare, "run_line").await.text(), message);
    assert_eq!(call(&bare, "through").await.text(), message);
    let found = Toolbox::builder(&tools).discovery(Discovery::new()).build().unwrap();
    assert_eq!(call(&found, "run_line").await.text(), message);
    let of_agent = bare.builder_with(&tools).build().unwrap();
    assert_eq!(call(&of_agent, "run_line").await.text(), message);
    let lent = tools.toolbox(with_executor());
    assert_eq!(call(&lent, "through").await.text(), "ran");
    assert_eq!(call(&lent.builder_with(&tools).build().unwrap(), "run_line").await.text(), "ran");
}

#[tokio::test]
async fn services_are_checked_before_other_requirements() {
    let requires = [Requirement::tool("first"), Requirement::service("executor")];
    let tools = registry([probe("first", []), probe("second", requires)]);
    let session = Session::new("s");
    let ask = async |context: ToolboxContext| {
        tools
            .toolbox(context)
            .run(ToolCall::new("c", "second", json!({})), &in_session(&session))
            .await
            .text()
    };
    assert!(ask(ToolboxContext::new()).await.ends_with("second tool requires an executor"));
    assert!(ask(with_executor()).await.starts_with("Cannot execute 'second': prerequisites not met."));
}
