//! Which tools a provider has, and when they are built.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolgen_runtime::policy::Rules;
use toolgen_runtime::provider::{FactoryError, ProviderContext, ProviderError, ToolFactory};
use toolgen_runtime::{
    ContextValues, Provider, Registry, ToolCall, ToolContext, ToolName, ToolSpec, tool, toolset,
};

use super::{add, call, fail};

/// Runs commands.
struct Executor;
/// Sends messages.
struct Chat;

fn spec(name: &'static str) -> ToolSpec {
    ToolSpec { name: ToolName::new(name), description: "Does things.".into(), ..ToolSpec::EMPTY }
}

/// A tool that needs an executor, and one that needs a chat service.
fn registry() -> Registry {
    let shell = ToolFactory::new(spec("shell"), |ctx| {
        ctx.service::<Executor>().ok_or_else(|| FactoryError::requires("shell", "an executor"))?;
        Ok(add::tool())
    });
    let chat = ToolFactory::new(spec("chat_post"), |ctx| {
        ctx.service::<Chat>().ok_or_else(|| FactoryError::requires("chat_post", "a chat service"))?;
        Ok(add::tool())
    });
    Registry::builder().add(shell).add(chat).add(add::tool()).add(fail::tool()).seal().unwrap()
}

/// A registry with one tool that counts how often it is built.
fn counting() -> (Registry, Arc<AtomicUsize>) {
    let built = Arc::<AtomicUsize>::default();
    let counter = Arc::clone(&built);
    let tool = ToolFactory::new(spec("counted"), move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(add::tool())
    });
    (Registry::builder().add(tool).seal().unwrap(), built)
}

fn refused(provider: &Provider, name: &str) -> String {
    provider.get(name).err().map(|why| why.to_string()).unwrap_or_default()
}

#[test]
fn the_three_errors_of_a_provider_are_exact() {
    let context = ProviderContext::new().with_service(Arc::new(Executor));
    let provider =
        Provider::builder(&registry()).context(context).allow(["shell", "chat_post"]).build().unwrap();
    assert_eq!(refused(&provider, "shell"), "");
    assert_eq!(refused(&provider, "add"), "tool 'add' not allowed in this context");
    assert_eq!(refused(&provider, "nothing"), "tool 'nothing' not registered");
    assert_eq!(
        refused(&provider, "chat_post"),
        "failed to create tool 'chat_post': chat_post tool requires a chat service"
    );
    let bare = registry().provider(ProviderContext::new()).unwrap();
    assert_eq!(refused(&bare, "shell"), "failed to create tool 'shell': shell tool requires an executor");
}

#[tokio::test]
async fn a_model_is_told_the_same_and_whoever_hides_tools_hides_that_they_exist() {
    let context = ProviderContext::new;
    let told = async |provider: &Provider, name: &str| {
        let response = call(provider, name, json!({})).await;
        let why = response.outcome.unwrap_err();
        format!("{} {why}", why.code())
    };
    let open = Provider::builder(&registry()).context(context()).allow(["shell"]).build().unwrap();
    assert_eq!(told(&open, "add").await, "PERMISSION_DENIED tool 'add' not allowed in this context");
    assert_eq!(told(&open, "nothing").await, "TOOL_NOT_FOUND Tool not found: nothing");
    assert_eq!(
        told(&open, "shell").await,
        "EXECUTION_ERROR failed to create tool 'shell': shell tool requires an executor"
    );
    let rules = Rules::builder().exclude(["fail"]).build().unwrap();
    let hidden =
        Provider::builder(&registry()).allow(["shell", "fail"]).rules(rules).hide_forbidden().build();
    let hidden = hidden.unwrap();
    for name in ["add", "nothing", "fail"] {
        let text = format!("PERMISSION_DENIED tool '{name}' not allowed in this context");
        assert_eq!(told(&hidden, name).await, text);
    }
}

#[test]
fn a_list_that_names_unknown_tools_gives_no_provider_and_tells_all_of_them() {
    let refused = Provider::builder(&registry()).allow(["x", "shell", "a"]).build().unwrap_err();
    assert_eq!(refused, ProviderError::UnknownTools(vec!["a".to_owned(), "x".to_owned()]));
    assert_eq!(refused.to_string(), "tool 'a' not registered\ntool 'x' not registered");
}

#[test]
fn only_allowed_tools_are_listed_in_an_order_that_does_not_depend_on_registration() {
    let listed = |order: [usize; 3]| {
        let mut builder = Registry::builder();
        for index in order {
            builder = match index {
                0 => builder.add(add::tool()),
                1 => builder.add(fail::tool()),
                _ => builder.add(ToolFactory::new(spec("middle"), |_| Ok(add::tool()))),
            };
        }
        let provider = Provider::builder(&builder.seal().unwrap()).allow(["middle", "add"]).build().unwrap();
        let list: Vec<_> = provider.list().iter().map(toolgen_runtime::provider::ToolMeta::to_json).collect();
        (serde_json::to_string(&list).unwrap(), provider.generate_tool_documentation())
    };
    let (list, documentation) = listed([0, 1, 2]);
    assert_eq!(listed([2, 1, 0]), (list.clone(), documentation.clone()));
    assert_eq!(listed([1, 2, 0]), (list.clone(), documentation.clone()));
    assert_eq!(
        documentation,
        "## Available Tools\n\n- **add** - Adds two numbers.\n- **middle** - Does things.\n"
    );
    assert!(
        list.starts_with(
            r#"[{"name":"add","description":"Adds two numbers.","input_schema":{"type":"object""#
        )
    );
}

#[tokio::test]
async fn a_tool_is_built_when_it_is_first_used_and_is_the_same_from_then_on() {
    let (registry, built) = counting();
    let count = || built.load(Ordering::SeqCst);
    let provider = registry.provider(ProviderContext::new()).unwrap();
    assert_eq!((provider.list().len(), provider.generate_tool_documentation().lines().count()), (1, 3));
    assert_eq!(count(), 0, "a list needs no tool");
    let first = provider.get("counted").unwrap();
    assert!(Arc::ptr_eq(&first, &provider.clone().get("counted").unwrap()));
    let response = call(&provider, "counted", json!({})).await;
    assert_eq!((response.id.as_str(), count()), ("c1", 1));
    let other = registry.provider(ProviderContext::new()).unwrap();
    assert!(!Arc::ptr_eq(&first, &other.get("counted").unwrap()));
    assert_eq!(count(), 2, "each provider builds its own");
}

#[test]
fn a_tool_that_threads_ask_for_at_once_is_built_once() {
    for _ in 0..50 {
        let (registry, built) = counting();
        let provider = registry.provider(ProviderContext::new()).unwrap();
        let tools: Vec<_> = std::thread::scope(|scope| {
            let asking = [(); 8].map(|()| scope.spawn(|| provider.get("counted").unwrap()));
            asking.map(|thread| thread.join().unwrap()).into()
        });
        assert!(tools.iter().all(|tool| Arc::ptr_eq(tool, &tools[0])));
        assert_eq!(built.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_tool_that_could_not_be_built_is_tried_again() {
    let tries = AtomicUsize::new(0);
    let flaky = ToolFactory::new(spec("flaky"), move |_| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => Err(FactoryError::new("not yet")),
        1 => panic!("not like this"),
        _ => Ok(add::tool()),
    });
    let provider = Registry::builder().add(flaky).seal().unwrap().provider(ProviderContext::new()).unwrap();
    assert_eq!(refused(&provider, "flaky"), "failed to create tool 'flaky': not yet");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| refused(&provider, "flaky")));
    assert!(panicked.is_err());
    assert_eq!(refused(&provider, "flaky"), "");
}

#[tokio::test]
async fn a_factory_that_panics_is_an_error_of_its_call() {
    let broken =
        ToolFactory::new(spec("broken"), |_| -> Result<ToolFactory, FactoryError> { panic!("secret") });
    let registry = Registry::builder().add(broken).seal().unwrap();
    let provider = registry.provider(ProviderContext::new()).unwrap();
    let response = call(&provider, "broken", json!({})).await;
    assert_eq!(response.text(), "tool panicked");
}

/// Tells who calls.
#[tool(pure)]
fn whoami(ctx: &ToolContext) -> String {
    let workspace = ctx.values().get("workspace_id").cloned().unwrap_or_default();
    format!("{} in {workspace}", ctx.agent_id().unwrap_or("nobody"))
}

#[tokio::test]
async fn a_turn_says_who_calls_and_the_provider_where_it_does_not() {
    let values = ContextValues::default().with_trusted("workspace_id", 7);
    let context = ProviderContext::new().with_agent_id("agent-1").with_values(values);
    let registry = Registry::new(toolset![whoami]).unwrap();
    let (provider, bare) =
        (registry.provider(context).unwrap(), registry.provider(ProviderContext::new()).unwrap());
    let ask = async |provider: &Provider, turn: ToolContext| {
        provider.call(ToolCall::new("c1", "whoami", json!({})), &turn).await.text()
    };
    let turn = || ToolContext::new("turn", "");
    assert_eq!(ask(&provider, turn()).await, "agent-1 in 7");
    assert_eq!(ask(&bare, turn()).await, "nobody in null");
    let theirs = ContextValues::default().with_client("workspace_id", 8);
    let turn = turn().with_agent_id("agent-2").with_values(theirs);
    assert_eq!(
        ask(&provider, turn.clone()).await,
        "agent-2 in 7",
        "a client does not move to another workspace"
    );
    assert_eq!(ask(&bare, turn).await, "agent-2 in 8");
}
