//! Several calls of one turn: which run beside each other, in which order, and what stops them.
//!
//! Every call gets exactly one answer, and the answers come in the order of the calls, whatever happens to any of
//! them. A [`Strategy`] says how many run at once; below it, calls that would get in each other's way never overlap:
//!
//! - a tool that is `exclusive` runs alone;
//! - of calls that declare what they read and write ([`ToolSpec::reads`](crate::ToolSpec::reads) and
//!   [`writes`](crate::ToolSpec::writes)), one that writes a resource never runs beside one that reads or writes it;
//! - a call whose tool requires another waits for the calls of that one that the model made before it.
//!
//! Such calls keep the order in which the model made them: the later one begins, with its first layer, when the
//! earlier one is answered. A call that nothing holds up begins at once.
//!
//! # Resources
//!
//! A resource is a text such as `file:{path}`, where `{path}` stands for an argument (its default, if the model left
//! it out). A list stands for each of its items. `/` separates levels, and a resource covers what is below it:
//! `file:src` is `file:src/lib.rs`, too. `.` and `..` are resolved, and a relative path of a `file:` resource counts
//! from the work directory if the provider has one; links are not followed. Where an argument is missing, or is an
//! object, everything that begins like the resource up to there counts. What middleware makes of the arguments is
//! not seen here: a tool whose resource middleware changes should be `exclusive`.
//!
//! # One task or several
//!
//! All calls of a turn run in the task that waits for them, side by side while they wait for something. A tool that
//! computes or blocks without an `await` holds up its siblings meanwhile: declare it `blocking`, which puts it on the
//! blocking pool, or run each call in a task of its own with [`DispatchOptions::in_tasks`].
//!
//! Dropping the future of a dispatch drops all its calls, in tasks of their own too, and fires their tokens.

mod drive;
mod footprint;
mod join;

#[cfg(test)]
#[cfg(toolgen_model)]
mod model;

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::base::future::BoxFuture;
use crate::base::future::caught;
use crate::call::context::{Surroundings, ToolContext};
use crate::call::error::ToolError;
use crate::call::{ToolCall, ToolResponse};
use crate::provider::Provider;

use drive::{Refusal, Turn, drive};
use footprint::Footprint;

/// What a call is answered with that is not run because a message of the user waits.
pub const SKIPPED_BY_MESSAGE: &str = "Skipped due to queued user message.";

/// How many calls of a turn run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// One after the other.
    Sequential,
    /// All.
    #[default]
    Parallel,
    /// So many, and the next ones when all of them are answered.
    Batched(NonZeroUsize),
}

impl Strategy {
    /// How many calls a step has.
    fn step(self) -> NonZeroUsize {
        match self {
            Strategy::Sequential => NonZeroUsize::MIN,
            Strategy::Parallel => NonZeroUsize::MAX,
            Strategy::Batched(size) => size,
        }
    }
}

/// Says whether the user wants something else, so that the rest of a turn should not run.
pub type Steering = Arc<dyn Fn() -> bool + Send + Sync>;

/// How the calls of a turn are run.
///
/// ```
/// use std::num::NonZeroUsize;
/// use toolgen_runtime::agent::dispatch::{DispatchOptions, Strategy};
///
/// let two_at_once = DispatchOptions::new().with_strategy(Strategy::Batched(NonZeroUsize::MIN.saturating_add(1)));
/// assert_eq!(DispatchOptions::new().strategy, Strategy::Parallel);
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct DispatchOptions {
    /// How many run at once.
    pub strategy: Strategy,
    /// Each call runs in a task of its own.
    pub in_tasks: bool,
    /// Says whether the rest of the turn should not run.
    pub steering: Option<Steering>,
}

impl DispatchOptions {
    /// All at once in one task, and nobody steers.
    #[must_use]
    pub fn new() -> DispatchOptions {
        DispatchOptions::default()
    }

    /// Sets how many run at once.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Strategy) -> DispatchOptions {
        self.strategy = strategy;
        self
    }

    /// Runs each call in a task of its own, so that one that computes does not hold up the others. Without a runtime
    /// of tokio around it they stay in one task.
    #[must_use]
    pub fn in_tasks(mut self) -> DispatchOptions {
        self.in_tasks = true;
        self
    }

    /// Sets who is asked whether the user wants something else: after each call if they run one after the other,
    /// after each batch, and once all are answered if they run in parallel. A yes answers the calls that did not run
    /// yet with [`SKIPPED_BY_MESSAGE`].
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
            .finish()
    }
}

/// What came of the calls of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dispatched {
    /// One answer a call, in the order of the calls.
    pub responses: Vec<ToolResponse>,
    /// Who steers said that the user wants something else, in between or after the last call.
    pub interrupted: bool,
}

impl Provider {
    /// Runs the calls of a turn, each through all layers, and answers each of them; see [`dispatch`](self).
    ///
    /// When the token of the turn fires, calls that run are stopped and those that do not run yet are answered with
    /// `Cancelled`. Calls that are not run have the events of a call with `null` arguments, and no hooks.
    pub async fn dispatch(
        &self,
        calls: Vec<ToolCall>,
        turn: &ToolContext,
        options: &DispatchOptions,
    ) -> Dispatched {
        let around = self.surroundings(turn);
        let tasks = options.in_tasks.then(Handle::try_current).and_then(Result::ok);
        let calls = calls.into_iter().map(Some).collect();
        let calls = Calls { provider: self, turn, around, options, tasks, calls };
        let (responses, interrupted) = drive(options.strategy.step(), calls).await;
        Dispatched { responses, interrupted }
    }
}

/// The calls of a turn of a provider.
struct Calls<'a> {
    provider: &'a Provider,
    turn: &'a ToolContext,
    around: Arc<Surroundings>,
    options: &'a DispatchOptions,
    /// Where calls run in tasks of their own.
    tasks: Option<Handle>,
    /// What was not run yet.
    calls: Vec<Option<ToolCall>>,
}

impl<'a> Turn for Calls<'a> {
    type Answer = ToolResponse;
    type Run = BoxFuture<'a, ToolResponse>;

    fn len(&self) -> usize {
        self.calls.len()
    }

    fn footprint(&self, index: usize) -> Footprint {
        let call = self.calls.get(index).and_then(Option::as_ref);
        call.map_or(Footprint::NONE, |call| Footprint::of(call, self.provider, self.turn.dialect()))
    }

    fn run(&mut self, index: usize) -> Option<BoxFuture<'a, ToolResponse>> {
        let call = self.calls.get_mut(index)?.take()?;
        let (provider, around) = (self.provider, Arc::clone(&self.around));
        let (id, name) = (call.id.clone(), call.name.clone());
        // The layers keep panics in; if one of them does not, the call is answered all the same.
        let broken = || ToolResponse::new(&ToolCall::named(id, name), Err(ToolError::panicked(&())));
        let Some(tasks) = &self.tasks else {
            let turn = self.turn;
            return Some(Box::pin(async move {
                caught(provider.answer(call, turn, around)).await.unwrap_or_else(broken)
            }));
        };
        let (provider, turn) = (provider.clone(), self.turn.clone());
        let mut task = Task(tasks.spawn(async move { provider.answer(call, &turn, around).await }));
        Some(Box::pin(async move { (&mut task.0).await.unwrap_or_else(|_| broken()) }))
    }

    fn refuse(&mut self, index: usize, refusal: Refusal) -> Option<BoxFuture<'a, ToolResponse>> {
        let call = self.calls.get_mut(index)?.take()?;
        let response = match refusal {
            Refusal::Cancelled => ToolResponse::new(&call, Err(ToolError::Cancelled)),
            Refusal::Skipped => ToolResponse::skipped(&call, SKIPPED_BY_MESSAGE),
        };
        Some(Box::pin(self.provider.pass_over(call, self.turn, Arc::clone(&self.around), response)))
    }

    fn is_cancelled(&self) -> bool {
        self.turn.is_cancelled()
    }

    fn is_interrupted(&self) -> bool {
        let Some(steering) = &self.options.steering else { return false };
        // Who steers and panics has no message.
        catch_unwind(AssertUnwindSafe(|| steering())).unwrap_or(false)
    }
}

/// A task that ends with whoever waits for it.
struct Task(JoinHandle<ToolResponse>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
