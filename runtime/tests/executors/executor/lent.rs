//! Tests of a tool that starts programs, in contexts with different permissions.

use toolgen_runtime::schema::shape::{Kind, ObjectRules};
use toolgen_runtime::toolbox::{FactoryError, ToolFactory};
use toolgen_runtime::{Effects, Service, Shape, ToolName, tool, toolset};

use crate::executor::directory;
use crate::prelude::*;

/// Runs a shell command. It declares no restrictions: its context sets them.
struct Shell {
    spec: ToolSpec,
    executor: GuardedExecutor,
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("shell"),
        input: Shape::of(Kind::Object(ObjectRules::ANY)).into(),
        effects: Effects::UNDECLARED,
        ..ToolSpec::EMPTY
    }
}

impl Shell {
    fn new(ctx: &ToolboxContext) -> Result<Shell, FactoryError> {
        Ok(Shell { spec: spec(), executor: ctx.executor("shell")? })
    }
}

impl AgentTool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let cmd = params["cmd"].as_str().unwrap_or_default();
            let argv = ["sh", "-c", cmd].map(String::from);
            let output = self.executor.run(&argv, &ExecOptions::default(), ctx.cancel()).await;
            match output {
                Ok(output) => Ok(ToolResult::json(output.to_json())),
                Err(ExecError::Lost { .. }) => Err(ToolError::failed(format!("shell command failed: {cmd}"))),
                Err(error) => Err(error.into()),
            }
        })
    }
}

fn toolbox(ctx: ToolboxContext) -> Toolbox {
    let factory = ToolFactory::new(spec(), Shell::new).confined();
    let registry = Registry::builder().add(factory).seal().unwrap();
    Toolbox::builder(&registry).context(ctx).build().unwrap()
}

async fn call(ctx: ToolboxContext, cmd: &str) -> Result<ToolResult, ToolError> {
    let call = ToolCall::new("1", "shell", json!({"cmd": cmd}));
    toolbox(ctx).run(call, &Turn::new("turn")).await.outcome
}

#[tokio::test]
async fn tool_gets_the_limits_of_its_context() {
    let lent = Arc::new(ScriptedExecutor::default());
    let ctx = || ToolboxContext::new().with_executor(lent.clone()).with_work_dir("/workspace");
    call(ctx().with_limits(EffectLimits::PLANNING), "ls").await.unwrap();
    call(ctx(), "ls").await.unwrap();
    let asked = lent.commands();
    let in_workspace = ExecOptions::default().work_dir("/workspace");
    assert_eq!(asked[0].1, in_workspace.clone().read_only().without_network());
    assert_eq!(asked[1].1, in_workspace);
    assert_eq!(asked[0].0, ["sh", "-c", "ls"]);
}

#[tokio::test]
async fn executor_enforces_the_limits_or_runs_nothing() {
    let path = directory("limits");
    let executor = || Arc::new(LocalExecutor::new().work_dir(&path));
    let ctx = || ToolboxContext::new().with_executor(executor());
    match call(ctx().with_limits(EffectLimits::PLANNING), "echo ran > file").await {
        Err(ToolError::Denied { message, .. }) => assert!(message.contains("read_only, network_disabled")),
        outcome => assert_ne!(outcome.unwrap().details["exit_code"], 0),
    }
    assert!(!path.join("file").exists());
    let result = call(ctx(), "echo ran > file; cat file; exit 3").await.unwrap();
    assert_eq!((&result.details["stdout"], &result.details["exit_code"]), (&json!("ran\n"), &json!(3)));
    assert!(!result.is_error(), "a code other than 0 is a result");
}

#[tokio::test]
async fn tool_requires_its_executor_to_be_built() {
    let error = call(ToolboxContext::new(), "ls").await.unwrap_err();
    let message = error.to_string();
    assert!(message.contains("shell tool requires an executor"), "{message}");
    let error = toolbox(ToolboxContext::new()).get("shell").err().unwrap();
    assert_eq!(error.to_string(), "failed to create tool 'shell': shell tool requires an executor");
}

#[tokio::test]
async fn executor_errors_are_reported_as_tool_errors() {
    let lost = ScriptedExecutor::new([
        Err(ExecError::Cancelled),
        Err(ExecError::Lost { message: "the pipe broke".into() }),
        Ok(ExecOutput::new(1, "", "no")),
    ]);
    let lent = Arc::new(lost);
    let ctx = || ToolboxContext::new().with_executor(lent.clone());
    assert_eq!(call(ctx(), "ls").await.unwrap_err(), ToolError::Cancelled);
    assert_eq!(call(ctx(), "ls").await.unwrap_err().to_string(), "shell command failed: ls");
    assert_eq!(call(ctx(), "ls").await.unwrap().details["stderr"], "no");
}

/// Runs a shell command, with the executor that it gets as a parameter.
#[tool(undocumented)]
async fn run(line: String, executor: Service<dyn Executor>, ctx: &ToolContext) -> Result<Value, ToolError> {
    let argv = ["sh".to_owned(), "-c".to_owned(), line];
    Ok(executor.run(&argv, &ExecOptions::default(), ctx.cancel()).await?.to_json())
}

#[tokio::test]
async fn executor_service_enforces_the_limits() {
    let scripted = Arc::new(ScriptedExecutor::default());
    let registry = Registry::new(toolset![run]).unwrap();
    // The policy allows the tool regardless of its declaration, which is not tested here.
    let context = ToolboxContext::new().with_executor(Arc::clone(&scripted) as Arc<dyn Executor>);
    let lent = context.clone().with_limits(EffectLimits { network: Network::None, ..EffectLimits::ANY });
    let mut spec = run::tool().spec().clone();
    spec.effects = Effects::NONE;
    let relaxed = ToolFactory::new(spec, |_| Ok(run::tool()));
    let relaxed = Registry::builder().add(relaxed).seal().unwrap();
    for (registry, context, network_disabled) in [(registry, context, false), (relaxed, lent, true)] {
        let toolbox = registry.toolbox(context);
        let call = ToolCall::new("c", "run", json!({"line": "true"}));
        let response = toolbox.run(call, &Turn::new("turn")).await;
        assert!(!response.is_error(), "{}", response.text());
        assert_eq!(scripted.commands().last().unwrap().1.network_disabled, network_disabled);
    }
}

#[tokio::test]
async fn factory_gets_the_guarded_executor_service() {
    let script = Arc::new(ScriptedExecutor::default());
    let by_type = ToolFactory::new(spec(), |ctx: &ToolboxContext| {
        let executor = ctx.service::<dyn Executor>().unwrap();
        Ok(Shell { spec: spec(), executor: GuardedExecutor::new(executor) })
    });
    let registry = Registry::builder().add(by_type.confined()).seal().unwrap();
    let context = ToolboxContext::new().with_limits(EffectLimits::PLANNING).with_executor(script.clone());
    let call = ToolCall::new("c1", "shell", json!({"cmd": "touch x"}));
    registry.toolbox(context).run(call, &Turn::new("turn")).await.outcome.unwrap();
    let options = script.commands().remove(0).1;
    assert!(options.read_only && options.network_disabled, "{options:?}");
}
