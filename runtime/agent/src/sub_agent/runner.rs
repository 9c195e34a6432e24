//! Runner of sub-agents based on the agent loop.

use std::fmt;
use std::sync::Arc;

use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::Dialects;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::toolbox::{Toolbox, ToolboxError};
use toolgen_wire::{PlanError, Usage};

use super::{AgentFailure, AgentMonitor, AgentRunner, AgentTask};
use crate::agent_loop::{
    Agent, AgentListener, Cost, Entry, LanguageModel, LoopEnd, LoopError, LoopOptions, LoopRun, ModelInfo,
    ModelTurn, Transcript,
};

/// Creates the toolbox of a sub-agent.
type MakeToolbox = dyn Fn(&AgentTask) -> Result<Toolbox, ToolboxError> + Send + Sync;

/// Runs each sub-agent as an [`Agent`]. The function that you pass to [`new`](Self::new) returns the model for a task:
/// it reads the system prompt and the model settings from the task, and may report pieces of text to the monitor as
/// they arrive. If it reports none during a turn, the text of the turn is reported as a whole.
///
/// The calls of the sub-agent pass the same layers as the call that started it: policy, middleware, approvals, hooks,
/// events, audit. Limits, rules and the allow-list also apply to its tools. [`with_toolbox`](Self::with_toolbox) adds
/// and replaces layers. See [`SubAgentTool`](super::SubAgentTool) for an example.
///
/// If a call waits for an approval or for input, the sub-agent ends with an error that names the call, because a
/// sub-agent cannot be resumed. Set an [`Approver`](toolgen_kernel::layers::middleware::Approver) or an
/// [`InputHandler`](toolgen_kernel::layers::control::InputHandler), which decide while it runs. With
/// [`continue_when_waiting`](Self::continue_when_waiting), its model reads that the call waits, and continues without
/// it.
#[derive(Clone)]
pub struct LoopRunner<F> {
    model: F,
    options: LoopOptions,
    stops_when_waiting: bool,
    toolbox: Option<Arc<MakeToolbox>>,
}

impl<F> LoopRunner<F> {
    /// Creates a runner with the models that the function returns.
    pub fn new<M>(model: F) -> LoopRunner<F>
    where
        F: Fn(&AgentTask, &AgentMonitor) -> M + Send + Sync,
        M: LanguageModel,
        M::Error: fmt::Display,
    {
        LoopRunner { model, options: LoopOptions::new(), stops_when_waiting: true, toolbox: None }
    }

    /// Sets the options of the loops. The number of iterations is replaced by the turn limit of the sub-agent, and
    /// [`continue_when_waiting`](Self::continue_when_waiting) decides whether it stops when a call waits.
    #[must_use]
    pub fn with_options(mut self, options: LoopOptions) -> LoopRunner<F> {
        self.options = options;
        self
    }

    /// Lets the model of the sub-agent read that a call waits, and continue. Otherwise the sub-agent ends with an
    /// error.
    #[must_use]
    pub fn continue_when_waiting(mut self) -> LoopRunner<F> {
        self.stops_when_waiting = false;
        self
    }

    /// Sets how to create the toolbox for the calls of the sub-agent, from
    /// [`AgentTask::toolbox_builder`](super::AgentTask::toolbox_builder).
    #[must_use]
    pub fn with_toolbox(
        mut self,
        toolbox: impl Fn(&AgentTask) -> Result<Toolbox, ToolboxError> + Send + Sync + 'static,
    ) -> LoopRunner<F> {
        self.toolbox = Some(Arc::new(toolbox));
        self
    }

    fn toolbox(&self, task: &AgentTask) -> Result<Toolbox, ToolboxError> {
        match &self.toolbox {
            Some(make) => make(task),
            None => task.toolbox_builder().build(),
        }
    }
}

impl<F, M> AgentRunner for LoopRunner<F>
where
    F: Fn(&AgentTask, &AgentMonitor) -> M + Send + Sync,
    M: LanguageModel,
    M::Error: fmt::Display,
{
    fn run<'a>(
        &'a self,
        task: AgentTask,
        monitor: &'a AgentMonitor,
    ) -> BoxFuture<'a, Result<String, AgentFailure>> {
        Box::pin(async move {
            let toolbox = self.toolbox(&task).map_err(|error| AgentFailure::Failed(error.to_string()))?;
            let model = Monitored { model: (self.model)(&task, monitor), monitor: monitor.clone() };
            let mut options = self.options.clone().with_max_iterations(task.limits.max_turns);
            options.stop_when_waiting = self.stops_when_waiting;
            let mut agent = Agent::new(model, &toolbox).with_turn(task.turn).with_limits(options);
            let LoopRun { outcome, transcript, .. } = agent.run(task.task).await;
            match outcome {
                Ok(LoopEnd::Text(text)) => Ok(text),
                Ok(LoopEnd::Completed(completed)) => Ok(final_text(&transcript, &completed.call_id)),
                Ok(LoopEnd::Waiting) => Err(waiting(&transcript)),
                Err(LoopError::NoToolCalls) => Err(AgentFailure::Looped),
                Err(LoopError::MaxIterations(max)) => Err(AgentFailure::MaxTurns(max)),
                Err(LoopError::MaxTokens(max)) => Err(AgentFailure::MaxTokens(max)),
                Err(error @ LoopError::MaxTime(_)) => Err(AgentFailure::Aborted(error.to_string())),
                Err(LoopError::Cancelled) => Err(AgentFailure::Cancelled),
                Err(LoopError::Tools(error)) => Err(AgentFailure::Failed(error.to_string())),
                Err(error @ (LoopError::MaxCost(_) | LoopError::NoPrice(_))) => {
                    Err(AgentFailure::Aborted(error.to_string()))
                }
                Err(LoopError::Model(error)) => Err(error),
            }
        })
    }
}

impl<F> fmt::Debug for LoopRunner<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopRunner").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Returns the failure of an agent with waiting calls: which calls, and why they wait.
fn waiting(transcript: &Transcript) -> AgentFailure {
    let mut for_input = true;
    let waits = transcript.last_results().filter_map(|response| match &response.outcome {
        Err(error @ (ToolError::ApprovalRequired(_) | ToolError::InputRequired(_))) => {
            for_input &= matches!(error, ToolError::InputRequired(_));
            Some(format!("its call of '{}' waits. {error}", response.name))
        }
        _ => None,
    });
    let waits = waits.collect::<Vec<_>>().join(" ");
    if for_input { AgentFailure::InputRequired(waits) } else { AgentFailure::ApprovalRequired(waits) }
}

/// Returns the text of an agent that ended with a completion tool: its last text, or else the result of the tool.
fn final_text(transcript: &Transcript, completed: &str) -> String {
    let texts = transcript.iter().rev().filter_map(|entry| match entry {
        Entry::Model(turn) if !turn.text.trim().is_empty() => Some(turn.text.clone()),
        _ => None,
    });
    let given = || {
        let mut responses = transcript.last_results();
        responses
            .find(|response| response.id == *completed)
            .map(toolgen_kernel::call::ToolResponse::text)
            .unwrap_or_default()
    };
    texts.take(1).next().unwrap_or_else(given)
}

/// A model whose turns are reported to a monitor.
struct Monitored<M> {
    model: M,
    monitor: AgentMonitor,
}

impl<M> LanguageModel for Monitored<M>
where
    M: LanguageModel,
    M::Error: fmt::Display,
{
    type Error = AgentFailure;

    fn about(&self) -> ModelInfo {
        self.model.about()
    }

    fn offer(&mut self, toolbox: &Toolbox) -> Result<Option<Dialects>, PlanError> {
        self.model.offer(toolbox)
    }

    fn report_to(&mut self, listener: Option<AgentListener>) {
        self.model.report_to(listener);
    }

    fn cost(&self, usage: &Usage) -> Option<Cost> {
        self.model.cost(usage)
    }

    fn next<'a>(&'a mut self, transcript: &'a Transcript) -> BoxFuture<'a, Result<ModelTurn, AgentFailure>> {
        Box::pin(async move {
            self.monitor.begin_turn()?;
            let before = self.monitor.text_count();
            let turn = self.model.next(transcript).await;
            let turn = turn.map_err(|error| AgentFailure::Failed(error.to_string()))?;
            if self.monitor.text_count() == before {
                self.monitor.text(&turn.text);
            }
            self.monitor.add_tokens(turn.tokens)?;
            for call in &turn.calls {
                self.monitor.report_call(&call.name);
            }
            Ok(turn)
        })
    }
}
