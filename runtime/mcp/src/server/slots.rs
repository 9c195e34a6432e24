//! Counts the messages of a connection over streams that are being handled. Reading pauses at a limit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use rmcp::model::RequestId;
use tokio::sync::watch;

/// Maximum number of messages handled concurrently. Running calls and subscriptions do not count; they have their own
/// limits.
pub(super) const MAX_HANDLED: usize = 64;

/// The slot of a message that is being handled. It is released when all clones are dropped.
#[derive(Clone)]
pub(super) struct Slot(Arc<SlotState>);

struct SlotState {
    handled: watch::Sender<usize>,
    is_released: AtomicBool,
}

impl Slot {
    fn new(handled: &watch::Sender<usize>) -> Slot {
        handled.send_modify(|handled| *handled += 1);
        Slot(Arc::new(SlotState { handled: handled.clone(), is_released: AtomicBool::new(false) }))
    }

    /// Releases the slot early for a long-running message, which another limit bounds.
    pub(super) fn release(&self) {
        self.0.release();
    }
}

impl SlotState {
    fn release(&self) {
        if !self.is_released.swap(true, Ordering::Relaxed) {
            self.handled.send_modify(|handled| *handled -= 1);
        }
    }
}

impl Drop for SlotState {
    fn drop(&mut self) {
        self.release();
    }
}

/// The slots of one connection.
pub(super) struct Slots {
    handled: watch::Sender<usize>,
    /// The pending requests. A cancelled request gets no response and holds no slot here.
    pending: HashMap<RequestId, (Option<Slot>, Weak<SlotState>)>,
}

impl Slots {
    pub(super) fn new() -> Slots {
        Slots { handled: watch::Sender::new(0), pending: HashMap::new() }
    }

    /// Returns the number of messages being handled, at most [`MAX_HANDLED`].
    pub(super) fn handled(&self) -> watch::Receiver<usize> {
        self.handled.subscribe()
    }

    /// Returns a slot for a request, unless a request with the same ID is pending.
    pub(super) fn request(&mut self, id: &RequestId) -> Option<Slot> {
        if self.pending.get(id).is_some_and(|(_, state)| state.strong_count() > 0) {
            return None;
        }
        let slot = self.notification();
        self.pending.insert(id.clone(), (Some(slot.clone()), Arc::downgrade(&slot.0)));
        Some(slot)
    }

    pub(super) fn notification(&self) -> Slot {
        Slot::new(&self.handled)
    }

    /// Records that a request was answered.
    pub(super) fn complete(&mut self, id: &RequestId) {
        self.pending.remove(id);
    }

    /// Records that a request gets no response. The ID stays in use while the request is being handled.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        if let Some((slot, _)) = self.pending.get_mut(id) {
            *slot = None;
        }
        self.pending.retain(|_, (_, state)| state.strong_count() > 0);
    }
}
