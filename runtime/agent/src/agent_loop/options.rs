//! How far a loop goes, and what ends it.

use std::time::Duration;

use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::toolbox::dispatch::DispatchOptions;

use super::Messages;

/// How often a model is asked by default.
pub const MAX_ITERATIONS: u32 = 10;

/// Options of a loop.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoopOptions {
    /// How often the model is asked; [`MAX_ITERATIONS`] by default.
    pub max_iterations: u32,
    /// The tokens after which the model is not asked again: those of all requests and replies of the run, as far as the
    /// provider reports them. Sub-agents have [limits](crate::sub_agent::AgentLimits) of their own. No limit by
    /// default.
    pub max_tokens: Option<u64>,
    /// How long the loop may take. Then a request to the model is given up, and calls that run are cancelled; all of them
    /// have answers. No limit by default.
    pub max_time: Option<Duration>,
    /// What to do about a turn without calls.
    pub without_calls: WithoutCalls,
    /// How the calls of a turn are dispatched.
    pub dispatch: DispatchOptions,
    /// Messages of the user while the model is working. A message also steers: calls that have not started are
    /// skipped.
    pub messages: Option<Messages>,
    /// Ends the loop after a turn with calls that wait for approval or for input, so that they can be resumed.
    /// Otherwise the model reads that they wait, and continues.
    pub stop_when_waiting: bool,
}

/// What to do about a turn in which the model made no calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WithoutCalls {
    /// The text of the turn is the answer.
    #[default]
    End,
    /// The model must use a tool: this text says so. If it makes no calls the next time either, the loop fails.
    Nudge(Text),
}

impl Default for LoopOptions {
    fn default() -> LoopOptions {
        LoopOptions {
            max_iterations: MAX_ITERATIONS,
            max_tokens: None,
            max_time: None,
            without_calls: WithoutCalls::End,
            dispatch: DispatchOptions::new(),
            messages: None,
            stop_when_waiting: false,
        }
    }
}

impl LoopOptions {
    /// Creates options with ten iterations, in which a text ends the loop.
    #[must_use]
    pub fn new() -> LoopOptions {
        LoopOptions::default()
    }

    /// Sets how often the model is asked.
    #[must_use]
    pub fn with_max_iterations(mut self, max_iterations: u32) -> LoopOptions {
        self.max_iterations = max_iterations;
        self
    }

    /// Sets the tokens after which the model is not asked again, see [`max_tokens`](Self::max_tokens).
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: u64) -> LoopOptions {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Sets how long the loop may take, see [`max_time`](Self::max_time).
    #[must_use]
    pub fn with_max_time(mut self, max_time: Duration) -> LoopOptions {
        self.max_time = Some(max_time);
        self
    }

    /// Requires the model to use a tool in each turn, and sets the text it gets when it does not.
    #[must_use]
    pub fn with_nudge(mut self, text: impl Into<Text>) -> LoopOptions {
        self.without_calls = WithoutCalls::Nudge(text.into());
        self
    }

    /// Sets how the calls of a turn are dispatched: all at once by default.
    #[must_use]
    pub fn with_dispatch(mut self, dispatch: DispatchOptions) -> LoopOptions {
        self.dispatch = dispatch;
        self
    }

    /// Sets the queue for messages of the user while the model is working.
    #[must_use]
    pub fn with_messages(mut self, messages: Messages) -> LoopOptions {
        self.messages = Some(messages);
        self
    }

    /// Ends the loop when a call waits for approval or for input.
    #[must_use]
    pub fn stop_when_waiting(mut self) -> LoopOptions {
        self.stop_when_waiting = true;
        self
    }

    /// Returns the dispatch options, extended so that messages of the user steer, too.
    pub(super) fn steered(&self) -> DispatchOptions {
        let dispatch = self.dispatch.clone();
        let Some(messages) = self.messages.clone() else { return dispatch };
        let other = dispatch.steering.clone();
        dispatch.with_steering(move || !messages.is_empty() || other.as_ref().is_some_and(|other| other()))
    }
}
