//! Options of a loop: its limits, and what ends it.

use std::time::Duration;

use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::toolbox::dispatch::DispatchOptions;

use super::{AgentEvent, AgentListener, Cost, SteeringMessages};

/// Default maximum number of requests to the model.
pub const DEFAULT_MAX_ITERATIONS: u32 = 10;

/// Options of a loop.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoopOptions {
    /// Maximum number of requests to the model. Default: [`DEFAULT_MAX_ITERATIONS`].
    pub max_iterations: u32,
    /// Maximum number of tokens, after which no more requests are sent: of all requests and replies of the run, as
    /// reported by the vendor. Sub-agents have their own [limits](crate::sub_agent::AgentLimits). Default: no limit.
    pub max_tokens: Option<u64>,
    /// Maximum cost, after which no more requests are sent. The model must have a price, and its host must report the
    /// tokens of its replies. Interrupted replies and sub-agents are not counted. Default: no limit.
    pub max_cost: Option<Cost>,
    /// Maximum time of the loop. At the limit, a pending request to the model is dropped, and running calls are
    /// cancelled; all of them get results. Default: no limit.
    pub max_time: Option<Duration>,
    /// How to handle a turn without calls.
    pub without_calls: WithoutCalls,
    /// How the calls of a turn are dispatched.
    pub dispatch: DispatchOptions,
    /// Queue of user messages for the running loop. A message also steers: calls that have not started are skipped.
    pub messages: Option<SteeringMessages>,
    /// Ends the loop after a turn with calls that wait for an approval or for input, so that they can be resumed.
    /// Otherwise the model reads that they wait, and continues.
    pub stop_when_waiting: bool,
    /// Receives the events of the run. Default: no one.
    pub listener: Option<AgentListener>,
}

/// How to handle a turn without calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WithoutCalls {
    /// The text of the turn is the final answer.
    #[default]
    End,
    /// The model must use a tool, and this text tells it so. If the next turn also has no calls, the loop fails.
    Nudge(Text),
}

impl Default for LoopOptions {
    fn default() -> LoopOptions {
        LoopOptions {
            max_iterations: DEFAULT_MAX_ITERATIONS,
            max_tokens: None,
            max_cost: None,
            max_time: None,
            without_calls: WithoutCalls::End,
            dispatch: DispatchOptions::new(),
            messages: None,
            stop_when_waiting: false,
            listener: None,
        }
    }
}

impl LoopOptions {
    /// Creates options with a maximum of ten iterations, where a text ends the loop.
    #[must_use]
    pub fn new() -> LoopOptions {
        LoopOptions::default()
    }

    /// Sets the maximum number of requests to the model.
    #[must_use]
    pub fn with_max_iterations(mut self, max_iterations: u32) -> LoopOptions {
        self.max_iterations = max_iterations;
        self
    }

    /// Sets the maximum number of tokens, see [`max_tokens`](Self::max_tokens).
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: u64) -> LoopOptions {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Sets the maximum cost, see [`max_cost`](Self::max_cost).
    #[must_use]
    pub fn with_max_cost(mut self, max_cost: Cost) -> LoopOptions {
        self.max_cost = Some(max_cost);
        self
    }

    /// Sets the maximum time of the loop, see [`max_time`](Self::max_time).
    #[must_use]
    pub fn with_max_time(mut self, max_time: Duration) -> LoopOptions {
        self.max_time = Some(max_time);
        self
    }

    /// Requires the model to use a tool in each turn, and sets the text that it receives if it does not.
    #[must_use]
    pub fn with_nudge(mut self, text: impl Into<Text>) -> LoopOptions {
        self.without_calls = WithoutCalls::Nudge(text.into());
        self
    }

    /// Sets how the calls of a turn are dispatched. Default: all calls concurrently.
    #[must_use]
    pub fn with_dispatch(mut self, dispatch: DispatchOptions) -> LoopOptions {
        self.dispatch = dispatch;
        self
    }

    /// Sets the queue of user messages for the running loop.
    #[must_use]
    pub fn with_messages(mut self, messages: SteeringMessages) -> LoopOptions {
        self.messages = Some(messages);
        self
    }

    /// Ends the loop when a call waits for an approval or for input.
    #[must_use]
    pub fn stop_when_waiting(mut self) -> LoopOptions {
        self.stop_when_waiting = true;
        self
    }

    /// Calls a function with each event of the run: text as it arrives, calls and results. The run waits for the
    /// function, so it should return quickly. [`Agent::stream`](super::Agent::stream) returns the events instead.
    #[must_use]
    pub fn on_event(mut self, listener: impl Fn(AgentEvent) + Send + Sync + 'static) -> LoopOptions {
        self.listener = Some(AgentListener::new(listener));
        self
    }

    /// Returns the dispatch options, extended so that user messages also steer.
    pub(super) fn steered(&self) -> DispatchOptions {
        let dispatch = self.dispatch.clone();
        let Some(messages) = self.messages.clone() else { return dispatch };
        let other = dispatch.steering.clone();
        dispatch.with_steering(move || !messages.is_empty() || other.as_ref().is_some_and(|other| other()))
    }
}
