//! Limits the calls that tools make for one call of a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::call::error::ToolError;

/// Default number of calls that tools may make for one call of a model, at all depths together: 1,000.
pub const DEFAULT_MAX_NESTED_CALLS: u32 = 1_000;

/// The error code of a call that exceeds this limit.
pub(crate) const CALLS_EXCEEDED: &str = "CALLS_EXCEEDED";

/// Counts the calls that a call has made.
pub(super) struct NestedCalls {
    /// The calls of the call itself, which number them.
    own: AtomicU32,
    /// All calls below the outermost one.
    nested: Arc<AtomicU32>,
}

impl NestedCalls {
    /// Starts counting for a call, which is the outermost one if nothing is counted yet.
    pub(super) fn new(nested: Option<Arc<AtomicU32>>) -> NestedCalls {
        NestedCalls { own: AtomicU32::new(0), nested: nested.unwrap_or_default() }
    }

    /// The count for the calls below.
    pub(super) fn nested(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.nested)
    }

    /// Counts one more call and returns its number among those of the call itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the outermost call has reached the limit.
    pub(super) fn next(&self, max: u32) -> Result<u32, ToolError> {
        let more = |count: u32| (count < max).then_some(count + 1);
        if self.nested.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            let text = format!(
                "a tool call can make at most {max} nested calls, and this one exceeded the limit. Request less work \
                 per call"
            );
            let detail = "the limit is `max_nested_calls` of the toolbox's builder".to_owned();
            return Err(ToolError::failed_with(CALLS_EXCEEDED, text).with_operator_detail(detail));
        }
        Ok(self.own.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
