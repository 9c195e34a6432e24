//! Runs a tool with its cancellation token and its time limit.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;
use toolgen_core::internal::BorrowedValue;

use super::{AgentTool, Execution};
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;

/// The delay after the time limit from which a blocked thread is assumed to be the cause.
const LATE: Duration = Duration::from_millis(100);

/// Runs a tool on decoded arguments in the context of its call. Enforces the timeout and cancellation regardless of
/// the tool, and catches a panic.
pub(crate) async fn execute<'a>(
    tool: &'a dyn AgentTool,
    arguments: impl Into<BorrowedValue<'a>>,
    ctx: &'a ToolContext,
    limit: Option<Duration>,
) -> Result<ToolResult, ToolError> {
    if ctx.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    // When the call is dropped, everything that the tool started with its token stops, on every path.
    let stop = Stop(Some(ctx));
    let given = arguments.into();
    let mut run = match catch_unwind(AssertUnwindSafe(|| tool.execute_borrowed(given, ctx))) {
        Ok(Execution::Running(run)) => run,
        Ok(Execution::Finished(outcome)) => {
            stop.disarm();
            return outcome;
        }
        Err(payload) => return Err(ToolError::panicked(payload)),
    };
    let mut run = pin!(guarded(run.as_mut()));
    // Reading the clock costs as much as a small call, and small calls do not get here.
    let begun = Instant::now();
    // Most calls need no timer and no listener, because they finish immediately.
    if let Poll::Ready(outcome) = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await {
        tell_late(begun, limit, ctx);
        stop.disarm();
        return outcome;
    }
    let deadline = limit.and_then(|limit| begun.checked_add(limit));
    let run = ctx.caller_token().run_until_cancelled(run);
    let outcome = match (deadline, limit) {
        (Some(deadline), Some(duration)) => {
            let outcome = tokio::time::timeout_at(deadline, run).await;
            tell_late(begun, limit, ctx);
            outcome.map_err(|_| ToolError::Timeout { duration })?
        }
        _ => run.await,
    };
    let outcome = outcome.ok_or(ToolError::Cancelled)?;
    stop.disarm();
    outcome
}

/// Warns operators about a tool that ended long after its time limit. Nothing can interrupt a tool that blocks its
/// thread.
fn tell_late(started: Instant, limit: Option<Duration>, ctx: &ToolContext) {
    let Some(limit) = limit else { return };
    let took = started.elapsed();
    if took > limit.saturating_add(LATE) {
        ctx.warn(format!(
            "`{}` took {took:.1?}, though its time limit is {limit:?}: its thread was held, and only an `.await` can be \
             interrupted. If it blocks or computes for long, make it a plain `fn` with `#[tool(blocking)]`",
            ctx.tool_name
        ));
    }
}

/// Stops everything that a call started, when dropped.
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

/// Turns a panic while polling into an error without its message. The future is borrowed, because every function that
/// takes a future by value holds it twice.
pub(crate) fn guarded<F>(mut run: Pin<&mut F>) -> impl Future<Output = Result<ToolResult, ToolError>>
where
    F: Future<Output = Result<ToolResult, ToolError>> + ?Sized,
{
    poll_fn(move |cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(cx)));
        polled.unwrap_or_else(|reason| Poll::Ready(Err(ToolError::panicked(reason))))
    })
}
