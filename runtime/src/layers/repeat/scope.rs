//! The scopes in which failures are counted.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::{CallKey, RepeatGuard};
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::layers::approval::is_refusal;
use crate::layers::breaker::SERVICE_UNAVAILABLE;

/// The guards of a provider: one per session, and one for calls without a session.
#[derive(Clone)]
pub(crate) struct Repeats {
    limit: Option<NonZeroU32>,
    own: Arc<RepeatGuard>,
}

/// The guard of a session, as a type that tools cannot name.
struct OfSession(Arc<RepeatGuard>);

impl Repeats {
    pub(crate) fn new(limit: Option<NonZeroU32>) -> Repeats {
        Repeats { limit, own: Arc::new(guard(limit)) }
    }

    /// Returns the guard that counts failures of a call. `None`: nothing is counted.
    pub(crate) fn guard(&self, ctx: &ToolContext) -> Option<Arc<RepeatGuard>> {
        self.limit?;
        Some(match ctx.session() {
            None => Arc::clone(&self.own),
            Some(session) => {
                let of_session = session.state_or(|| OfSession(Arc::new(guard(self.limit))));
                Arc::clone(&of_session.0)
            }
        })
    }
}

impl Default for Repeats {
    fn default() -> Self {
        Repeats::new(NonZeroU32::new(3))
    }
}

fn guard(limit: Option<NonZeroU32>) -> RepeatGuard {
    let guard = RepeatGuard::new();
    match limit {
        None => guard,
        Some(limit) => guard.with_limit(limit),
    }
}

/// Returns whether a call succeeded, so that nothing counts against it.
pub(crate) fn succeeded(outcome: &Result<ToolResult, ToolError>) -> bool {
    outcome.as_ref().is_ok_and(|result| !result.is_error())
}

/// Notes how a call ended, unless it was refused or abandoned: then the tool is not to blame.
pub(crate) fn note(guard: &RepeatGuard, key: CallKey, outcome: &Result<ToolResult, ToolError>) {
    let error = match outcome {
        Ok(result) => result.is_error().then(|| result.to_text()),
        Err(ToolError::Failed { code, .. }) if code == SERVICE_UNAVAILABLE || is_refusal(code) => return,
        Err(why @ (ToolError::Failed { .. } | ToolError::InvalidArgs { .. } | ToolError::Timeout { .. })) => {
            Some(why.to_string())
        }
        Err(_) => return,
    };
    guard.record_key(key, error.as_deref());
}
