//! Sub-agents: agents as tools of other agents.
//!
//! A [`SubAgentTool`] takes a task, runs it with an [`AgentRunner`], and returns the final text. The runner decides
//! which model to use and how to reach it; [`LoopRunner`] is a runner based on
//! [`run_loop`](crate::agent_loop::run_loop).
//!
//! A sub-agent cannot be resumed. If one of its calls waits for an approval or for input, it ends with an error that
//! names the call, with the code `APPROVAL_REQUIRED` or `INPUT_REQUIRED`. If tools of sub-agents need approvals, set
//! an [`Approver`](toolgen_kernel::layers::middleware::Approver) that decides while the sub-agent runs
//! ([`ToolboxBuilder::approver`]); for input, set an [`InputHandler`](toolgen_kernel::layers::control::InputHandler).
//!
//! A sub-agent cannot start other sub-agents. None of its tools can be a sub-agent, which is checked when it is
//! built, and a sub-agent that is nested in any other way refuses to run.

mod builder;
mod engine;
mod monitor;
mod runner;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

pub use builder::{SubAgentBuilder, SubAgentError};
pub use engine::AgentEngine;
pub use monitor::AgentMonitor;
pub use runner::LoopRunner;

use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::redacted_debug::discreet_debug;
use toolgen_kernel::call::Turn;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::session::Session;
use toolgen_kernel::call::tool::{AgentTool, MISSING_TASK};
use toolgen_kernel::registry::Registry;
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::toolbox::{Toolbox, ToolboxBuilder};

/// The result of a sub-agent that produced no text.
const NO_TEXT: &str = "(sub-agent produced no text output)";

/// The error code of a sub-agent that is started by another sub-agent.
const NESTED: &str = "DEPTH_EXCEEDED";

/// Runs the task of a sub-agent.
pub trait AgentRunner: Send + Sync {
    /// Runs the task and returns the agent's final text, which may be empty.
    ///
    /// The runner reports each turn and its cost to the monitor, and stops when the monitor returns an error. Its
    /// future is dropped when the call is cancelled, when the time limit is reached, and when another limit is
    /// reached and the runner does not stop.
    ///
    /// # Errors
    ///
    /// Returns the reason if the agent did not finish: the text of an aborted agent is not a result.
    fn run<'a>(
        &'a self,
        task: AgentTask,
        monitor: &'a AgentMonitor,
    ) -> BoxFuture<'a, Result<String, AgentFailure>>;
}

/// A task for a sub-agent, with everything that its runner needs.
#[derive(Clone)]
#[non_exhaustive]
pub struct AgentTask {
    /// The task, as the delegating agent describes it.
    pub task: String,
    /// The name of the sub-agent.
    pub name: Text,
    /// The ID of this run: `{session}.sub.{number}`.
    pub loop_id: Text,
    /// The system prompt of the model, which may be empty.
    pub system_prompt: Text,
    /// The model and its settings, in a format that the runner defines.
    pub model_config: Value,
    /// The thinking level of the model, in a format that the runner defines; empty if it is not specified.
    pub thinking_level: Text,
    /// The limits of the sub-agent.
    pub limits: AgentLimits,
    /// What its calls share: its own session, a token that fires with that of the call, and the values of the caller.
    pub turn: Turn,
    /// The tools of the sub-agent, which are only called through a toolbox.
    tools: Registry,
}

impl AgentTask {
    /// Returns a builder for the toolbox of the sub-agent. It offers the sub-agent's tools behind the layers of the
    /// calling toolbox, within that toolbox's allow-list, rules and limits, which can only be narrowed.
    #[must_use]
    pub fn toolbox_builder(&self) -> ToolboxBuilder {
        match Toolbox::of(self.turn.base()) {
            Some(caller) => caller.builder_with(&self.tools),
            None => Toolbox::builder(&self.tools),
        }
    }
}

discreet_debug!(
    AgentTask: name, loop_id, thinking_level, tools, limits, turn;
    task, system_prompt, model_config
);

/// The limits of a sub-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// Maximum number of turns of its model.
    pub max_turns: u32,
    /// Maximum cost in tokens, if the runner reports it.
    pub max_tokens: u64,
    /// Maximum run time.
    pub max_time: Duration,
}

impl AgentLimits {
    /// The default limits: 10 turns, 1,000,000 tokens, 300 seconds.
    pub const DEFAULT: AgentLimits =
        AgentLimits { max_turns: 10, max_tokens: 1_000_000, max_time: Duration::from_secs(300) };
}

impl Default for AgentLimits {
    fn default() -> Self {
        AgentLimits::DEFAULT
    }
}

/// Reason why a sub-agent did not finish.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentFailure {
    /// It was aborted or stopped, with the reason.
    Aborted(String),
    /// Its calls wait for an approval, with the calls and reasons.
    ApprovalRequired(String),
    /// Its calls wait for input, with the calls and requests.
    InputRequired(String),
    /// It repeated itself in a loop.
    Looped,
    /// It would have exceeded this number of turns.
    MaxTurns(u32),
    /// It exceeded this number of tokens.
    MaxTokens(u64),
    /// The cancellation token of its context fired.
    Cancelled,
    /// A failure, such as of the connection to its model, with the reason.
    Failed(String),
}

impl AgentFailure {
    fn of(self, name: &str) -> ToolError {
        let failed = |code, what: String| ToolError::failed_with(code, format!("Sub-agent '{name}' {what}"));
        let waits = |code, reason: &str, help| {
            let text = format!("was aborted: {reason}");
            let detail = format!(
                "Sub-agent '{name}' {text}\nA sub-agent cannot be resumed: set {help} that decides while it runs."
            );
            failed(code, text).with_operator_detail(detail)
        };
        match self {
            AgentFailure::Aborted(reason) => failed("AGENT_ABORTED", format!("was aborted: {reason}")),
            AgentFailure::ApprovalRequired(reason) => {
                waits("APPROVAL_REQUIRED", &reason, "an approver (`ToolboxBuilder::approver`)")
            }
            AgentFailure::InputRequired(reason) => {
                waits("INPUT_REQUIRED", &reason, "an input handler (`ToolboxBuilder::input_handler`)")
            }
            AgentFailure::Looped => {
                failed("AGENT_LOOPED", "was stopped because it went in circles".to_owned())
            }
            AgentFailure::MaxTurns(max) => failed("AGENT_LIMIT", format!("reached its limit of {max} turns")),
            AgentFailure::MaxTokens(max) => {
                failed("AGENT_LIMIT", format!("reached its limit of {max} tokens"))
            }
            AgentFailure::Cancelled => ToolError::Cancelled,
            AgentFailure::Failed(reason) => failed("EXECUTION_ERROR", format!("failed: {reason}")),
        }
    }
}

impl fmt::Display for AgentFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentFailure::Aborted(reason)
            | AgentFailure::ApprovalRequired(reason)
            | AgentFailure::InputRequired(reason)
            | AgentFailure::Failed(reason) => f.write_str(reason),
            AgentFailure::Looped => f.write_str("it went in circles"),
            AgentFailure::MaxTurns(max) => write!(f, "it reached its limit of {max} turns"),
            AgentFailure::MaxTokens(max) => write!(f, "it reached its limit of {max} tokens"),
            AgentFailure::Cancelled => f.write_str("Cancelled"),
        }
    }
}

toolgen_core::__readable_debug!(AgentFailure);

impl std::error::Error for AgentFailure {}

/// A tool that runs a task with another agent. Its only argument is `task`; its result is the final text of the
/// agent, with `{"sub_agent", "turns"}` as details.
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::agent::sub_agent::{AgentMonitor, AgentTask, LoopRunner, SubAgentTool};
/// use toolgen_runtime::agent::agent_loop::{Entry, ModelTurn, Transcript};
/// use toolgen_runtime::{Registry, ToolCall, Turn, tool, toolset};
///
/// /// Searches the documentation.
/// #[tool(read_only, undocumented)]
/// fn search(query: String) -> String {
///     format!("3 pages about {query}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Simulates a language model; `task` holds the model settings and the system prompt.
/// let runner = LoopRunner::new(|_task: &AgentTask, _monitor: &AgentMonitor| {
///     |transcript: Transcript| async move {
///         Ok::<_, String>(match transcript.last() {
///             Some(Entry::Answer(found)) => ModelTurn::text(format!("I found {}.", found.text())),
///             _ => ModelTurn::calls([ToolCall::new("1", "search", json!({"query": "loops"}))]),
///         })
///     }
/// });
/// let researcher = SubAgentTool::builder("researcher", runner)
///     .system_prompt("You find things.")
///     .tools(toolset![search])
///     .build()?;
/// let toolbox = Registry::builder().add(researcher).seal()?.toolbox(Default::default());
/// let call = ToolCall::new("call-1", "researcher", json!({"task": "What is there about loops?"}));
/// let answer = toolbox.run(call, &Turn::new("turn-1")).await;
/// assert_eq!(answer.text(), "I found 3 pages about loops.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SubAgentTool {
    spec: ToolSpec,
    runner: Arc<dyn AgentRunner>,
    system_prompt: Text,
    model_config: Value,
    thinking_level: Text,
    tools: Registry,
    limits: AgentLimits,
    /// The action that an approval of a call is bound to, for a compiled agent.
    action: Option<Text>,
}

impl SubAgentTool {
    /// Returns a builder for a sub-agent with this name.
    pub fn builder(name: impl Into<Text>, runner: impl AgentRunner + 'static) -> SubAgentBuilder {
        SubAgentBuilder::new(name.into(), Arc::new(runner))
    }

    /// Returns the limits of the sub-agent.
    #[must_use]
    pub fn limits(&self) -> AgentLimits {
        self.limits
    }

    async fn delegate(&self, task: String, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let name = self.spec.name.to_text();
        if ctx.agent_depth() > 0 {
            return Err(ToolError::failed_with(NESTED, "a sub-agent cannot start another"));
        }
        let loop_id = loop_id(ctx);
        let token = ctx.cancel().child_token();
        // However this call ends, it stops every part of the sub-agent.
        let _stop = token.clone().drop_guard();
        let turn = ctx.for_agent(name.clone(), Session::new(loop_id.clone()), token.clone());
        let monitor = AgentMonitor::new(ctx.clone(), token.clone(), self.limits);
        let task = AgentTask {
            task,
            name: name.clone(),
            loop_id: loop_id.clone(),
            system_prompt: self.system_prompt.clone(),
            model_config: self.model_config.clone(),
            thinking_level: self.thinking_level.clone(),
            tools: self.tools.clone(),
            limits: self.limits,
            turn,
        };
        let run = token.run_until_cancelled(self.runner.run(task, &monitor));
        let ended = tokio::time::timeout(self.limits.max_time, run).await;
        monitor.flush();
        if let Some(limit) = monitor.exceeded() {
            return Err(limit.of(&name));
        }
        let text = match ended {
            Err(_) => return Err(ToolError::Timeout { duration: self.limits.max_time }),
            // Text from an agent that is being stopped is not a result.
            Ok(_) if ctx.is_cancelled() => return Err(ToolError::Cancelled),
            Ok(None) => return Err(ToolError::Cancelled),
            Ok(Some(ended)) => ended.map_err(|error| error.of(&name))?,
        };
        let text = if text.trim().is_empty() { NO_TEXT.to_owned() } else { text };
        let details = json!({ "sub_agent": name.as_str(), "turns": monitor.turns() });
        Ok(ToolResult::text(text).with_details(details).with_child_loop(loop_id.as_str()))
    }
}

impl AgentTool for SubAgentTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn action(&self) -> Option<String> {
        self.action.as_ref().map(ToString::to_string)
    }

    fn own_tools(&self) -> Vec<&ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let Some(task) = params.get("task").and_then(Value::as_str) else {
                return Err(ToolError::invalid_args(MISSING_TASK));
            };
            self.delegate(task.to_owned(), ctx).await
        })
    }
}

impl fmt::Debug for SubAgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubAgentTool")
            .field("name", &self.spec.name.as_str())
            .field("tools", &self.tools)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Number of sub-agents that a session has started.
#[derive(Default)]
struct Started(AtomicU64);

fn loop_id(ctx: &ToolContext) -> Text {
    match ctx.session() {
        Some(session) => {
            let number = session.state::<Started>().0.fetch_add(1, Ordering::Relaxed) + 1;
            format!("{}.sub.{number}", session.id()).into()
        }
        // Without a session, no earlier runs are known.
        None => format!("{}.sub.1", ctx.tool_call_id).into(),
    }
}
