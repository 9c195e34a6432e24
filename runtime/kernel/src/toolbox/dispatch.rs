//! Dispatches the calls of one turn: decides which run concurrently, in which order, and what stops them.
//!
//! Every call gets exactly one response, and the responses are in the order of the calls, regardless of their
//! outcome. A [`Strategy`] sets how many calls run concurrently; within it, calls that conflict never overlap:
//!
//! - a tool that is `exclusive` runs alone, see [exclusive tools](#exclusive-tools);
//! - among calls that declare what they read and write ([`ToolSpec::reads`](crate::ToolSpec::reads) and
//!   [`writes`](crate::ToolSpec::writes)), a call that writes a resource never overlaps one that reads or writes it;
//! - a call whose tool requires another tool waits for the calls of that tool that the model made before it.
//!
//! Conflicting calls keep the order in which the model made them: the later call enters its first layer when the
//! earlier one has its response. A call without conflicts starts immediately.
//!
//! # Resources
//!
//! A resource is a string such as `file:{path}`, where `{path}` is replaced by an argument (its default, if the model
//! omits it). An array is replaced by each of its items. `/` separates levels, and a resource covers everything below
//! it: `file:src` covers `file:src/lib.rs`. `.` and `..` are resolved, and a relative path of a `file:` resource is
//! relative to the work directory if the toolbox has one; links are not followed. If an argument is missing, or is an
//! object, the call touches every resource with the same beginning up to there. Changes that middleware makes to the
//! arguments are not visible here: if middleware changes the resource of a tool, make the tool `exclusive`.
//!
//! # Exclusive tools
//!
//! While an exclusive tool runs, no other tool of the toolbox runs, whether a call of this turn, of another turn or
//! of a tool started it. Three things do not wait for it: its callers, which wait for its result; the tools that it
//! calls itself through its context, which are exclusive only among each other; and concurrent work of its callers.
//! So a tool may call itself and other exclusive tools. A tool must make such calls through
//! [`ToolContext::call`](crate::ToolContext::call), or with a context derived from its own. A call in a new context
//! has no known caller, and waits for the exclusive tool until its time limit is reached.
//!
//! # One task or several
//!
//! All calls of a turn run concurrently in the task that awaits them. A tool that computes or blocks without an
//! `await` delays the others: declare it `blocking`, which moves it to the blocking pool, or run each call in its own
//! task with [`DispatchOptions::in_tasks`].
//!
//! Dropping the future of a dispatch drops all its calls, including those in their own tasks, and fires their tokens.

mod footprint;
mod scheduler;

#[cfg(test)]
#[cfg(toolgen_model)]
mod model;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::base::future::BoxFuture;
use crate::base::future::{catch_panic, catch_panic_async, discard};
use crate::call::context::{ToolContext, TurnContext};
use crate::call::error::ToolError;
use crate::call::session::{Session, Span};
use crate::call::{ToolCall, ToolResponse, Turn};
use crate::toolbox::Toolbox;
use crate::toolbox::pipeline::Reader;

use footprint::Footprint;
use scheduler::{Batch, Refusal, drive};

/// The response to a call that is skipped because a message of the user is waiting.
pub const SKIPPED_BY_MESSAGE: &str = "Skipped due to queued user message.";

/// Default maximum number of calls of a turn that run: 128.
pub const DEFAULT_MAX_CALLS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

/// The error code of a call that does not run because its turn has too many calls.
pub const TOO_MANY_CALLS: &str = "TOO_MANY_CALLS";

/// How many calls of a turn run concurrently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// One call at a time.
    Sequential,
    /// All calls concurrently.
    #[default]
    Parallel,
    /// Batches of this many calls; the next batch starts when all calls of the previous one have their responses.
    Batched(NonZeroUsize),
}

impl Strategy {
    /// Returns the number of calls in a step.
    fn step(self) -> NonZeroUsize {
        match self {
            Strategy::Sequential => NonZeroUsize::MIN,
            Strategy::Parallel => NonZeroUsize::MAX,
            Strategy::Batched(size) => size,
        }
    }
}

/// Returns whether the user has sent a message, so that the rest of a turn should not run.
pub type Steering = Arc<dyn Fn() -> bool + Send + Sync>;

/// Options for running the calls of a turn.
///
/// ```
/// use std::num::NonZeroUsize;
/// use toolgen_runtime::agent::dispatch::{DispatchOptions, Strategy};
///
/// let two_at_once = DispatchOptions::new().with_strategy(Strategy::Batched(NonZeroUsize::MIN.saturating_add(1)));
/// assert_eq!(DispatchOptions::new().strategy, Strategy::Parallel);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct DispatchOptions {
    /// How many calls run concurrently.
    pub strategy: Strategy,
    /// Whether each call runs in its own task.
    pub in_tasks: bool,
    /// Returns whether the rest of the turn should not run.
    pub steering: Option<Steering>,
    /// Maximum number of calls of a turn that run; `DEFAULT_MAX_CALLS` by default. The others get the error
    /// `TOO_MANY_CALLS`.
    pub max_calls: NonZeroUsize,
}

impl Default for DispatchOptions {
    fn default() -> DispatchOptions {
        DispatchOptions {
            strategy: Strategy::default(),
            in_tasks: false,
            steering: None,
            max_calls: DEFAULT_MAX_CALLS,
        }
    }
}

impl DispatchOptions {
    /// Creates options that run all calls concurrently in one task, without steering.
    #[must_use]
    pub fn new() -> DispatchOptions {
        DispatchOptions::default()
    }

    /// Sets how many calls run concurrently.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Strategy) -> DispatchOptions {
        self.strategy = strategy;
        self
    }

    /// Runs each call in its own task, so that a call that computes does not delay the others. Outside a Tokio
    /// runtime all calls stay in one task.
    #[must_use]
    pub fn in_tasks(mut self) -> DispatchOptions {
        self.in_tasks = true;
        self
    }

    /// Sets the maximum number of calls of a turn that run, from the first call on.
    #[must_use]
    pub fn with_max_calls(mut self, max_calls: NonZeroUsize) -> DispatchOptions {
        self.max_calls = max_calls;
        self
    }

    /// Sets the function that returns whether the user has sent a message. It is called after each call if the calls
    /// run sequentially, after each batch, and after all calls if they run in parallel. If it returns `true`, the
    /// remaining calls get the response `SKIPPED_BY_MESSAGE`.
    #[must_use]
    pub fn with_steering(mut self, steering: impl Fn() -> bool + Send + Sync + 'static) -> DispatchOptions {
        self.steering = Some(Arc::new(steering));
        self
    }
}

impl fmt::Debug for DispatchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatchOptions")
            .field("strategy", &self.strategy)
            .field("in_tasks", &self.in_tasks)
            .field("steering", &self.steering.is_some())
            .field("max_calls", &self.max_calls)
            .finish()
    }
}

/// The outcome of the calls of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dispatched {
    /// One response per call, in the order of the calls.
    pub responses: Vec<ToolResponse>,
    /// Whether the steering function returned `true`, between calls or after the last one.
    pub interrupted: bool,
}

impl Toolbox {
    /// Runs the calls of a turn, each through all layers, and returns a response for each of them.
    ///
    /// If the context of the turn has no session, the turn gets its own, so that a tool may require a call that was
    /// made earlier in the same turn. This session ends with the turn. For requirements across turns and for the
    /// state of tools, give the context a [`Session`].
    ///
    /// When the token of the turn fires, running calls are stopped, and calls that have not started get the error
    /// `Cancelled`. Calls that do not run produce the events of a call with `null` arguments, and no hooks.
    pub async fn dispatch(&self, calls: Vec<ToolCall>, turn: &Turn, options: &DispatchOptions) -> Dispatched {
        let turn = turn.base();
        let mut around = self.turn_context(turn);
        if around.session.is_none() {
            Arc::make_mut(&mut around).session = Some(Session::passing(Span::Turn));
        }
        let number = self.recorded_turn();
        if number > 0 {
            Arc::make_mut(&mut around).turn = number;
        }
        let tasks = options.in_tasks.then(Handle::try_current).and_then(Result::ok);
        let fit = |mut call: ToolCall| {
            call.fit();
            Some(self.unwrap_discovery_call(call, turn))
        };
        let calls = calls.into_iter().map(fit).collect();
        let calls = Calls { toolbox: self, turn, turn_context: around, options, tasks, calls };
        let (responses, interrupted) = drive(options.strategy.step(), calls).await;
        Dispatched { responses, interrupted }
    }
}

/// The calls of a turn of a toolbox.
struct Calls<'a> {
    toolbox: &'a Toolbox,
    turn: &'a ToolContext,
    turn_context: Arc<TurnContext>,
    options: &'a DispatchOptions,
    /// The runtime, if each call runs in its own task.
    tasks: Option<Handle>,
    /// The calls that have not run yet.
    calls: Vec<Option<ToolCall>>,
}

impl<'a> Batch for Calls<'a> {
    type Answer = ToolResponse;
    type Run = BoxFuture<'a, ToolResponse>;

    fn len(&self) -> usize {
        self.calls.len()
    }

    fn footprint(&self, index: usize) -> Footprint {
        let call = self.calls.get(index).filter(|_| index < self.options.max_calls.get());
        let call = call.and_then(Option::as_ref);
        call.map_or(Footprint::NONE, |call| {
            Footprint::of(call, self.toolbox, self.turn.dialect_of(&call.name))
        })
    }

    fn run(&mut self, index: usize) -> Option<BoxFuture<'a, ToolResponse>> {
        if index >= self.options.max_calls.get() {
            return self.refuse(index, Refusal::TooMany);
        }
        let call = self.calls.get_mut(index)?.take()?;
        let (toolbox, around) = (self.toolbox, Arc::clone(&self.turn_context));
        let (id, name) = (call.id.clone(), call.via.as_ref().unwrap_or(&call.name).clone());
        let program = call.program.clone();
        // The layers catch panics. If a layer fails to, the call still gets a response.
        let broken = || {
            let call = ToolCall { program, ..ToolCall::without_arguments(id, name) };
            ToolResponse::new(&call, Err(ToolError::panicked(Box::new(()))))
        };
        let Some(tasks) = &self.tasks else {
            let turn = self.turn;
            return Some(Box::pin(async move {
                catch_panic_async(toolbox.run_call(call, turn, around, Reader::Model))
                    .await
                    .unwrap_or_else(broken)
            }));
        };
        let (toolbox, turn) = (toolbox.clone(), self.turn.clone());
        let mut task =
            Task(tasks.spawn(async move { toolbox.run_call(call, &turn, around, Reader::Model).await }));
        Some(Box::pin(async move { (&mut task.0).await.map_err(discard).unwrap_or_else(|()| broken()) }))
    }

    fn refuse(&mut self, index: usize, refusal: Refusal) -> Option<BoxFuture<'a, ToolResponse>> {
        let call = self.calls.get_mut(index)?.take()?;
        let response = match refusal {
            Refusal::Cancelled => ToolResponse::new(&call, Err(ToolError::Cancelled)),
            Refusal::Skipped => ToolResponse::skipped(&call, SKIPPED_BY_MESSAGE),
            Refusal::TooMany => {
                let text = format!(
                    "The call was not executed: only the first {} calls of a turn run. \
                     Make it again in another turn if it is still needed.",
                    self.options.max_calls
                );
                let error = ToolError::failed_with(TOO_MANY_CALLS, text);
                ToolResponse { skipped: true, ..ToolResponse::new(&call, Err(error)) }
            }
        };
        Some(Box::pin(self.toolbox.pass_over(call, self.turn, Arc::clone(&self.turn_context), response)))
    }

    fn is_cancelled(&self) -> bool {
        self.turn.is_cancelled()
    }

    fn is_interrupted(&self) -> bool {
        let Some(steering) = &self.options.steering else { return false };
        // A steering function that panics reports no message.
        catch_panic(|| steering()).unwrap_or(false)
    }
}

/// A task that is aborted when its waiter is dropped.
struct Task(JoinHandle<ToolResponse>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
