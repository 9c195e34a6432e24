//! Agents that are tools of other agents.
#![allow(clippy::needless_pass_by_value, reason = "tools take what a model sends")]

mod built;
mod dropped;
mod limits;
mod looped;
mod results;
mod rights;

use toolgen_runtime::agent::sub_agent::{AgentRunner, SubAgentBuilder, SubAgentTool};

use crate::prelude::*;

/// Looks something up.
#[tool(undocumented, read_only)]
fn look_up(what: String) -> String {
    format!("{what} is 42")
}

/// A runner from a function.
struct By<F>(F);

impl<F, Done> AgentRunner for By<F>
where
    F: Fn(AgentTask, AgentMonitor) -> Done + Send + Sync,
    Done: Future<Output = Result<String, AgentFailure>> + Send,
{
    fn run<'a>(
        &'a self,
        task: AgentTask,
        monitor: &'a AgentMonitor,
    ) -> BoxFuture<'a, Result<String, AgentFailure>> {
        Box::pin(async move { (self.0)(task, monitor.clone()).await })
    }
}

/// A sub-agent that returns this text.
fn says(text: &'static str) -> SubAgentBuilder {
    SubAgentTool::builder("helper", By(move |_, _| async move { Ok(text.to_owned()) }))
}

fn behind(tool: impl AgentTool + 'static) -> ToolboxBuilder {
    Toolbox::builder(&Registry::builder().add(tool).seal().unwrap())
}

fn toolbox(tool: SubAgentBuilder) -> Toolbox {
    behind(tool.build().unwrap()).build().unwrap()
}

fn turn() -> Turn {
    Turn::new("turn").with_session(Session::new("s-1"))
}

async fn call_in(toolbox: &Toolbox, arguments: Value, turn: &Turn) -> ToolResponse {
    toolbox.run(ToolCall::new("c1", "helper", arguments), turn).await
}

async fn call(tool: SubAgentBuilder) -> ToolResponse {
    call_in(&toolbox(tool), json!({"task": "find it"}), &turn()).await
}

/// A context that records its updates.
fn watched(turn: Turn) -> (Turn, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let updates = seen.clone();
    (turn.with_on_update(move |update| updates.lock().unwrap().push(update.to_text())), seen)
}
