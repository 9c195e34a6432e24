//! A small agent loop: it asks the model, answers its calls, and repeats until the model is done.
//!
//! The model is a function or a [`Model`]; how it is reached is up to the program. A [`Loop`] needs no more than a function
//! that sends JSON to a provider, and a [`Transcript`] renders itself as the messages of each. Each turn goes through the toolbox
//! as a whole, and every call is answered, even if one of them completes, fails, or was cut off; only then does the
//! loop look at what the answers request.

mod model;
mod options;
mod render;
#[cfg_attr(not(feature = "otel"), path = "agent_loop/without_otel.rs")]
mod spans;
mod transcript;
mod wire_model;

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use serde_json::Value;

pub use model::{Model, ModelInfo};
pub use options::{DEFAULT_MAX_ITERATIONS, LoopOptions, WithoutCalls};
pub use render::{LostContent, RenderedTranscript};
pub use transcript::{Entry, ModelTurn, SteeringMessages, Transcript};
pub use wire_model::{AgentLoop, ModelError, WireModel};

use spans::{AgentSpan, request_turn};

use toolgen_kernel::base::depth::{is_shallow, shallow};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::redacted_debug::{Redacted, discreet_debug};
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::control::Control;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_kernel::toolbox::Toolbox;
use toolgen_kernel::toolbox::dispatch::DispatchOptions;
use toolgen_wire::StopReason;

/// The outcome of a loop.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoopRun<E> {
    /// How the loop ended.
    pub outcome: Result<LoopEnd, LoopError<E>>,
    /// The whole conversation, with an answer to every call.
    pub transcript: Transcript,
    /// How often the model was asked.
    pub iterations: u32,
}

impl<E> LoopRun<E> {
    /// Why the model stopped in its last turn: whether its text is whole, or was cut or refused. [`Stop::Failed`] if it
    /// could not answer, [`Stop::Unknown`] if it was not asked.
    #[must_use]
    pub fn stop(&self) -> StopReason {
        if matches!(self.outcome, Err(LoopError::Model(_))) {
            return StopReason::Failed;
        }
        self.transcript.turns().next_back().map_or(StopReason::Unknown, |turn| turn.stop)
    }

    /// Returns the text with which the model ended the loop. Empty if the loop ended otherwise.
    ///
    /// # Errors
    ///
    /// The reason why the loop was stopped.
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
    /// The model answered with this text and made no calls.
    Text(String),
    /// A tool completed.
    Completed(Completed),
    /// Calls of the last turn wait, see [`LoopOptions::stop_when_waiting`]; the model has not read the answers yet.
    /// [`Transcript::last_answers`] contains what they wait for. When they have been resumed, replace the answers with
    /// [`Transcript::answer_again`] and run a loop from there.
    Waiting,
}

/// Which tool completed the loop, and with what.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Completed {
    /// The model's id for the call.
    pub call_id: Text,
    /// The tool.
    pub tool: Text,
    /// The signal for the next state, see [`StateMap`](crate::state_map::StateMap). If empty, the loop just
    /// ends.
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

/// The reason why a loop was stopped.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopError<E> {
    /// The model used no tool although it was asked to: `the model made no tool call twice in a row`
    NoToolCalls,
    /// `maximum tool iterations ({n}) exceeded`
    MaxIterations(u32),
    /// `maximum tokens ({n}) exceeded`
    MaxTokens(u64),
    /// `maximum time ({duration}) exceeded`
    MaxTime(Duration),
    /// The token of the context fired: `Cancelled`
    Cancelled,
    /// The model could not answer; contains its error.
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
            LoopError::MaxTime(max) => write!(f, "maximum time ({max:?}) exceeded"),
            LoopError::Cancelled => f.write_str("Cancelled"),
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

/// Runs an agent: asks the model and answers its calls through the toolbox until
///
/// - a tool completed: the first in the order of the calls, if several of a turn did. All calls of the turn are still
///   run and answered. A completion tool that failed completes nothing;
/// - the model made no calls, see [`WithoutCalls`]. If a message of the user is waiting, the model reads it first, and a
///   model that its provider paused goes on;
/// - a limit of the options was reached: how often the model is asked, how many tokens that costs, or how long it takes;
/// - the model could not answer, or the token of the context fired.
///
/// The context is that of the turns. If it has no session, the loop creates its own, so that tools can require earlier
/// calls of other tools, and calls that fail repeatedly are stopped.
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::agent::agent_loop::{Entry, LoopEnd, LoopOptions, ModelTurn, Transcript, run_loop};
/// use toolgen_runtime::{Registry, ToolCall, ToolContext, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only, undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolbox = Registry::new(toolset![add])?.toolbox(Default::default());
/// // Stands for a language model: calls once, then says what it read.
/// let mut model = |transcript: Transcript| async move {
///     Ok::<_, String>(match transcript.last() {
///         Some(Entry::Answer(response)) => ModelTurn::text(format!("It is {}.", response.text())),
///         _ => ModelTurn::calls([ToolCall::new("call-1", "add", json!({"a": 1, "b": 2}))]),
///     })
/// };
/// let turn = ToolContext::new("loop-1", "");
/// let run = run_loop(&toolbox, &mut model, &turn, Transcript::user("1 + 2?"), &LoopOptions::new()).await;
/// assert_eq!(run.outcome, Ok(LoopEnd::Text("It is 3.".to_owned())));
/// # Ok(())
/// # }
/// ```
pub async fn run_loop<M: Model + ?Sized>(
    toolbox: &Toolbox,
    model: &mut M,
    context: &ToolContext,
    transcript: Transcript,
    options: &LoopOptions,
) -> LoopRun<M::Error> {
    let mut turn = context.for_loop();
    let info = model.about();
    let span = AgentSpan::begin(toolbox, &mut turn, &info);
    let dispatch = options.steered();
    let mut run = Running { toolbox, turn, options, dispatch, transcript, iterations: 0, tokens: 0 };
    let outcome = span.instrument(pin!(run.finish_in_time(model, &info, &span))).await;
    span.end(&outcome);
    LoopRun { outcome, transcript: run.transcript, iterations: run.iterations }
}

struct Running<'a> {
    toolbox: &'a Toolbox,
    turn: ToolContext,
    options: &'a LoopOptions,
    dispatch: DispatchOptions,
    transcript: Transcript,
    iterations: u32,
    tokens: u64,
}

impl Running<'_> {
    /// Finishes, and at the end of the time cancels what is going on.
    async fn finish_in_time<M: Model + ?Sized>(
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

    async fn finish<M: Model + ?Sized>(
        &mut self,
        model: &mut M,
        info: &ModelInfo,
        span: &AgentSpan,
    ) -> Result<LoopEnd, LoopError<M::Error>> {
        let mut nudged = false;
        while self.iterations < self.options.max_iterations {
            if self.turn.is_cancelled() {
                return Err(LoopError::Cancelled);
            }
            if let Some(max) = self.options.max_tokens.filter(|max| self.tokens >= *max) {
                return Err(LoopError::MaxTokens(max));
            }
            for text in self.options.messages.iter().flat_map(SteeringMessages::take) {
                self.transcript.push(Entry::User(text));
            }
            self.iterations += 1;
            let message = request_turn(model, info, &self.transcript, span);
            let mut message = match self.turn.cancel().run_until_cancelled(message).await {
                None => return Err(LoopError::Cancelled),
                Some(message) => message.map_err(LoopError::Model)?,
            };
            self.tokens = self.tokens.saturating_add(message.usage.total());
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

    /// Answers the calls of a turn, and returns how the loop ends if they end it.
    async fn answer(&mut self, calls: Vec<ToolCall>) -> Option<LoopEnd> {
        let responses = self.toolbox.dispatch(calls, &self.turn, &self.dispatch).await.responses;
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

/// Returns what a call completed, if it did.
fn completed(response: &ToolResponse) -> Option<Completed> {
    let Ok(result) = &response.outcome else { return None };
    let Control::Complete { signal, data } = &result.control else { return None };
    let (call_id, tool) = (response.id.clone(), response.name.clone());
    Some(Completed { call_id, tool, signal: signal.clone(), data: data.clone() })
}

fn waits(response: &ToolResponse) -> bool {
    matches!(response.outcome, Err(ToolError::ApprovalRequired(_) | ToolError::InputRequired(_)))
}
