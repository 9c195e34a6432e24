//! The requests and notifications of a connection over streams that are being handled: nothing more is read while there
//! are too many.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use rmcp::model::RequestId;
use tokio::sync::watch;

/// How many messages are handled at the same time, besides the calls that run and subscriptions, which have limits of
/// their own.
pub(super) const MOST: usize = 64;

/// The place of a message that is being handled, until it is dropped everywhere.
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

    /// Lets another message in, although this one is handled for long: something else limits how many there are.
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

/// The places of one connection.
pub(super) struct Slots {
    handled: watch::Sender<usize>,
    /// The requests that have no answer yet; without a slot of their own if they will get none, because they were
    /// cancelled.
    open: HashMap<RequestId, (Option<Slot>, Weak<Held>)>,
}

impl Slots {
    pub(super) fn new() -> Slots {
        Slots { handled: watch::Sender::new(0), open: HashMap::new() }
    }

    /// How many messages are being handled, at most [`MOST`].
    pub(super) fn handled(&self) -> watch::Receiver<usize> {
        self.handled.subscribe()
    }

    /// Returns the place of a request, unless one with the same ID is being handled.
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

    /// Notes that a request has its answer.
    pub(super) fn answered(&mut self, id: &RequestId) {
        self.open.remove(id);
    }

    /// Notes that a request gets no answer. Its ID stays taken while it is being handled.
    pub(super) fn cancelled(&mut self, id: &RequestId) {
        if let Some((slot, _)) = self.open.get_mut(id) {
            *slot = None;
        }
        self.open.retain(|_, (_, held)| held.strong_count() > 0);
    }
}
