//! Delivers the last event of a call after all others, regardless of the threads that report them.
//!
//! Nothing blocks: if an event is still in progress when the end event arrives, the thread that delivers the
//! former also delivers the end event.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::sync::{Mutex, unpoisoned};

/// This bit is set when the end has arrived. The other bits count the events in progress.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// Lets events pass until the end event, which passes after all others.
pub(super) struct Gate<T> {
    state: AtomicUsize,
    end: Mutex<Option<T>>,
}

impl<T> Default for Gate<T> {
    fn default() -> Self {
        Gate { state: AtomicUsize::new(0), end: Mutex::new(None) }
    }
}

impl<T> Gate<T> {
    /// Whether an event may pass. If so, [`leave`](Self::leave) must follow.
    pub(super) fn enter(&self) -> bool {
        let enter = |state: usize| (state & CLOSED == 0).then_some(state + 1);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).is_ok()
    }

    /// Records that an event has passed. Returns the end event if this thread must deliver it.
    pub(super) fn leave(&self) -> Option<T> {
        let before = self.state.fetch_sub(1, Ordering::AcqRel);
        if before == CLOSED + 1 { unpoisoned(self.end.lock()).take() } else { None }
    }

    /// Closes the gate. Returns the end event if no event is in progress. Later calls return `None`.
    pub(super) fn close(&self, end: T) -> Option<T> {
        *unpoisoned(self.end.lock()) = Some(end);
        let before = self.state.fetch_or(CLOSED, Ordering::AcqRel);
        if before == 0 { unpoisoned(self.end.lock()).take() } else { None }
    }
}

#[cfg(all(test, not(toolgen_model)))]
mod tests {
    use super::*;

    #[test]
    fn gate_yields_the_end_event_last_and_once() {
        let gate = Gate::default();
        assert!(gate.enter() && gate.enter());
        assert_eq!(gate.leave(), None);
        assert_eq!(gate.close("end"), None);
        assert!(!gate.enter());
        assert_eq!(gate.leave(), Some("end"));
        let empty = Gate::default();
        assert_eq!(empty.close("end"), Some("end"));
        assert_eq!(empty.close("again"), None);
    }
}
