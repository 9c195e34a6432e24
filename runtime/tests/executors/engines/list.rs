//! Tests of lists of tools: which engine runs which tool, and the errors of tools that no engine runs.

use toolgen_runtime::RequestPlan;
use toolgen_runtime::agent::agent_loop::{Entry, ModelTurn, Transcript};
use toolgen_runtime::agent::sub_agent::{
    AgentEngine, AgentFailure, AgentMonitor, AgentRunner, AgentTask, LoopRunner,
};
use toolgen_runtime::engine::FunctionTable;
use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::spec::plan::AgentPlan;

use crate::engines::{command, spec, toolbox_in};
use crate::prelude::*;

fn tool(name: &str, call: ExecutionPlan) -> Tool {
    Tool { spec: spec(name, &[]), call }
}

fn agent(name: &str, tools: &[&'static str]) -> Tool {
    let tools = tools.iter().map(|name| Text::Static(name)).collect();
    let plan = AgentPlan {
        tools,
        system_prompt: "You help.".into(),
        model: r#"{"id":"m"}"#.into(),
        max_turns: 3,
        ..AgentPlan::EMPTY
    };
    Tool { spec: spec(name, &["task"]), call: ExecutionPlan::Agent(plan) }
}

/// An agent that calls the tool that its task names.
fn runner() -> impl AgentRunner + 'static {
    LoopRunner::new(|task: &AgentTask, _: &AgentMonitor| {
        assert_eq!((task.system_prompt.as_str(), &task.model_config["id"]), ("You help.", &json!("m")));
        assert_eq!(task.limits.max_turns, 3);
        let name = task.task.clone();
        move |transcript: Transcript| {
            let name = name.clone();
            async move {
                Ok::<_, AgentFailure>(match transcript.last() {
                    Some(Entry::Answer(response)) => ModelTurn::text(response.text()),
                    _ => ModelTurn::calls([ToolCall::new("inner", name, json!({}))]),
                })
            }
        }
    })
}

#[test]
fn one_error_lists_all_tools_without_an_engine() {
    let tools = [
        tool("list", ExecutionPlan::Http(RequestPlan::EMPTY)),
        tool("get", ExecutionPlan::Http(RequestPlan::EMPTY)),
        tool("count", ExecutionPlan::Command(command(&["wc"]))),
        tool("sum", ExecutionPlan::Function),
        agent("helper", &["count"]),
    ];
    let error = Engines::new().tools_from(tools.clone()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "these tools cannot run:\n\
         `list`, `get`: an HTTP request needs `.with(HttpEngine::builder().build()?)` (feature `http`)\n\
         `sum`: no table has a function of this name: implement the trait of the generated module, or add it with \
         `.with(FunctionTable::new().with(name, function))`\n\
         `helper`: an agent needs `.with(AgentEngine::new(runner))` (feature `agent`)"
    );
    let engines = Engines::new()
        .with(HttpEngine::builder().build().unwrap())
        .with(FunctionTable::new().with("sum", |_: Value, _: ToolContext| async { Ok("3") }))
        .with(AgentEngine::new(runner()));
    let made = engines.tools_from(tools).unwrap();
    let names: Vec<&str> = made.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["list", "get", "count", "sum", "helper"]);
}

#[test]
fn agent_naming_a_non_agent_tool_is_an_error() {
    let engines = Engines::new().with(AgentEngine::new(runner()));
    let tools = [
        agent("a", &["cuont", "b"]),
        agent("b", &[]),
        tool("count", ExecutionPlan::Command(command(&["wc"]))),
    ];
    assert_eq!(
        engines.tools_from(tools).err().unwrap().to_string(),
        "these tools cannot run:\n`a`: the agent has no tool `cuont` (did you mean `count`?), `b`: it may name tools of \
         its list that are not agents, and tools added with `AgentEngine::tools`"
    );
}

#[tokio::test]
async fn agent_can_call_its_named_and_engine_tools() {
    let function = |text: &'static str| move |_: Value, _: ToolContext| async move { Ok(text) };
    let table = FunctionTable::new().with("inner", function("inner said so"));
    let beside = FunctionTable::new().with("beside", function("beside said so"));
    let beside = Engines::new().with(beside).tools_from([tool("beside", ExecutionPlan::Function)]).unwrap();
    let engines = Engines::new().with(table).with(AgentEngine::new(runner()).tools(beside));
    let tools =
        engines.tools_from([agent("helper", &["inner", "beside"]), tool("inner", ExecutionPlan::Function)]);
    let toolbox = toolbox_in(tools.unwrap(), ToolboxContext::new());
    for name in ["inner", "beside"] {
        let call = ToolCall::new("1", "helper", json!({ "task": name }));
        let response = toolbox.run(call, &Turn::new("turn")).await;
        assert_eq!(response.text(), format!("{name} said so"));
    }
    let helper = toolbox.get("helper").unwrap();
    assert_eq!(helper.own_tools().len(), 2);
    assert!(helper.spec().sub_agent && helper.action().unwrap().contains("You help."));
}

#[tokio::test]
async fn function_gets_schema_defaults() {
    let mut spec = spec("sum", &[]);
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "default": 7}}});
    spec.input = toolgen_runtime::engine::dynamic::DynamicTool::builder("x", "x")
        .schema(&schema)
        .spec()
        .unwrap()
        .input;
    let table = FunctionTable::new().with("sum", |arguments: Value, _: ToolContext| async { Ok(arguments) });
    let tools =
        Engines::new().with(table).tools_from([Tool { spec, call: ExecutionPlan::Function }]).unwrap();
    let toolbox = toolbox_in(tools, ToolboxContext::new());
    let response = toolbox.run(ToolCall::new("1", "sum", json!({})), &Turn::new("turn")).await;
    assert_eq!(response.text(), r#"{"n":7}"#);
}
