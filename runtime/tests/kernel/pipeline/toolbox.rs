//! Messages for models about tools that are not available, and about tools that cannot be built.

use super::{add, call, fail};
use crate::prelude::*;

/// An executor of commands.
struct Executor;

fn spec(name: &'static str) -> ToolSpec {
    ToolSpec { name: ToolName::new(name), description: "Does things.".into(), ..ToolSpec::EMPTY }
}

/// A tool that needs an executor, and two that need nothing.
fn registry() -> Registry {
    let shell = ToolFactory::new(spec("shell"), |ctx| {
        ctx.service::<Executor>().ok_or_else(|| FactoryError::requires("shell", "an executor"))?;
        Ok(add::tool())
    });
    Registry::builder().add(shell).add(add::tool()).add(fail::tool()).seal().unwrap()
}

fn refused(toolbox: &Toolbox, name: &str) -> String {
    toolbox.get(name).err().map(|error| error.to_string()).unwrap_or_default()
}

#[tokio::test]
async fn hidden_tools_are_reported_as_unknown() {
    let context = ToolboxContext::new;
    let message = async |toolbox: &Toolbox, name: &str| {
        let response = call(toolbox, name, json!({})).await;
        let error = response.outcome.unwrap_err();
        format!("{} {error}", error.code())
    };
    let open = Toolbox::builder(&registry()).context(context()).allow(["shell"]).build().unwrap();
    assert_eq!(message(&open, "add").await, "PERMISSION_DENIED tool 'add' not allowed in this context");
    assert_eq!(message(&open, "nothing").await, "TOOL_NOT_FOUND Tool not found: nothing");
    assert_eq!(
        message(&open, "shell").await,
        "EXECUTION_ERROR failed to create tool 'shell': shell tool requires an executor"
    );
    let rules = PolicyRules::builder().exclude(["fail"]).build().unwrap();
    let hidden = Toolbox::builder(&registry()).allow(["shell", "fail"]).rules(rules).hide_forbidden().build();
    let hidden = hidden.unwrap();
    for name in ["add", "nothing", "fail"] {
        let text = format!("PERMISSION_DENIED tool '{name}' not allowed in this context");
        assert_eq!(message(&hidden, name).await, text);
    }
}

#[test]
fn failed_tool_construction_is_retried() {
    let tries = AtomicUsize::new(0);
    let flaky = ToolFactory::new(spec("flaky"), move |_| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => Err(FactoryError::new("not yet")),
        1 => panic!("not like this"),
        _ => Ok(add::tool()),
    });
    let toolbox = Registry::builder().add(flaky).seal().unwrap().toolbox(ToolboxContext::new());
    assert_eq!(refused(&toolbox, "flaky"), "failed to create tool 'flaky': not yet");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| refused(&toolbox, "flaky")));
    assert!(panicked.is_err());
    assert_eq!(refused(&toolbox, "flaky"), "");
}

#[tokio::test]
async fn panicking_factory_is_an_error_of_its_call() {
    let broken =
        ToolFactory::new(spec("broken"), |_| -> Result<ToolFactory, FactoryError> { panic!("secret") });
    let registry = Registry::builder().add(broken).seal().unwrap();
    let toolbox = registry.toolbox(ToolboxContext::new());
    let response = call(&toolbox, "broken", json!({})).await;
    assert_eq!(response.text(), "tool panicked");
}

/// Tells who calls.
#[tool(pure)]
fn whoami(ctx: &ToolContext) -> String {
    let workspace = ctx.values().get("workspace_id").cloned().unwrap_or_default();
    format!("{} in {workspace}", ctx.agent_id().unwrap_or("nobody"))
}

#[tokio::test]
async fn turn_context_takes_precedence_over_the_toolbox_context() {
    let values = ContextValues::default().with_trusted("workspace_id", 7);
    let context = ToolboxContext::new().with_agent_id("agent-1").with_values(values);
    let registry = Registry::new(toolset![whoami]).unwrap();
    let (toolbox, bare) = (registry.toolbox(context), registry.toolbox(ToolboxContext::new()));
    let ask = async |toolbox: &Toolbox, turn: Turn| {
        toolbox.run(ToolCall::new("c1", "whoami", json!({})), &turn).await.text()
    };
    let turn = || Turn::new("turn");
    assert_eq!(ask(&toolbox, turn()).await, "agent-1 in 7");
    assert_eq!(ask(&bare, turn()).await, "nobody in null");
    let theirs = ContextValues::default().with_client("workspace_id", 8);
    let turn = turn().with_agent_id("agent-2").with_values(theirs);
    assert_eq!(
        ask(&toolbox, turn.clone()).await,
        "agent-2 in 7",
        "a client does not move to another workspace"
    );
    assert_eq!(ask(&bare, turn).await, "agent-2 in 8");
}

/// Large futures are slow to move, and nested calls keep several of them on the stack.
#[test]
fn call_future_is_small() {
    let toolbox = super::toolbox().build().unwrap();
    let turn = Turn::new("t");
    let call = toolbox.run(ToolCall::new("1", "add", json!({})), &turn);
    assert!(size_of_val(&call) < 5200, "{}", size_of_val(&call));
}
