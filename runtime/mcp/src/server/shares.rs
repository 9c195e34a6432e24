//! Shares of a common limit, so that no caller uses all of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rmcp::model::ErrorData;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::sync::unpoisoned;

/// Default maximum number of concurrent calls.
const DEFAULT_MAX_CALLS: usize = 1024;

/// Returns the default share of a caller: a quarter of the total, but at least 8.
pub(super) fn default_share(total: usize) -> usize {
    (total / 4).max(8)
}

/// The number of permits that each caller holds.
#[derive(Default)]
pub(super) struct Shares(Mutex<BTreeMap<Text, usize>>);

/// A permit of a caller. It is released when this is dropped.
pub(super) struct Share {
    shares: Arc<Shares>,
    caller: Text,
}

impl Shares {
    /// Returns a permit for a caller, unless the caller has reached its maximum.
    pub(super) fn acquire(self: &Arc<Self>, caller: Text, max: usize) -> Option<Share> {
        let mut counts = unpoisoned(self.0.lock());
        let count = counts.entry(caller.clone()).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(Share { shares: Arc::clone(self), caller })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut counts = unpoisoned(self.shares.0.lock());
        if let Some(count) = counts.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.caller);
            }
        }
    }
}

/// The limits on concurrent calls: of all clients, and per principal.
#[derive(Clone)]
pub(super) struct CallLimits {
    permits: Arc<Semaphore>,
    max_total: usize,
    max_per_caller: Option<usize>,
    shares: Arc<Shares>,
}

/// A permit to run a call.
pub(super) struct CallPermit {
    _permit: OwnedSemaphorePermit,
    _share: Option<Share>,
}

impl Default for CallLimits {
    fn default() -> CallLimits {
        let permits = Arc::new(Semaphore::new(DEFAULT_MAX_CALLS));
        CallLimits { permits, max_total: DEFAULT_MAX_CALLS, max_per_caller: None, shares: Arc::default() }
    }
}

impl CallLimits {
    pub(super) fn set_max_total(&mut self, calls: usize) {
        self.max_total = calls.clamp(1, Semaphore::MAX_PERMITS);
        self.permits = Arc::new(Semaphore::new(self.max_total));
    }

    pub(super) fn set_max_per_caller(&mut self, calls: usize) {
        self.max_per_caller = Some(calls.max(1));
    }

    /// Returns a permit for a call of a principal.
    ///
    /// # Errors
    ///
    /// Returns an error if a limit on concurrent calls is reached.
    pub(super) fn acquire(&self, principal: Option<&Text>) -> Result<CallPermit, ErrorData> {
        let rejection = |holder: &str| {
            let text =
                format!("{holder} is at the limit of concurrent calls. Retry when a call has completed.");
            ErrorData::internal_error(text, None)
        };
        let max_per_caller = self.max_per_caller.unwrap_or_else(|| default_share(self.max_total));
        let share = match principal {
            Some(id) => Some(
                self.shares
                    .acquire(id.clone(), max_per_caller)
                    .ok_or_else(|| rejection("This caller of the server"))?,
            ),
            None => None,
        };
        let permit = Arc::clone(&self.permits).try_acquire_owned().map_err(|_| rejection("The server"))?;
        Ok(CallPermit { _permit: permit, _share: share })
    }
}
