//! How sub-agents are built, and which tools they may have.

use toolgen_runtime::agent::sub_agent::{AgentLimits, SubAgentError};

use super::{By, SubAgentTool, behind, call, call_in, look_up, says, toolbox, turn};
use crate::prelude::*;

#[test]
fn sub_agent_takes_one_task() {
    let tool = says("").build().unwrap();
    assert_eq!(tool.name(), "helper");
    assert_eq!(tool.description(), "Delegate a task to the 'helper' sub-agent");
    let schema = tool.parameters_schema();
    assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!(["task"])));
    assert_eq!(schema["properties"]["task"]["type"], "string");
    assert_eq!(schema["properties"].as_object().unwrap().len(), 1);
    let message = says("").description("Knows the code.").build().unwrap();
    assert_eq!(message.description(), "Knows the code.");
}

#[test]
fn default_limits_are_stable() {
    let tool = says("").build().unwrap();
    let default = AgentLimits { max_turns: 10, max_tokens: 1_000_000, max_time: Duration::from_secs(300) };
    assert_eq!(tool.limits(), default);
    // The default timeout of other tools does not shorten it.
    assert_eq!(tool.spec().timeout, Timeout::Millis(300_000));
    let set = says("").max_turns(3).max_tokens(500).max_time(Duration::from_secs(7)).build().unwrap();
    let limits = AgentLimits { max_turns: 3, max_tokens: 500, max_time: Duration::from_secs(7) };
    assert_eq!((set.limits(), set.spec().timeout), (limits, Timeout::Millis(7000)));
}

#[tokio::test]
async fn missing_task_is_reported() {
    let toolbox = toolbox(says("never"));
    for arguments in [json!({}), Value::Null, json!("")] {
        let error = call_in(&toolbox, arguments, &turn()).await.outcome.unwrap_err();
        assert_eq!(error.to_string(), "Invalid arguments: Missing required 'task' parameter");
        assert!(
            matches!(&error, ToolError::InvalidArgs { message, .. } if message == "Missing required 'task' parameter")
        );
        assert_eq!(error.code(), "MISSING_PARAMETER");
    }
    // A direct call returns the same error.
    let tool = says("never").build().unwrap();
    let error = tool.execute(json!({}), &turn().call_context("1", "t")).await.unwrap_err();
    assert_eq!(error.to_string(), "Invalid arguments: Missing required 'task' parameter");
}

#[tokio::test]
async fn non_string_task_is_rejected() {
    let toolbox = toolbox(says("never"));
    for task in [json!(5), json!(["a"]), json!({"do": "it"})] {
        let error = call_in(&toolbox, json!({ "task": task }), &turn()).await.outcome.unwrap_err();
        assert_eq!(error.code(), "INVALID_PARAMS");
    }
}

#[tokio::test]
async fn prompt_model_and_thinking_are_passed_to_the_runner() {
    let runner = By(|task: AgentTask, _| async move {
        Ok(format!(
            "{} | {} | {} | {} | {}",
            task.task,
            task.system_prompt,
            task.model_config,
            task.thinking_level,
            task.toolbox_builder().build().unwrap().list().len()
        ))
    });
    let tool = SubAgentTool::builder("helper", runner)
        .system_prompt("You help.")
        .model_config(json!({"model": "m-1"}))
        .thinking_level("high")
        .tools(toolset![look_up]);
    assert_eq!(call(tool).await.text(), r#"find it | You help. | {"model":"m-1"} | high | 1"#);
}

#[test]
fn sub_agent_gets_no_sub_agents() {
    let inner = || says("inner").build().unwrap();
    let refused =
        says("outer").tools(Registry::builder().add(inner()).seal().unwrap().iter().cloned()).build();
    assert_eq!(refused.unwrap_err().to_string(), "a sub-agent cannot have sub-agents: helper");

    /// Hides the tool that it wraps.
    struct Wrapper(SubAgentTool);
    impl AgentTool for Wrapper {
        fn spec(&self) -> &ToolSpec {
            self.0.spec()
        }

        fn execute<'a>(
            &'a self,
            params: Value,
            ctx: &'a ToolContext,
        ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
            self.0.execute(params, ctx)
        }
    }
    let wrapped = Registry::builder().add(Wrapper(inner())).seal().unwrap();
    assert!(matches!(says("outer").tools(wrapped.iter().cloned()).build(), Err(SubAgentError::Nested(_))));
}

#[tokio::test]
async fn hidden_nested_sub_agent_refuses_to_run() {
    // Its specification does not show that it is a sub-agent.
    let spec = ToolSpec { name: ToolName::new("sneaky"), ..ToolSpec::EMPTY };
    let sneaky = ToolFactory::new(spec, |_| Ok(says("deeper").build().unwrap()));
    let tools = Registry::builder().add(sneaky).seal().unwrap();
    let runner = By(|task: AgentTask, _| async move {
        assert_eq!(task.turn.call_context("c2", "sneaky").agent_depth(), 1);
        let toolbox = task.toolbox_builder().build().unwrap();
        // Bypasses the arguments, which are those of the factory.
        let tool = toolbox.get("sneaky").unwrap();
        let outcome = tool.execute(json!({"task": "x"}), &task.turn.call_context("1", "t")).await;
        Ok(outcome.unwrap_err().code().to_owned())
    });
    let tool = SubAgentTool::builder("helper", runner).tools(tools.iter().cloned());
    assert_eq!(call(tool).await.text(), "DEPTH_EXCEEDED");
}

#[test]
fn conflicting_tools_are_rejected() {
    let twice = says("").tools(toolset![look_up]).tools(toolset![look_up]).build();
    let message = twice.unwrap_err().to_string();
    assert!(message.starts_with("Tool [look_up] is already registered."), "{message}");
    let name = SubAgentTool::builder("no name", By(|_, _| async { Ok(String::new()) })).build();
    assert!(matches!(name, Err(SubAgentError::Name(_))));
}

#[tokio::test]
async fn limits_apply_to_the_effects_of_a_sub_agent() {
    use toolgen_runtime::call::limits::EffectLimits;
    let limits =
        || ToolboxContext::new().with_limits(EffectLimits { read_only: true, ..EffectLimits::default() });
    let unknown = behind(says("ran").build().unwrap()).context(limits()).build().unwrap();
    assert!(call_in(&unknown, json!({"task": "x"}), &turn()).await.is_error());
    let harmless = says("ran").effects(Effects::NONE).build().unwrap();
    let harmless = behind(harmless).context(limits()).build().unwrap();
    assert_eq!(call_in(&harmless, json!({"task": "x"}), &turn()).await.text(), "ran");
}
