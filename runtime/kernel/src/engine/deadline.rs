//! The end of a call from outside: its time is over, or its caller gives it up.

use std::time::Duration;

use crate::call::context::ToolContext;
use crate::call::error::ToolError;

/// Waits for `run`, at most for `limit` and until the token of `ctx` fires. `run` is dropped in both cases.
///
/// # Errors
///
/// [`ToolError::Timeout`] after `limit`, [`ToolError::Cancelled`] when the token fires.
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
