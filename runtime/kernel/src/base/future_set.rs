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
    board: Arc<WakeList>,
}

struct Slot<F> {
    future: F,
    waker: Waker,
}

/// Records which slots were woken.
struct WakeList(Mutex<Woken>);

struct Woken {
    places: Vec<usize>,
    /// For each slot, whether it is already in `places`.
    noted: Vec<bool>,
    /// The task that waits for all futures. Taken when it is woken, so it is woken once.
    task: Option<Waker>,
}

/// Wakes the future in one slot.
struct SlotWaker {
    place: usize,
    board: Arc<WakeList>,
}

impl<F: Future + Unpin> Join<F> {
    /// Creates a set with slots from 0 to `places`.
    pub fn new(places: usize) -> Join<F> {
        let woken = Woken { places: Vec::new(), noted: vec![false; places], task: None };
        let slots = std::iter::repeat_with(|| None).take(places).collect();
        Join { slots, running: 0, due: VecDeque::new(), board: Arc::new(WakeList(Mutex::new(woken))) }
    }

    /// Puts a future in an empty slot. It is polled when the next output is requested.
    pub fn push(&mut self, index: usize, future: F) {
        let waker = Waker::from(Arc::new(SlotWaker { place: index, board: Arc::clone(&self.board) }));
        self.board.note(index);
        if self.slots[index].replace(Slot { future, waker }).is_none() {
            self.running += 1;
        }
    }

    /// Returns the slot and output of the next future that finishes; `None` if none is left.
    pub async fn next(&mut self) -> Option<(usize, F::Output)> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(usize, F::Output)>> {
        if self.running == 0 {
            return Poll::Ready(None);
        }
        self.board.take(cx.waker(), &mut self.due);
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
    /// Records that a slot was woken. Returns the task if it has to be woken.
    fn note(&self, index: usize) -> Option<Waker> {
        let mut woken = unpoisoned(self.0.lock());
        if !mem::replace(&mut woken.noted[index], true) {
            woken.places.push(index);
        }
        woken.task.take()
    }

    /// Takes the recorded slots and registers the task to wake, in one step: a slot that was woken before is due, a
    /// slot that is woken later wakes the task.
    fn take(&self, task: &Waker, due: &mut VecDeque<usize>) {
        let mut woken = unpoisoned(self.0.lock());
        for index in mem::take(&mut woken.places) {
            woken.noted[index] = false;
            due.push_back(index);
        }
        if !woken.task.as_ref().is_some_and(|known| known.will_wake(task)) {
            woken.task = Some(task.clone());
        }
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(task) = self.board.note(self.place) {
            task.wake();
        }
    }
}
