//! A sub-agent has no more rights than the agent that started it.

use toolgen_runtime::agent::sub_agent::SubAgentTool;

use super::{By, call_in, turn};
use crate::prelude::*;

/// Looks.
#[tool(read_only, undocumented)]
fn peek() -> &'static str {
    "seen"
}

/// Destroys everything.
#[tool(undocumented, destructive)]
fn wipe() -> &'static str {
    "wiped"
}

/// A toolbox with a sub-agent that tries both tools, with every setting that it can change itself.
fn toolbox() -> ToolboxBuilder {
    let runner = By(|task: AgentTask, _| async move {
        let free = task.toolbox_builder().context(ToolboxContext::new()).allow(["peek", "wipe"]).build();
        let free = free.unwrap();
        let root = Principal::new("root").with_scopes(["read", "write"]);
        let context = task.turn.clone().with_principal(root);
        let mut message = String::new();
        for name in ["peek", "wipe"] {
            let response = free.run(ToolCall::new("1", name, json!({})), &context).await;
            message.push_str(&format!("{name}: {}\n", response.text()));
        }
        Ok(message)
    });
    let helper = SubAgentTool::builder("helper", runner).tools(toolset![peek, wipe]).build().unwrap();
    let own = ToolSpec { name: ToolName::new("own"), ..ToolSpec::EMPTY };
    let own = ToolFactory::new(own, |_| Ok(peek::tool()));
    Toolbox::builder(&Registry::builder().add(helper).add(own).seal().unwrap())
}

async fn said(toolbox: ToolboxBuilder, turn: &Turn) -> String {
    call_in(&toolbox.build().unwrap(), json!({"task": "x"}), turn).await.text()
}

#[tokio::test]
async fn sub_agent_inherits_the_allow_list_of_its_caller() {
    let listed = toolbox().allow(["helper", "peek"]);
    assert_eq!(said(listed, &turn()).await, "peek: seen\nwipe: tool 'wipe' not allowed in this context\n");
    assert_eq!(said(toolbox(), &turn()).await, "peek: seen\nwipe: wiped\n");
}

#[tokio::test]
async fn sub_agent_inherits_the_rules_and_limits_of_its_caller() {
    let rules = PolicyRules::builder().exclude(["wipe"]).build().unwrap();
    let text = said(toolbox().rules(rules), &turn()).await;
    assert!(
        text.ends_with("wipe: Permission denied: tool 'wipe' is excluded by the rule 'wipe'\n"),
        "{text}"
    );
    let limits = EffectLimits { destructive: false, ..EffectLimits::ANY };
    let context = ToolboxContext::new().with_limits(limits);
    let helper = toolbox().context(context).build().unwrap();
    let refused = call_in(&helper, json!({"task": "x"}), &turn()).await;
    assert!(
        refused.text().contains("destruction: it may destroy things (allowed: none)"),
        "{}",
        refused.text()
    );
}

#[tokio::test]
async fn sub_agent_inherits_the_principal_of_its_caller() {
    let writer = Principal::new("p").with_scopes(["read", "write"]).with_tools(["helper", "peek"]);
    assert_eq!(
        said(toolbox(), &turn().with_principal(writer)).await,
        "peek: seen\nwipe: Permission denied: API key does not have access to tool 'wipe'\n"
    );
}

#[test]
fn lists_and_rules_may_name_tools_of_sub_agents() {
    let rules = PolicyRules::builder().exclude(["wipe"]).build().unwrap();
    assert!(toolbox().allow(["helper", "peek"]).rules(rules).build().is_ok());
    let refused = toolbox().allow(["helper", "peak"]).build().unwrap_err();
    assert_eq!(refused.to_string(), "tool 'peak' not registered; did you mean 'peek'?");
}

static DEPLOYING: AtomicUsize = AtomicUsize::new(0);

/// Deploys; says how many do.
#[tool(undocumented, exclusive)]
async fn deploy() -> usize {
    let running = DEPLOYING.fetch_add(1, Ordering::SeqCst) + 1;
    tokio::time::sleep(Duration::from_millis(20)).await;
    DEPLOYING.fetch_sub(1, Ordering::SeqCst);
    running
}

#[tokio::test]
async fn exclusive_tools_run_alone_across_sub_agents() {
    let runner = By(|task: AgentTask, _| async move {
        let own = task.toolbox_builder().build().unwrap();
        Ok(own.run(ToolCall::new("1", "deploy", json!({})), &task.turn).await.text())
    });
    let helper = SubAgentTool::builder("helper", runner).effects(Effects::NONE).tools(toolset![deploy]);
    let registry = Registry::builder().add(helper.build().unwrap()).seal().unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    let calls = (0..3).map(|n| ToolCall::new(format!("c{n}"), "helper", json!({"task": "x"}))).collect();
    let replies = toolbox.dispatch(calls, &turn(), &Default::default()).await.responses;
    assert_eq!(replies.iter().map(|response| response.text()).collect::<Vec<_>>(), ["1", "1", "1"]);
}
