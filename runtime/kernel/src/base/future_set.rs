//! Runs futures concurrently in one task, and polls each only after it was woken.

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::base::sync::{Mutex, unpoisoned};

/// A set of futures, each in its own slot.
pub struct Join<F> {
    slots: Vec<Option<Slot<F>>>,
    running: usize,
    /// The slots to poll, in the order in which they were woken.
    due: VecDeque<usize>,
    wake_list: Arc<WakeList>,
}

struct Slot<F> {
    future: F,
    waker: Waker,
}

/// Records which slots were woken.
struct WakeList(Mutex<Woken>);

struct Woken {
    slots: Vec<usize>,
    /// For each slot, whether it is already in `slots`.
    is_listed: Vec<bool>,
    /// The task that waits for all futures. Taken when the task is woken, so it is woken once.
    task: Option<Waker>,
}

/// Wakes the future in one slot.
struct SlotWaker {
    slot: usize,
    wake_list: Arc<WakeList>,
}

impl<F: Future + Unpin> Join<F> {
    /// Creates a set of `len` empty slots.
    pub fn new(len: usize) -> Join<F> {
        let woken = Woken { slots: Vec::new(), is_listed: vec![false; len], task: None };
        let slots = std::iter::repeat_with(|| None).take(len).collect();
        Join { slots, running: 0, due: VecDeque::new(), wake_list: Arc::new(WakeList(Mutex::new(woken))) }
    }

    /// Puts a future in an empty slot. It is polled when the next output is requested.
    pub fn push(&mut self, index: usize, future: F) {
        let waker = Waker::from(Arc::new(SlotWaker { slot: index, wake_list: Arc::clone(&self.wake_list) }));
        self.wake_list.record(index);
        if self.slots[index].replace(Slot { future, waker }).is_none() {
            self.running += 1;
        }
    }

    /// Returns the slot and output of the next future that finishes; `None` if all have finished.
    pub async fn next(&mut self) -> Option<(usize, F::Output)> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(usize, F::Output)>> {
        if self.running == 0 {
            return Poll::Ready(None);
        }
        self.wake_list.take(cx.waker(), &mut self.due);
        while let Some(index) = self.due.pop_front() {
            // It may have been woken once more before it finished.
            let Some(slot) = &mut self.slots[index] else { continue };
            if let Poll::Ready(value) = Pin::new(&mut slot.future).poll(&mut Context::from_waker(&slot.waker))
            {
                self.slots[index] = None;
                self.running -= 1;
                return Poll::Ready(Some((index, value)));
            }
        }
        Poll::Pending
    }
}

impl WakeList {
    /// Records that a slot was woken. Returns the task if it must be woken.
    fn record(&self, index: usize) -> Option<Waker> {
        let mut woken = unpoisoned(self.0.lock());
        if !mem::replace(&mut woken.is_listed[index], true) {
            woken.slots.push(index);
        }
        woken.task.take()
    }

    /// Takes the recorded slots and registers the task to wake, in one step: slots woken before are due, and slots
    /// woken later wake the task.
    fn take(&self, task: &Waker, due: &mut VecDeque<usize>) {
        let mut woken = unpoisoned(self.0.lock());
        for index in mem::take(&mut woken.slots) {
            woken.is_listed[index] = false;
            due.push_back(index);
        }
        if !woken.task.as_ref().is_some_and(|waker| waker.will_wake(task)) {
            woken.task = Some(task.clone());
        }
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(task) = self.wake_list.record(self.slot) {
            task.wake();
        }
    }
}
