//! Runs a future until it completes, its timeout elapses, or its cancellation token is cancelled.

use std::time::Duration;

use crate::call::context::ToolContext;
use crate::call::error::ToolError;

/// Awaits `run` until `limit` elapses or the token of `ctx` fires. `run` is dropped in both cases.
///
/// # Errors
///
/// Returns [`ToolError::Timeout`] after `limit`, and [`ToolError::Cancelled`] when the token is cancelled.
#[doc(hidden)]
pub async fn within<F: Future>(
    limit: Option<Duration>,
    ctx: &ToolContext,
    run: F,
) -> Result<F::Output, ToolError> {
    let run = ctx.cancel().run_until_cancelled(run);
    let outcome = match limit {
        Some(duration) => {
            tokio::time::timeout(duration, run).await.map_err(|_| ToolError::Timeout { duration })?
        }
        None => run.await,
    };
    outcome.ok_or(ToolError::Cancelled)
}
