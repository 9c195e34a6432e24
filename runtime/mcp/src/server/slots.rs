//! Requests and notifications of a connection over streams that are being handled. If there are too many, reading
//! pauses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use rmcp::model::RequestId;
use tokio::sync::watch;

/// Maximum number of messages handled concurrently. Running calls and subscriptions do not count; they have their own
/// limits.
pub(super) const MOST: usize = 64;

/// The slot of a message that is being handled. It is released when all clones are dropped.
#[derive(Clone)]
pub(super) struct Slot(Arc<Held>);

struct Held {
    handled: watch::Sender<usize>,
    is_free: AtomicBool,
}

impl Slot {
    fn new(handled: &watch::Sender<usize>) -> Slot {
        handled.send_modify(|handled| *handled += 1);
        Slot(Arc::new(Held { handled: handled.clone(), is_free: AtomicBool::new(false) }))
    }

    /// Releases the slot early for a long-running message, which another limit bounds.
    pub(super) fn give_back(&self) {
        self.0.give_back();
    }
}

impl Held {
    fn give_back(&self) {
        if !self.is_free.swap(true, Ordering::Relaxed) {
            self.handled.send_modify(|handled| *handled -= 1);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The slots of one connection.
pub(super) struct Slots {
    handled: watch::Sender<usize>,
    /// The pending requests. A cancelled request gets no response and holds no slot here.
    open: HashMap<RequestId, (Option<Slot>, Weak<Held>)>,
}

impl Slots {
    pub(super) fn new() -> Slots {
        Slots { handled: watch::Sender::new(0), open: HashMap::new() }
    }

    /// Returns the number of messages being handled, at most [`MOST`].
    pub(super) fn handled(&self) -> watch::Receiver<usize> {
        self.handled.subscribe()
    }

    /// Returns a slot for a request, unless a request with the same ID is pending.
    pub(super) fn request(&mut self, id: &RequestId) -> Option<Slot> {
        if self.open.get(id).is_some_and(|(_, held)| held.strong_count() > 0) {
            return None;
        }
        let slot = self.notification();
        self.open.insert(id.clone(), (Some(slot.clone()), Arc::downgrade(&slot.0)));
        Some(slot)
    }

    pub(super) fn notification(&self) -> Slot {
        Slot::new(&self.handled)
    }

    /// Records that a request was answered.
    pub(super) fn answered(&mut self, id: &RequestId) {
        self.open.remove(id);
    }

    /// Records that a request gets no response. Its ID stays in use while the request is being handled.
    pub(super) fn cancelled(&mut self, id: &RequestId) {
        if let Some((slot, _)) = self.open.get_mut(id) {
            *slot = None;
        }
        self.open.retain(|_, (_, held)| held.strong_count() > 0);
    }
}
