//! How many calls tools make for one call of a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::call::error::ToolError;

/// The number of calls that tools may make for one call of a model by default, at every depth together.
pub const DEFAULT_MAX_NESTED_CALLS: u32 = 1_000;

/// The code of the error of a call that leads to too many others.
pub(crate) const CALLS_EXCEEDED: &str = "CALLS_EXCEEDED";

/// The calls that a call has made.
pub(super) struct NestedCalls {
    /// Those of the call itself, which number them.
    own: AtomicU32,
    /// Those of all calls below the outermost one.
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
    /// If the outermost call has led to so many already.
    pub(super) fn next(&self, max: u32) -> Result<u32, ToolError> {
        let more = |count: u32| (count < max).then_some(count + 1);
        if self.nested.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            let text = format!(
                "one call may lead to {max} calls of other tools, and this one leads to more: ask for less at once"
            );
            let detail = "the limit is `nested_calls` of the provider's builder".to_owned();
            return Err(ToolError::failed_with(CALLS_EXCEEDED, text).with_operator_detail(detail));
        }
        Ok(self.own.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
