//! A lock for tool calls: shared calls run concurrently, an exclusive call runs alone, and either may make nested
//! calls.
//!
//! A call holds a permit of a scope while it runs. An exclusive call waits until all permits are released, and later
//! calls queue behind it. Three rules prevent deadlocks of nested calls:
//!
//! - a nested call whose ancestor holds a permit waits only for a running exclusive call, not in the queue;
//! - while a nested exclusive call waits or runs, its ancestors release their permits: they are waiting for it;
//! - the nested calls of an exclusive call have a separate scope; calls that it leaves running keep the outer scope
//!   locked, as the exclusive call did.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::base::sync::unpoisoned;

/// A scope. A default scope has no calls.
#[derive(Default)]
pub struct Exclusion(Mutex<State>);

#[derive(Default)]
struct State {
    /// The number of permits that are held.
    permits_held: usize,
    /// Whether an exclusive call runs.
    alone: bool,
    queue: VecDeque<Arc<Waiter>>,
    /// The membership of the exclusive call that owns this scope, if that call has ended and left calls running here.
    owner: Option<Arc<Membership>>,
}

/// A call in the queue.
struct Waiter {
    alone: bool,
    /// Set under the lock of the scope.
    granted: AtomicBool,
    bell: Notify,
}

/// The membership of a call in a scope. The call holds its permit until its [`ExclusionGuard`] is dropped.
pub struct Membership {
    /// The outermost scope, of calls without a caller.
    root: Arc<Exclusion>,
    room: Arc<Exclusion>,
    /// The scope of the nested calls of this call, if it is exclusive.
    inner: Option<Arc<Exclusion>>,
    /// The membership of the caller of this call.
    above: Option<Arc<Membership>>,
    /// How many nested exclusive calls of this call wait or run. Changed under the lock of the scope, as is
    /// `released`.
    yields: AtomicUsize,
    released: AtomicBool,
}

/// Holds a permit, or a place in the queue for it.
pub struct ExclusionGuard {
    seat: Arc<Membership>,
    ticket: Option<Arc<Waiter>>,
}

impl Exclusion {
    /// Acquires a permit for a call, or a place in the queue for it. The call may be nested, and may be exclusive.
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
        // The callers may have released the last permits.
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

    /// Admits the calls that no longer have to wait.
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
    /// Returns the scope of the nested calls of this call, if it is exclusive and has not ended.
    fn inner_room(&self) -> Option<&Arc<Exclusion>> {
        self.inner.as_ref().filter(|_| !self.released.load(Ordering::Relaxed))
    }

    /// Returns the ancestors of this call that have or had a permit in the same scope.
    fn callers(&self) -> impl Iterator<Item = &Membership> {
        let own = chain(self.above.as_ref()).filter(|seat| Arc::ptr_eq(&seat.root, &self.root));
        own.take_while(|seat| Arc::ptr_eq(&seat.room, &self.room)).map(|seat| &**seat)
    }

    /// Releases the permit, or leaves the queue.
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

    /// Releases the permit while a nested exclusive call waits or runs.
    fn lend(&self, state: &mut State) {
        let before = self.yields.fetch_add(1, Ordering::Relaxed);
        if before == 0 && !self.released.load(Ordering::Relaxed) {
            state.permits_held -= 1;
        }
    }

    /// Reacquires the permit when the last of these calls has ended.
    fn take_back(&self, state: &mut State) {
        let before = self.yields.fetch_sub(1, Ordering::Relaxed);
        if before == 1 && !self.released.load(Ordering::Relaxed) {
            state.permits_held += 1;
        }
    }
}

impl ExclusionGuard {
    /// Whether the call must wait for its permit.
    pub fn must_wait(&self) -> bool {
        self.ticket.as_ref().is_some_and(|ticket| !ticket.granted.load(Ordering::Acquire))
    }

    /// Waits until the call has its permit.
    pub async fn ready(&self) {
        while let Some(ticket) = self.ticket.as_ref().filter(|_| self.must_wait()) {
            ticket.bell.notified().await;
        }
    }

    /// Returns the membership of the call, for its nested calls.
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

/// Returns a membership and those of its ancestors.
fn chain(seat: Option<&Arc<Membership>>) -> impl Iterator<Item = &Arc<Membership>> {
    std::iter::successors(seat, |seat| seat.above.as_ref())
}

#[cfg(all(test, not(toolgen_model)))]
mod tests {
    use super::*;

    /// Acquires a permit if one is available.
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
        assert!(second.must_wait(), "the first caller continues");
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
