//! A lock for calls that run side by side, except for some that run alone, and that may make further calls.
//!
//! A call takes a seat in a room while it runs. One that is to run alone waits until all seats are free, and newcomers
//! wait behind it. For calls that calls make, three rules keep them from waiting for each other forever:
//!
//! - a call that was made by one with a seat waits only for a call that runs alone, not in the queue;
//! - while a call waits to run alone, or does, the calls above it have given up their seats: they wait for it;
//! - the calls that a call makes while it runs alone have a room of their own; what it leaves behind there keeps all
//!   others waiting, as the call did.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::base::sync::unpoisoned;

/// A room. A default room is empty.
#[derive(Default)]
pub struct Exclusion(Mutex<State>);

#[derive(Default)]
struct State {
    /// The number of seats that are taken.
    permits_held: usize,
    /// Whether a call runs alone.
    alone: bool,
    queue: VecDeque<Arc<Waiter>>,
    /// The seat of the call whose room this is, if that call has ended and left calls behind here.
    owner: Option<Arc<Membership>>,
}

/// The place of a call in the queue.
struct Waiter {
    alone: bool,
    /// Set under the lock of the room.
    granted: AtomicBool,
    bell: Notify,
}

/// The seat of a call. The call has it until its [`Seated`] is dropped.
pub struct Membership {
    /// The room of all calls that no other call made.
    root: Arc<Exclusion>,
    room: Arc<Exclusion>,
    /// The room of the calls that this call makes, if it runs alone.
    inner: Option<Arc<Exclusion>>,
    /// The seat of the call that made this one.
    above: Option<Arc<Membership>>,
    /// How many calls below this one wait to run alone, or do. Changed under the lock of the room, as is `left`.
    yields: AtomicUsize,
    released: AtomicBool,
}

/// Keeps a seat, or a place in the queue for it.
pub struct ExclusionGuard {
    seat: Arc<Membership>,
    ticket: Option<Arc<Waiter>>,
}

impl Exclusion {
    /// Takes a seat for a call, which another call may have made, and which may have to run alone, or a place in the
    /// queue for it.
    pub fn enter(root: &Arc<Exclusion>, above: Option<&Arc<Membership>>, alone: bool) -> ExclusionGuard {
        let caller = chain(above).find(|seat| Arc::ptr_eq(&seat.root, root));
        let room = caller.map_or(root, |seat| seat.inner_room().unwrap_or(&seat.room));
        let seat = Arc::new(Membership {
            root: Arc::clone(root),
            room: Arc::clone(room),
            inner: alone.then(Arc::default),
            above: above.cloned(),
            yields: AtomicUsize::new(0),
            released: AtomicBool::new(false),
        });
        let state = &mut *unpoisoned(room.0.lock());
        let is_nested = seat.callers().next().is_some();
        if alone {
            seat.callers().for_each(|caller| caller.lend(state));
        }
        let waits = if alone {
            state.alone || state.permits_held > 0 || !state.queue.is_empty()
        } else {
            state.alone || !(is_nested || state.queue.is_empty())
        };
        if !waits {
            state.admit(alone);
            return ExclusionGuard { seat, ticket: None };
        }
        let ticket = Arc::new(Waiter { alone, granted: AtomicBool::new(false), bell: Notify::new() });
        if is_nested && !alone {
            state.queue.push_front(Arc::clone(&ticket));
        } else {
            state.queue.push_back(Arc::clone(&ticket));
        }
        // The callers may have left the last seats.
        state.admit_waiting();
        ExclusionGuard { seat, ticket: Some(ticket) }
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.permits_held == 0 && !self.alone && self.queue.is_empty()
    }

    fn admit(&mut self, alone: bool) {
        if alone {
            self.alone = true;
        } else {
            self.permits_held += 1;
        }
    }

    /// Admits those who need not wait any longer.
    fn admit_waiting(&mut self) {
        while let Some(next) = self.queue.front()
            && !self.alone
            && !(next.alone && self.permits_held > 0)
        {
            let Some(next) = self.queue.pop_front() else { return };
            self.admit(next.alone);
            next.granted.store(true, Ordering::Release);
            next.bell.notify_one();
        }
    }
}

impl Membership {
    /// Returns the room of the calls that this call makes, if it runs alone and still has its seat.
    fn inner_room(&self) -> Option<&Arc<Exclusion>> {
        self.inner.as_ref().filter(|_| !self.released.load(Ordering::Relaxed))
    }

    /// Returns the calls above this one that have or had a seat in the same room.
    fn callers(&self) -> impl Iterator<Item = &Membership> {
        let own = chain(self.above.as_ref()).filter(|seat| Arc::ptr_eq(&seat.root, &self.root));
        own.take_while(|seat| Arc::ptr_eq(&seat.room, &self.room)).map(|seat| &**seat)
    }

    /// Leaves the seat, or the queue.
    fn leave(&self, ticket: Option<&Arc<Waiter>>) {
        let alone = self.inner.is_some();
        let owner = {
            let state = &mut *unpoisoned(self.room.0.lock());
            match ticket.filter(|ticket| !ticket.granted.load(Ordering::Relaxed)) {
                Some(ticket) => state.queue.retain(|other| !Arc::ptr_eq(other, ticket)),
                None if alone => state.alone = false,
                None if self.yields.load(Ordering::Relaxed) == 0 => state.permits_held -= 1,
                None => {}
            }
            self.released.store(true, Ordering::Relaxed);
            if alone {
                self.callers().for_each(|caller| caller.take_back(state));
            }
            state.admit_waiting();
            if state.is_empty() { state.owner.take() } else { None }
        };
        if let Some(owner) = owner {
            owner.leave(None);
        }
    }

    /// Gives up the seat while a call below waits to run alone or does.
    fn lend(&self, state: &mut State) {
        let before = self.yields.fetch_add(1, Ordering::Relaxed);
        if before == 0 && !self.released.load(Ordering::Relaxed) {
            state.permits_held -= 1;
        }
    }

    /// Takes the seat back when the last of these calls has ended.
    fn take_back(&self, state: &mut State) {
        let before = self.yields.fetch_sub(1, Ordering::Relaxed);
        if before == 1 && !self.released.load(Ordering::Relaxed) {
            state.permits_held += 1;
        }
    }
}

impl ExclusionGuard {
    /// Returns whether the call must wait for its seat.
    pub fn must_wait(&self) -> bool {
        self.ticket.as_ref().is_some_and(|ticket| !ticket.granted.load(Ordering::Acquire))
    }

    /// Waits until the call has its seat.
    pub async fn ready(&self) {
        while let Some(ticket) = self.ticket.as_ref().filter(|_| self.must_wait()) {
            ticket.bell.notified().await;
        }
    }

    /// Returns the seat, for the calls that the call makes.
    pub fn seat(&self) -> &Arc<Membership> {
        &self.seat
    }
}

impl Drop for ExclusionGuard {
    fn drop(&mut self) {
        if let Some(inner) = &self.seat.inner {
            let state = &mut *unpoisoned(inner.0.lock());
            if !state.is_empty() {
                state.owner = Some(Arc::clone(&self.seat));
                return;
            }
        }
        self.seat.leave(self.ticket.as_ref());
    }
}

/// Returns the seats from this one upwards.
fn chain(seat: Option<&Arc<Membership>>) -> impl Iterator<Item = &Arc<Membership>> {
    std::iter::successors(seat, |seat| seat.above.as_ref())
}

#[cfg(all(test, not(toolgen_model)))]
mod tests {
    use super::*;

    /// Takes a seat if one is free.
    fn enter(root: &Arc<Exclusion>, above: Option<&ExclusionGuard>, alone: bool) -> Option<ExclusionGuard> {
        let seated = Exclusion::enter(root, above.map(ExclusionGuard::seat), alone);
        (!seated.must_wait()).then_some(seated)
    }

    fn is_empty(root: &Exclusion) -> bool {
        unpoisoned(root.0.lock()).is_empty()
    }

    #[test]
    fn exclusive_call_waits_for_shared_calls_and_blocks_them() {
        let root = Arc::default();
        let (first, second) = (enter(&root, None, false).unwrap(), enter(&root, None, false).unwrap());
        assert!(enter(&root, None, true).is_none());
        drop((first, second));
        let alone = enter(&root, None, true).unwrap();
        assert!(enter(&root, None, false).is_none() && enter(&root, None, true).is_none());
        drop(alone);
        assert!(is_empty(&root));
    }

    #[tokio::test]
    async fn new_calls_queue_behind_an_exclusive_one_but_callees_do_not() {
        let root = Arc::default();
        let first = enter(&root, None, false).unwrap();
        let waiting = Exclusion::enter(&root, None, true);
        assert!(waiting.must_wait() && enter(&root, None, false).is_none());
        assert!(enter(&root, Some(&first), false).is_some());
        drop(first);
        waiting.ready().await;
        drop(waiting);
        assert!(is_empty(&root));
    }

    #[test]
    fn two_callers_of_an_exclusive_call_do_not_deadlock() {
        let root = Arc::default();
        let (one, other) = (enter(&root, None, false).unwrap(), enter(&root, None, false).unwrap());
        let first = Exclusion::enter(&root, Some(one.seat()), true);
        assert!(first.must_wait(), "the other call still runs");
        let second = Exclusion::enter(&root, Some(other.seat()), true);
        assert!(!first.must_wait() && second.must_wait());
        drop(first);
        assert!(second.must_wait(), "the first caller goes on");
        drop(one);
        assert!(!second.must_wait());
        drop(second);
        assert!(!is_empty(&root));
        drop(other);
        assert!(is_empty(&root));
    }

    #[test]
    fn exclusive_call_has_its_own_scope_for_nested_calls() {
        let root = Arc::default();
        let alone = enter(&root, None, true).unwrap();
        let again = enter(&root, Some(&alone), true).unwrap();
        assert!(enter(&root, Some(&alone), false).is_none() && enter(&root, None, false).is_none());
        let deeper = enter(&root, Some(&again), false).unwrap();
        drop((deeper, again));
        let beside = enter(&root, Some(&alone), false).unwrap();
        assert!(enter(&root, Some(&alone), true).is_none());
        drop((beside, alone));
        assert!(is_empty(&root));
    }

    #[test]
    fn caller_may_end_before_its_callee() {
        let root = Arc::default();
        let caller = enter(&root, None, false).unwrap();
        let callee = enter(&root, Some(&caller), true).unwrap();
        drop(caller);
        assert!(enter(&root, None, false).is_none());
        drop(callee);
        assert!(is_empty(&root));
    }

    #[test]
    fn calls_outliving_an_exclusive_call_keep_the_lock() {
        let root = Arc::default();
        let alone = enter(&root, None, true).unwrap();
        let seat = Arc::clone(alone.seat());
        let left = enter(&root, Some(&alone), false).unwrap();
        let deeper = enter(&root, Some(&left), true).unwrap();
        drop(alone);
        let next = Exclusion::enter(&root, None, true);
        assert!(next.must_wait() && enter(&root, None, false).is_none());
        drop(left);
        assert!(next.must_wait(), "one call is left");
        drop(deeper);
        assert!(!next.must_wait());
        assert!(Exclusion::enter(&root, Some(&seat), false).must_wait(), "it comes too late");
        drop(next);
        assert!(is_empty(&root));
    }
}
