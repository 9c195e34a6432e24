//! Runs a tool with its cancellation token and its time limit.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;
use toolgen_core::internal::BorrowedValue;

use super::{AgentTool, Execution, projection};
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;

/// The delay after the time limit from which a blocked thread is the probable cause.
const OVERRUN: Duration = Duration::from_millis(100);

/// Runs a tool on decoded arguments in the context of its call. Enforces the timeout and cancellation regardless of
/// the tool, and catches a panic. Of the result, only the fields remain that the call selects.
pub(crate) async fn execute<'a>(
    tool: &'a dyn AgentTool,
    arguments: impl Into<BorrowedValue<'a>>,
    ctx: &'a ToolContext,
    limit: Option<Duration>,
    projects: Projects,
) -> Result<ToolResult, ToolError> {
    if projects == Projects::Fields && !tool.spec().projection.is_empty() {
        return execute_projected(tool, arguments.into(), ctx, limit).await;
    }
    if ctx.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    // When the call is dropped, everything that the tool started with its token is cancelled, on every path.
    let stop = Stop(Some(ctx));
    let arguments = arguments.into();
    let mut run = match catch_unwind(AssertUnwindSafe(|| tool.execute_borrowed(arguments, ctx))) {
        Ok(Execution::Running(run)) => run,
        Ok(Execution::Finished(outcome)) => {
            stop.disarm();
            return outcome;
        }
        Err(payload) => return Err(ToolError::panicked(payload)),
    };
    let mut run = pin!(guarded(run.as_mut()));
    // Reading the clock costs as much as a small call, but small calls have finished above.
    let started = Instant::now();
    // Most calls need no timer and no listener, because they finish immediately.
    if let Poll::Ready(outcome) = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await {
        warn_if_overrun(started, limit, ctx);
        stop.disarm();
        return outcome;
    }
    let deadline = limit.and_then(|limit| started.checked_add(limit));
    let run = ctx.caller_token().run_until_cancelled(run);
    let outcome = match (deadline, limit) {
        (Some(deadline), Some(duration)) => {
            let outcome = tokio::time::timeout_at(deadline, run).await;
            warn_if_overrun(started, limit, ctx);
            outcome.map_err(|_| ToolError::Timeout { duration })?
        }
        _ => run.await,
    };
    let outcome = outcome.ok_or(ToolError::Cancelled)?;
    stop.disarm();
    outcome
}

/// Whether a result is narrowed to the fields that its call selects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Projects {
    /// The arguments may select fields.
    Fields,
    /// The result stays whole.
    Nothing,
}

/// Takes the paths of the projection out of the arguments, runs the tool, and applies the projection to its result.
/// On the heap: few tools have a projection, and all others would reserve the space for it.
fn execute_projected<'a>(
    tool: &'a dyn AgentTool,
    arguments: BorrowedValue<'a>,
    ctx: &'a ToolContext,
    limit: Option<Duration>,
) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
    Box::pin(async move {
        let spec = tool.spec();
        let mut arguments = arguments.into_value();
        let paths = projection::take_paths(spec, &mut arguments);
        let mut result = execute(tool, arguments, ctx, limit, Projects::Nothing).await?;
        projection::enforce(&mut result, spec);
        if let Some(paths) = paths {
            projection::apply(&mut result, spec, &paths);
        }
        Ok(result)
    })
}

/// Warns operators about a tool that ended long after its time limit. Nothing can interrupt a tool that blocks its
/// thread.
fn warn_if_overrun(started: Instant, limit: Option<Duration>, ctx: &ToolContext) {
    let Some(limit) = limit else { return };
    let elapsed = started.elapsed();
    if elapsed > limit.saturating_add(OVERRUN) {
        ctx.warn(format!(
            "`{}` took {elapsed:.1?}, though its time limit is {limit:?}: its thread was blocked, and only an `.await` can be \
             interrupted. If it blocks or computes for long, make it a plain `fn` with `#[tool(blocking)]`",
            ctx.tool_name
        ));
    }
}

/// When dropped, stops everything that a call started.
struct Stop<'a>(Option<&'a ToolContext>);

impl Stop<'_> {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        if let Some(ctx) = self.0 {
            ctx.stop();
        }
    }
}

/// Turns a panic while polling into an error without its message. Borrows the future, because a function that takes a
/// future by value stores it twice.
pub(crate) fn guarded<F>(mut run: Pin<&mut F>) -> impl Future<Output = Result<ToolResult, ToolError>>
where
    F: Future<Output = Result<ToolResult, ToolError>> + ?Sized,
{
    poll_fn(move |cx| {
        let poll = catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(cx)));
        poll.unwrap_or_else(|payload| Poll::Ready(Err(ToolError::panicked(payload))))
    })
}
