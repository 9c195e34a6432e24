//! The loop of an agent.
#![allow(clippy::needless_pass_by_value, reason = "tools take what a model sends")]

mod calls;
mod ends;
mod random;
mod steering;

use std::collections::VecDeque;

use toolgen_runtime::agent::agent_loop::{LanguageModel, LoopRun};
use toolgen_runtime::layers::control::AskQuestion;

use crate::prelude::*;

/// The calls that ran, in order.
#[derive(Clone, Default)]
struct Ran(Arc<Mutex<Vec<String>>>);

impl Ran {
    fn note(&self, what: &str) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Runs a command.
#[tool(undocumented)]
fn shell(cmd: String, #[inject] ran: Service<Ran>) -> Result<Value, ToolError> {
    ran.note(&cmd);
    match cmd.as_str() {
        "break" => Err(ToolError::failed("it broke")),
        "refuse" => Ok(json!({"success": false, "error": "no"})),
        "false" => Ok(json!({"exit_code": 1, "stdout": ""})),
        _ => Ok(json!({"exit_code": 0, "stdout": cmd})),
    }
}

/// Hands in a plan.
#[tool(undocumented, complete(next_state = "PLAN_REVIEW"))]
fn submit_plan(plan: String) -> Result<ToolResult, ToolError> {
    match plan.as_str() {
        "" => Err(ToolError::failed("the plan is empty")),
        "bad" => Ok(ToolResult::json(json!({"success": false, "error": "the plan is bad"}))),
        _ => Ok(ToolResult::json(json!({"plan": plan}))),
    }
}

/// Says that all is done.
#[tool(complete(next_state = "PREPARE_MERGE"))]
fn done() {}

/// Ends, without a state to go to.
#[tool(complete)]
fn stop() {}

/// Needs the shell to have been used.
#[tool(requires(tool("shell")))]
fn report() -> &'static str {
    "reported"
}

/// Never comes back.
#[tool(timeout = "none")]
async fn hang() {
    std::future::pending::<()>().await;
}

fn builder(ran: &Ran) -> ToolboxBuilder {
    let tools = toolset![shell, submit_plan, done, stop, report, hang];
    let registry = Registry::new(tools).unwrap().to_builder().add(AskQuestion).seal().unwrap();
    let context = ToolboxContext::new().with_service(Arc::new(ran.clone()));
    Toolbox::builder(&registry).context(context)
}

/// A model that returns the given turns, and then a final text.
struct Script(VecDeque<ModelTurn>);

impl Script {
    fn new(turns: impl IntoIterator<Item = ModelTurn>) -> Script {
        Script(turns.into_iter().collect())
    }
}

impl LanguageModel for Script {
    type Error = String;

    fn next<'a>(&'a mut self, transcript: &'a Transcript) -> BoxFuture<'a, Result<ModelTurn, String>> {
        assert_answered(transcript);
        let turn = self.0.pop_front().ok_or_else(|| "nothing more to say".to_owned());
        Box::pin(async { turn })
    }
}

/// Calls, numbered from `c1`.
fn calls<const N: usize>(calls: [(&str, Value); N]) -> ModelTurn {
    let numbered = calls.into_iter().enumerate();
    ModelTurn::calls(
        numbered.map(|(index, (name, args))| ToolCall::new(format!("c{}", index + 1), name, args)),
    )
}

fn shell_call(cmd: &str) -> ModelTurn {
    calls([("shell", json!({ "cmd": cmd }))])
}

/// Checks that every turn of the model is followed by the results of its calls, each once and in order.
fn assert_answered(transcript: &Transcript) {
    let mut entries = transcript.iter();
    while let Some(entry) = entries.next() {
        match entry {
            Entry::Model(turn) => {
                for call in &turn.calls {
                    let Some(Entry::Answer(response)) = entries.next() else {
                        panic!("{} was not answered: {transcript:#?}", call.id)
                    };
                    assert_eq!((&response.id, &response.name), (&call.id, &call.name));
                }
            }
            Entry::Answer(response) => panic!("{} was answered twice or never made", response.id),
            _ => {}
        }
    }
}

async fn run_in(
    toolbox: &Toolbox,
    turns: impl IntoIterator<Item = ModelTurn>,
    context: &Turn,
    options: &LoopOptions,
) -> LoopRun<String> {
    let run = run_loop(toolbox, &mut Script::new(turns), context, Transcript::user("go"), options).await;
    assert_answered(&run.transcript);
    run
}

async fn run(turns: impl IntoIterator<Item = ModelTurn>) -> (LoopRun<String>, Vec<String>) {
    let ran = Ran::default();
    let toolbox = builder(&ran).build().unwrap();
    let run = run_in(&toolbox, turns, &Turn::new("turn"), &LoopOptions::new()).await;
    (run, ran.all())
}

/// Returns the text of each result of the last turn with calls.
fn answers(run: &LoopRun<String>) -> Vec<String> {
    run.transcript.last_results().map(ToolResponse::text).collect()
}

fn stopped_by(token: &CancellationToken) -> Turn {
    Turn::new("turn").with_cancel(token.clone())
}
