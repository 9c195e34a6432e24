//! Shares of a common limit, so that no caller uses all of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rmcp::model::ErrorData;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::sync::unpoisoned;

/// Default maximum number of concurrent calls.
const DEFAULT_MAX_CALLS: usize = 1024;

/// Returns the default share of one caller: a quarter, but enough not to slow down a single caller.
pub(super) fn quarter(all: usize) -> usize {
    (all / 4).max(8)
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
    pub(super) fn take(self: &Arc<Self>, caller: Text, max: usize) -> Option<Share> {
        let mut all = unpoisoned(self.0.lock());
        let count = all.entry(caller.clone()).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(Share { shares: Arc::clone(self), caller })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut all = unpoisoned(self.shares.0.lock());
        if let Some(count) = all.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.caller);
            }
        }
    }
}

/// The limits on concurrent calls: of all clients, and per principal.
#[derive(Clone)]
pub(super) struct Calls {
    all: Arc<Semaphore>,
    most: usize,
    each: Option<usize>,
    shares: Arc<Shares>,
}

/// A permit to run a call.
pub(super) struct Running {
    _one_of_all: OwnedSemaphorePermit,
    _share: Option<Share>,
}

impl Default for Calls {
    fn default() -> Calls {
        let all = Arc::new(Semaphore::new(DEFAULT_MAX_CALLS));
        Calls { all, most: DEFAULT_MAX_CALLS, each: None, shares: Arc::default() }
    }
}

impl Calls {
    pub(super) fn set_most(&mut self, calls: usize) {
        self.most = calls.clamp(1, Semaphore::MAX_PERMITS);
        self.all = Arc::new(Semaphore::new(self.most));
    }

    pub(super) fn set_each(&mut self, calls: usize) {
        self.each = Some(calls.max(1));
    }

    /// Returns a permit for a call of a principal.
    ///
    /// # Errors
    ///
    /// Returns an error if a limit on concurrent calls is reached.
    pub(super) fn begin(&self, principal: Option<&Text>) -> Result<Running, ErrorData> {
        let refused = |whose: &str| {
            let text =
                format!("{whose} is at the limit of concurrent calls. Retry when a call has completed.");
            ErrorData::internal_error(text, None)
        };
        let each = self.each.unwrap_or_else(|| quarter(self.most));
        let share = match principal {
            Some(id) => {
                Some(self.shares.take(id.clone(), each).ok_or_else(|| refused("This caller of the server"))?)
            }
            None => None,
        };
        let one = Arc::clone(&self.all).try_acquire_owned().map_err(|_| refused("The server"))?;
        Ok(Running { _one_of_all: one, _share: share })
    }
}
