//! A small agent loop: it calls the model, runs the tool calls, and repeats until the model is done.
//!
//! An [`Agent`] has a model and a toolbox. The model is a function, a [`WireModel`], which needs only a function that
//! sends JSON to a vendor, or another [`LanguageModel`]. A [`Transcript`] renders itself in the message format of each vendor.
//! All calls of a turn go through the toolbox, and every call gets a result, even if a call of the turn completes the loop, fails,
//! or was truncated. Only then does the loop act on the results.

mod agent;
mod cost;
mod event;
mod model;
mod options;
mod render;
#[cfg_attr(not(feature = "otel"), path = "agent_loop/without_otel.rs")]
mod spans;
mod stream;
pub(crate) mod template;
mod transcript;
pub(crate) mod wire_model;

use std::fmt;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;

pub use agent::Agent;
pub use cost::Cost;
pub use event::{AgentEvent, AgentListener};
pub use model::{LanguageModel, ModelInfo};
pub use options::{DEFAULT_MAX_ITERATIONS, LoopOptions, WithoutCalls};
pub use render::{LostContent, RenderedTranscript};
pub use stream::AgentStream;
pub use transcript::{Entry, ModelTurn, SteeringMessages, Transcript};
pub use wire_model::{ModelError, WireModel};

use spans::{AgentSpan, request_turn};

use toolgen_kernel::base::depth::{is_shallow, shallow};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::redacted_debug::{Redacted, discreet_debug};
use toolgen_kernel::call::context::ModelRequest;
use toolgen_kernel::call::control::Control;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::{ToolCall, ToolResponse, Turn};
use toolgen_kernel::toolbox::Toolbox;
use toolgen_kernel::toolbox::dispatch::DispatchOptions;
use toolgen_wire::{PlanError, StopReason, Usage};

/// The outcome of a loop, and its transcript.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoopRun<E> {
    /// How the loop ended.
    pub outcome: Result<LoopEnd, LoopError<E>>,
    /// The whole conversation, with a result for every call.
    pub transcript: Transcript,
    /// Number of requests to the model.
    pub iterations: u32,
    /// The cost of the requests; `None` if the model has no price.
    pub cost: Option<Cost>,
}

impl<E> LoopRun<E> {
    /// Why the model stopped in its last turn: its text may be complete, truncated or refused. [`StopReason::Failed`] if
    /// the request failed, [`StopReason::Unknown`] if the model was not called.
    #[must_use]
    pub fn stop(&self) -> StopReason {
        if matches!(self.outcome, Err(LoopError::Model(_))) {
            return StopReason::Failed;
        }
        self.transcript.turns().next_back().map_or(StopReason::Unknown, |turn| turn.stop)
    }

    /// Returns the text that ended the loop. Empty if the loop ended otherwise.
    ///
    /// # Errors
    ///
    /// Returns the reason if the loop was stopped.
    pub fn text(self) -> Result<String, LoopError<E>> {
        match self.outcome? {
            LoopEnd::Text(text) => Ok(text),
            LoopEnd::Completed(_) | LoopEnd::Waiting => Ok(String::new()),
        }
    }
}

/// The regular end of a loop.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum LoopEnd {
    /// The model replied with this text and made no calls.
    Text(String),
    /// A tool completed the loop.
    Completed(Completed),
    /// Calls of the last turn wait, see [`LoopOptions::stop_when_waiting`]; the model has not read their results yet.
    /// [`Transcript::last_results`] contains what they wait for. After you resume them, replace the results with
    /// [`Transcript::replace_result`] and run a loop from there.
    Waiting,
}

/// The tool that completed the loop, and its result.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Completed {
    /// The model's ID of the call.
    pub call_id: Text,
    /// The name of the tool.
    pub tool: Text,
    /// The signal for the next state, see [`StateMap`](crate::state_map::StateMap). Empty if the tool has no signal.
    pub signal: Text,
    /// The data for the next state.
    pub data: Value,
}

impl fmt::Debug for LoopEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoopEnd::Text(text) => f.debug_tuple("Text").field(&Redacted(text)).finish(),
            LoopEnd::Completed(completed) => completed.fmt(f),
            LoopEnd::Waiting => f.write_str("Waiting"),
        }
    }
}

discreet_debug!(Completed: call_id, tool, signal; data);

/// Reason why a loop was stopped.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopError<E> {
    /// The model made no tool call although it was required to: `the model made no tool call twice in a row`
    NoToolCalls,
    /// `maximum tool iterations ({n}) exceeded`
    MaxIterations(u32),
    /// `maximum tokens ({n}) exceeded`
    MaxTokens(u64),
    /// `maximum cost ({cost}) exceeded`
    MaxCost(Cost),
    /// A maximum cost is set, but the price of this model is unknown.
    NoPrice(Text),
    /// `maximum time ({duration}) exceeded`
    MaxTime(Duration),
    /// The cancellation token of the turn fired: `Cancelled`
    Cancelled,
    /// The tools cannot be expressed for the model.
    Tools(PlanError),
    /// The model failed, with its error.
    Model(E),
}

impl<E> LoopError<E> {
    fn tell(
        &self,
        f: &mut fmt::Formatter<'_>,
        model: impl Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        match self {
            LoopError::NoToolCalls => f.write_str("the model made no tool call twice in a row"),
            LoopError::MaxIterations(max) => write!(f, "maximum tool iterations ({max}) exceeded"),
            LoopError::MaxTokens(max) => write!(f, "maximum tokens ({max}) exceeded"),
            LoopError::MaxCost(max) => write!(f, "maximum cost ({max}) exceeded"),
            LoopError::NoPrice(model) => write!(
                f,
                "a maximum cost is set, but the price of the model `{model}` is unknown: set it with `Model::with_prices`, or \
                 limit the tokens instead"
            ),
            LoopError::MaxTime(max) => write!(f, "maximum time ({max:?}) exceeded"),
            LoopError::Cancelled => f.write_str("Cancelled"),
            LoopError::Tools(error) => write!(f, "{error}"),
            LoopError::Model(reason) => model(reason, f),
        }
    }
}

impl<E: fmt::Display> fmt::Display for LoopError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tell(f, E::fmt)
    }
}

impl<E: fmt::Debug> fmt::Debug for LoopError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tell(f, E::fmt)
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for LoopError<E> {}

/// Runs an agent: calls the model and runs its tool calls through the toolbox, until
///
/// - a tool completes the loop. If several calls of a turn do, the first in the order of the calls counts. All calls
///   of the turn are run and get results. A completion tool that fails does not complete the loop;
/// - the model makes no calls, see [`WithoutCalls`]. If a user message is queued, the model reads it first; a model
///   that its vendor paused continues;
/// - a limit of the options is reached: the number of requests, tokens, or time;
/// - the model fails, or the cancellation token of the turn fires.
///
/// The turn applies to all requests of the loop. If it has no session, the loop creates one, so that tools can depend on earlier
/// calls of other tools, and repeated failures are stopped.
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::agent::agent_loop::{Entry, LoopEnd, LoopOptions, ModelTurn, Transcript, run_loop};
/// use toolgen_runtime::{ToolCall, Toolbox, Turn, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only, undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolbox = Toolbox::new(toolset![add])?;
/// // Simulates a language model: makes one call, then reports the result.
/// let mut model = |transcript: Transcript| async move {
///     Ok::<_, String>(match transcript.last() {
///         Some(Entry::Answer(response)) => ModelTurn::text(format!("It is {}.", response.text())),
///         _ => ModelTurn::calls([ToolCall::new("call-1", "add", json!({"a": 1, "b": 2}))]),
///     })
/// };
/// let turn = Turn::new("loop-1");
/// let run = run_loop(&toolbox, &mut model, &turn, Transcript::user("1 + 2?"), &LoopOptions::new()).await;
/// assert_eq!(run.outcome, Ok(LoopEnd::Text("It is 3.".to_owned())));
/// # Ok(())
/// # }
/// ```
pub async fn run_loop<M: LanguageModel + ?Sized>(
    toolbox: &Toolbox,
    model: &mut M,
    turn: &Turn,
    transcript: Transcript,
    options: &LoopOptions,
) -> LoopRun<M::Error> {
    let mut turn = turn.for_loop();
    let info = model.about();
    let span = AgentSpan::begin(toolbox, turn.base_mut(), &info);
    let dispatch = options.steered();
    let cost = model.cost(&Usage::default());
    let mut run = Running { toolbox, turn, options, dispatch, transcript, iterations: 0, tokens: 0, cost };
    let outcome = span.instrument(pin!(run.finish_in_time(model, &info, &span))).await;
    span.end(&outcome);
    LoopRun { outcome, transcript: run.transcript, iterations: run.iterations, cost: run.cost }
}

struct Running<'a> {
    toolbox: &'a Toolbox,
    turn: Turn,
    options: &'a LoopOptions,
    dispatch: DispatchOptions,
    transcript: Transcript,
    iterations: u32,
    tokens: u64,
    /// `None` if the model has no price.
    cost: Option<Cost>,
}

impl Running<'_> {
    /// Runs the loop, and cancels it when the time limit is reached.
    async fn finish_in_time<M: LanguageModel + ?Sized>(
        &mut self,
        model: &mut M,
        info: &ModelInfo,
        span: &AgentSpan,
    ) -> Result<LoopEnd, LoopError<M::Error>> {
        let Some(max) = self.options.max_time else { return self.finish(model, info, span).await };
        let caller = self.turn.cancel().clone();
        let token = caller.child_token();
        self.turn = self.turn.clone().with_cancel(token.clone());
        let mut run = pin!(self.finish(model, info, span));
        if let Ok(outcome) = tokio::time::timeout(max, &mut run).await {
            return outcome;
        }
        token.cancel();
        match run.await {
            Err(LoopError::Cancelled) if !caller.is_cancelled() => Err(LoopError::MaxTime(max)),
            outcome => outcome,
        }
    }

    async fn finish<M: LanguageModel + ?Sized>(
        &mut self,
        model: &mut M,
        info: &ModelInfo,
        span: &AgentSpan,
    ) -> Result<LoopEnd, LoopError<M::Error>> {
        let mut nudged = false;
        if self.options.max_cost.is_some() && self.cost.is_none() {
            return Err(LoopError::NoPrice(info.model.clone()));
        }
        while self.iterations < self.options.max_iterations {
            if self.turn.is_cancelled() {
                return Err(LoopError::Cancelled);
            }
            if let Some(max) = self.options.max_tokens.filter(|max| self.tokens >= *max) {
                return Err(LoopError::MaxTokens(max));
            }
            if let Some(max) = self.options.max_cost.filter(|max| self.cost >= Some(*max)) {
                return Err(LoopError::MaxCost(max));
            }
            // A program that waits for results accepts nothing else with them.
            let is_for_program =
                |entry: &Entry| matches!(entry, Entry::Answer(answer) if answer.program.is_some());
            if !self.transcript.iter().next_back().is_some_and(is_for_program) {
                for text in self.options.messages.iter().flat_map(SteeringMessages::take) {
                    self.transcript.push(Entry::User(text));
                }
            }
            self.iterations += 1;
            let mut message = self.next_turn(model, info, span).await?;
            message.calls.iter_mut().for_each(ToolCall::shallow);
            if !message.raw.messages.iter().all(is_shallow) {
                message.raw.messages = message.raw.messages.into_iter().filter_map(shallow).collect();
            }
            let (text, calls, stop) = (message.text.clone(), message.calls.clone(), message.stop);
            self.transcript.push(Entry::Model(message));
            if !calls.is_empty() {
                nudged = false;
                if let Some(end) = self.answer(calls).await {
                    return Ok(end);
                }
                continue;
            }
            match &self.options.without_calls {
                _ if self.user_waits() || stop == StopReason::Paused => nudged = false,
                WithoutCalls::End => return Ok(LoopEnd::Text(text)),
                WithoutCalls::Nudge(_) if nudged => return Err(LoopError::NoToolCalls),
                WithoutCalls::Nudge(nudge) => {
                    nudged = true;
                    self.transcript.push(Entry::User(nudge.as_str().to_owned()));
                }
            }
        }
        if self.turn.is_cancelled() {
            return Err(LoopError::Cancelled);
        }
        Err(LoopError::MaxIterations(self.options.max_iterations))
    }

    /// Asks the model for its next turn, counts what it costs, and reports it.
    async fn next_turn<M: LanguageModel + ?Sized>(
        &mut self,
        model: &mut M,
        info: &ModelInfo,
        span: &AgentSpan,
    ) -> Result<ModelTurn, LoopError<M::Error>> {
        let listening = self.options.listener.as_ref().map(AgentListener::noting_text);
        model.report_to(listening.as_ref().map(|(listener, _)| listener.clone()));
        let message = request_turn(model, info, &self.transcript, span);
        let message = self.turn.cancel().run_until_cancelled(message).await;
        let message = message.ok_or(LoopError::Cancelled)?.map_err(LoopError::Model)?;
        self.tokens = self.tokens.saturating_add(message.usage.total().max(message.tokens));
        let cost = model.cost(&message.usage);
        self.cost = self.cost.zip(cost).map(|(sum, cost)| sum.plus(cost));
        if let Some((listener, has_text)) = listening {
            if !has_text.load(Ordering::Relaxed) && !message.text.is_empty() {
                listener.report(AgentEvent::Text(message.text.clone()));
            }
            listener.report(AgentEvent::Turn { usage: message.usage, cost });
        }
        if !message.calls.is_empty() {
            self.set_request(info, message.usage, cost);
        }
        Ok(message)
    }

    fn report(&self, event: impl FnOnce() -> AgentEvent) {
        if let Some(listener) = &self.options.listener {
            listener.report(event());
        }
    }

    /// Tells the layers that record the next calls which request led to them.
    fn set_request(&mut self, info: &ModelInfo, usage: Usage, cost: Option<Cost>) {
        let first = self.transcript.iter().find_map(|entry| match entry {
            Entry::User(text) => Some(Text::copy_of(text)),
            _ => None,
        });
        let tokens = (usage.input, usage.output);
        let first = first.unwrap_or_default();
        let request = ModelRequest::new(first, info.model.clone(), tokens, cost.map(Cost::as_usd));
        self.turn.base_mut().set_extension(request);
    }

    /// Runs the calls of a turn, and returns the end of the loop if they end it.
    async fn answer(&mut self, calls: Vec<ToolCall>) -> Option<LoopEnd> {
        for call in &calls {
            self.report(|| {
                let arguments = self.toolbox.redacted_arguments(call);
                AgentEvent::Call { id: call.id.clone(), tool: call.name.clone(), arguments }
            });
        }
        let responses = self.toolbox.dispatch(calls, &self.turn, &self.dispatch).await.responses;
        for response in &responses {
            self.report(|| AgentEvent::Result(Box::new(response.clone())));
        }
        let completed = responses.iter().find_map(completed);
        let waits = self.options.stop_when_waiting && responses.iter().any(waits);
        for response in responses {
            self.transcript.push(Entry::Answer(Box::new(response)));
        }
        completed.map(LoopEnd::Completed).or_else(|| waits.then_some(LoopEnd::Waiting))
    }

    fn user_waits(&self) -> bool {
        self.options.messages.as_ref().is_some_and(|messages| !messages.is_empty())
    }
}

/// Returns the completion of a call, if it completed the loop.
fn completed(response: &ToolResponse) -> Option<Completed> {
    let Ok(result) = &response.outcome else { return None };
    let Control::Complete { signal, data } = &result.control else { return None };
    let (call_id, tool) = (response.id.clone(), response.name.clone());
    Some(Completed { call_id, tool, signal: signal.clone(), data: data.clone() })
}

fn waits(response: &ToolResponse) -> bool {
    matches!(response.outcome, Err(ToolError::ApprovalRequired(_) | ToolError::InputRequired(_)))
}
