//! The target as compiled tools.

use toolgen_runtime::agent::sub_agent::AgentEngine;
use toolgen_runtime::engine::command::CommandEngine;
use toolgen_runtime::engine::executor::{ExecError, ExecOptions, ExecOutput, Executor};
use toolgen_runtime::engine::{Engines, FunctionTable};
use toolgen_runtime::layers::control::EffectHandler;
use toolgen_runtime::spec::Completion;
use toolgen_runtime::spec::plan::{
    AgentPlan, ArgvTemplate, CommandPlan, CompletePlan, ComposePlan, EffectPlan, Step,
};
use toolgen_runtime::spec::template::{Reference, Root, Segment, Template};
use toolgen_runtime::{ExecutionPlan, Tool};

use crate::matrix::evidence::{World, stem};
use crate::matrix::kinds::{Tools, run, spec};
use crate::prelude::*;

fn argument(name: &'static str) -> Reference {
    Reference { root: Root::Argument(name.into()), path: List::EMPTY, optional: false }
}

/// The arguments of the target, with its note and its secret in one string.
fn arguments() -> Template {
    let note = vec![Segment::Value(argument("note")), Segment::Value(argument("pin"))];
    let members = vec![
        (Text::Static("path"), Template::Value(argument("path"))),
        ("note".into(), Template::Text(note.into())),
    ];
    Template::Object(members.into())
}

/// A tool around the target, which needs no rights itself.
fn outer() -> ToolSpec {
    let spec = spec();
    ToolSpec {
        name: ToolName::new("outer"),
        effects: Effects::NONE,
        scopes: List::EMPTY,
        service: Text::EMPTY,
        requires: List::EMPTY,
        ..spec
    }
}

fn step(id: &'static str, tool: &'static str, arguments: Template) -> Step {
    Step { id: id.into(), tool: tool.into(), arguments, condition: None, for_each: None, optional: false }
}

pub(crate) fn composed(target: Tools) -> Tools {
    let plan = ComposePlan { steps: vec![step("done", "target", arguments())].into(), result: None };
    let tools = Engines::new().tools_from([Tool { spec: outer(), call: ExecutionPlan::Compose(plan) }]);
    target.into_iter().chain(tools.unwrap()).collect()
}

/// A composition whose second step ends the loop of the agent.
pub(crate) fn completed(target: Tools) -> Tools {
    let done = Reference { root: Root::Step("done".into()), path: List::EMPTY, optional: false };
    let reply = Template::Object(vec![("note".into(), Template::Value(done))].into());
    let steps = vec![step("done", "target", arguments()), step("end", "finish", reply)];
    let plan = ComposePlan { steps: steps.into(), result: None };
    let finish = ToolSpec {
        name: ToolName::new("finish"),
        input: toolgen_runtime::Schema::text(r#"{"type":"object","properties":{"note":{"type":"string"}}}"#),
        completion: Some(Completion { next_state: "DONE".into() }),
        ..outer()
    };
    let complete = CompletePlan { message: Some(Template::Value(argument("note"))), data: None };
    let tools = [
        Tool { spec: outer(), call: ExecutionPlan::Compose(plan) },
        Tool { spec: finish, call: ExecutionPlan::Complete(complete) },
    ];
    target.into_iter().chain(Engines::new().tools_from(tools).unwrap()).collect()
}

pub(crate) fn effect() -> Tools {
    let call = ExecutionPlan::Effect(EffectPlan { name: "target".into(), data: None });
    Engines::new().tools_from([Tool { spec: spec(), call }]).unwrap()
}

/// Performs the target's action.
pub(crate) struct Handler(pub(crate) Arc<World>);

impl EffectHandler for Handler {
    fn handle<'a>(
        &'a self,
        effect: &'a Effect,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            match stem(effect.data["path"].as_str().unwrap_or_default()) {
                // A handler has no timeout.
                "/slow" => Ok(ToolResult::empty()),
                _ => run(&self.0, effect.data.clone(), ctx).await,
            }
        })
    }
}

pub(crate) fn function(world: Arc<World>) -> Tools {
    let table = FunctionTable::new().with("target", move |arguments: Value, ctx: ToolContext| {
        let world = Arc::clone(&world);
        async move { run(&world, arguments, &ctx).await }
    });
    Engines::new().with(table).tools_from([Tool { spec: spec(), call: ExecutionPlan::Function }]).unwrap()
}

pub(crate) fn command(world: Arc<World>) -> Tools {
    let word = |text| ArgvTemplate::One { text, allow_leading_dash: false };
    let values = ["path", "note", "pin"].map(|name| word(Template::Value(argument(name))));
    let program = word(Template::Constant(r#""target""#.into()));
    let plan = CommandPlan {
        argv: [program].into_iter().chain(values).collect(),
        stream: true,
        ..CommandPlan::EMPTY
    };
    let engines = Engines::new().with(CommandEngine::new().executor(Program(world)));
    engines.tools_from([Tool { spec: spec(), call: ExecutionPlan::Command(plan) }]).unwrap()
}

/// Runs the target as a program: `target PATH NOTE PIN`.
struct Program(Arc<World>);

impl Executor for Program {
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        Box::pin(async move {
            let [_, path, note, pin] = argv else { panic!("{} arguments", argv.len()) };
            if stem(path) == "/slow" {
                tokio::time::sleep(Duration::from_secs(30)).await;
            }
            if let Some(listener) = &options.on_line {
                listener.notify(&format!("half of {note}{pin}"));
            }
            Ok(match self.0.target(path, note, pin, &Turn::new("").call_context("1", "t")) {
                Ok(result) => ExecOutput::new(0, result.to_text(), ""),
                Err(error) => ExecOutput::new(1, "", error.to_string()),
            })
        })
    }
}

pub(crate) fn agent(engine: AgentEngine) -> Tools {
    let input = toolgen_runtime::Schema::text(
        r#"{"type":"object","properties":{"task":{"type":"string"}},"required":["task"]}"#,
    );
    let plan = AgentPlan { tools: vec![Text::Static("target")].into(), ..AgentPlan::EMPTY };
    let tool = Tool { spec: ToolSpec { input, ..outer() }, call: ExecutionPlan::Agent(plan) };
    Engines::new().with(engine).tools_from([tool]).unwrap()
}
