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
    /// Whether an exclusive call is running.
    is_locked: bool,
    queue: VecDeque<Arc<Waiter>>,
    /// The membership of the exclusive call that owns this scope, if that call has ended while calls still run here.
    owner: Option<Arc<Membership>>,
}

/// A call in the queue.
struct Waiter {
    is_exclusive: bool,
    /// Set under the lock of the scope.
    granted: AtomicBool,
    notify: Notify,
}

/// The membership of a call in a scope. The call holds its permit until its [`ExclusionGuard`] is dropped.
pub struct Membership {
    /// The outermost scope: that of calls without a caller.
    root: Arc<Exclusion>,
    /// The scope in which the call holds its permit.
    scope: Arc<Exclusion>,
    /// The scope of the nested calls of this call, if it is exclusive.
    inner: Option<Arc<Exclusion>>,
    /// The membership of the caller of this call.
    caller: Option<Arc<Membership>>,
    /// The number of nested exclusive calls of this call that wait or run. Changed under the lock of the scope, as is
    /// `released`.
    exclusive_callees: AtomicUsize,
    released: AtomicBool,
}

/// Holds a permit, or a place in the queue for it.
pub struct ExclusionGuard {
    membership: Arc<Membership>,
    waiter: Option<Arc<Waiter>>,
}

impl Exclusion {
    /// Acquires a permit for a call, or a place in the queue for it. A nested call passes the membership of its caller.
    pub fn enter(root: &Arc<Exclusion>, caller: Option<&Arc<Membership>>, exclusive: bool) -> ExclusionGuard {
        let ancestor = chain(caller).find(|membership| Arc::ptr_eq(&membership.root, root));
        let scope = ancestor.map_or(root, |ancestor| ancestor.inner_scope().unwrap_or(&ancestor.scope));
        let membership = Arc::new(Membership {
            root: Arc::clone(root),
            scope: Arc::clone(scope),
            inner: exclusive.then(Arc::default),
            caller: caller.cloned(),
            exclusive_callees: AtomicUsize::new(0),
            released: AtomicBool::new(false),
        });
        let state = &mut *unpoisoned(scope.0.lock());
        let is_nested = membership.callers().next().is_some();
        if exclusive {
            membership.callers().for_each(|caller| caller.lend(state));
        }
        let must_wait = if exclusive {
            state.is_locked || state.permits_held > 0 || !state.queue.is_empty()
        } else {
            state.is_locked || !(is_nested || state.queue.is_empty())
        };
        if !must_wait {
            state.admit(exclusive);
            return ExclusionGuard { membership, waiter: None };
        }
        let waiter = Arc::new(Waiter {
            is_exclusive: exclusive,
            granted: AtomicBool::new(false),
            notify: Notify::new(),
        });
        if is_nested && !exclusive {
            state.queue.push_front(Arc::clone(&waiter));
        } else {
            state.queue.push_back(Arc::clone(&waiter));
        }
        // The callers may have released the last permits.
        state.admit_waiting();
        ExclusionGuard { membership, waiter: Some(waiter) }
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.permits_held == 0 && !self.is_locked && self.queue.is_empty()
    }

    fn admit(&mut self, exclusive: bool) {
        if exclusive {
            self.is_locked = true;
        } else {
            self.permits_held += 1;
        }
    }

    /// Admits the calls that no longer have to wait.
    fn admit_waiting(&mut self) {
        while let Some(next) = self.queue.front()
            && !self.is_locked
            && !(next.is_exclusive && self.permits_held > 0)
        {
            let Some(next) = self.queue.pop_front() else { return };
            self.admit(next.is_exclusive);
            next.granted.store(true, Ordering::Release);
            next.notify.notify_one();
        }
    }
}

impl Membership {
    /// Returns the scope of the nested calls of this call, if it is exclusive and has not ended.
    fn inner_scope(&self) -> Option<&Arc<Exclusion>> {
        self.inner.as_ref().filter(|_| !self.released.load(Ordering::Relaxed))
    }

    /// Returns the ancestors of this call that have or had a permit in the same scope.
    fn callers(&self) -> impl Iterator<Item = &Membership> {
        let ancestors =
            chain(self.caller.as_ref()).filter(|ancestor| Arc::ptr_eq(&ancestor.root, &self.root));
        ancestors.take_while(|ancestor| Arc::ptr_eq(&ancestor.scope, &self.scope)).map(|ancestor| &**ancestor)
    }

    /// Releases the permit, or leaves the queue.
    fn leave(&self, waiter: Option<&Arc<Waiter>>) {
        let exclusive = self.inner.is_some();
        let owner = {
            let state = &mut *unpoisoned(self.scope.0.lock());
            match waiter.filter(|waiter| !waiter.granted.load(Ordering::Relaxed)) {
                Some(waiter) => state.queue.retain(|other| !Arc::ptr_eq(other, waiter)),
                None if exclusive => state.is_locked = false,
                None if self.exclusive_callees.load(Ordering::Relaxed) == 0 => state.permits_held -= 1,
                None => {}
            }
            self.released.store(true, Ordering::Relaxed);
            if exclusive {
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
        let before = self.exclusive_callees.fetch_add(1, Ordering::Relaxed);
        if before == 0 && !self.released.load(Ordering::Relaxed) {
            state.permits_held -= 1;
        }
    }

    /// Reacquires the permit when the last nested exclusive call has ended.
    fn take_back(&self, state: &mut State) {
        let before = self.exclusive_callees.fetch_sub(1, Ordering::Relaxed);
        if before == 1 && !self.released.load(Ordering::Relaxed) {
            state.permits_held += 1;
        }
    }
}

impl ExclusionGuard {
    /// Whether the call must wait for its permit.
    pub fn must_wait(&self) -> bool {
        self.waiter.as_ref().is_some_and(|waiter| !waiter.granted.load(Ordering::Acquire))
    }

    /// Waits until the call has its permit.
    pub async fn ready(&self) {
        while let Some(waiter) = self.waiter.as_ref().filter(|_| self.must_wait()) {
            waiter.notify.notified().await;
        }
    }

    /// Returns the membership of the call, for its nested calls.
    pub fn seat(&self) -> &Arc<Membership> {
        &self.membership
    }
}

impl Drop for ExclusionGuard {
    fn drop(&mut self) {
        if let Some(inner) = &self.membership.inner {
            let state = &mut *unpoisoned(inner.0.lock());
            if !state.is_empty() {
                state.owner = Some(Arc::clone(&self.membership));
                return;
            }
        }
        self.membership.leave(self.waiter.as_ref());
    }
}

/// Returns a membership and those of its ancestors.
fn chain(membership: Option<&Arc<Membership>>) -> impl Iterator<Item = &Arc<Membership>> {
    std::iter::successors(membership, |membership| membership.caller.as_ref())
}

#[cfg(all(test, not(toolgen_model)))]
mod tests {
    use super::*;

    /// Acquires a permit if one is available.
    fn enter(
        root: &Arc<Exclusion>,
        caller: Option<&ExclusionGuard>,
        exclusive: bool,
    ) -> Option<ExclusionGuard> {
        let guard = Exclusion::enter(root, caller.map(ExclusionGuard::seat), exclusive);
        (!guard.must_wait()).then_some(guard)
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
        let exclusive = enter(&root, None, true).unwrap();
        assert!(enter(&root, None, false).is_none() && enter(&root, None, true).is_none());
        drop(exclusive);
        assert!(is_empty(&root));
    }

    #[tokio::test]
    async fn new_calls_but_not_callees_queue_behind_an_exclusive_call() {
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
        let (caller_a, caller_b) = (enter(&root, None, false).unwrap(), enter(&root, None, false).unwrap());
        let first = Exclusion::enter(&root, Some(caller_a.seat()), true);
        assert!(first.must_wait(), "the other caller still runs");
        let second = Exclusion::enter(&root, Some(caller_b.seat()), true);
        assert!(!first.must_wait() && second.must_wait());
        drop(first);
        assert!(second.must_wait(), "the first caller continues");
        drop(caller_a);
        assert!(!second.must_wait());
        drop(second);
        assert!(!is_empty(&root));
        drop(caller_b);
        assert!(is_empty(&root));
    }

    #[test]
    fn exclusive_call_has_its_own_scope_for_nested_calls() {
        let root = Arc::default();
        let exclusive = enter(&root, None, true).unwrap();
        let nested = enter(&root, Some(&exclusive), true).unwrap();
        assert!(enter(&root, Some(&exclusive), false).is_none() && enter(&root, None, false).is_none());
        let innermost = enter(&root, Some(&nested), false).unwrap();
        drop((innermost, nested));
        let shared = enter(&root, Some(&exclusive), false).unwrap();
        assert!(enter(&root, Some(&exclusive), true).is_none());
        drop((shared, exclusive));
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
        let exclusive = enter(&root, None, true).unwrap();
        let membership = Arc::clone(exclusive.seat());
        let remaining = enter(&root, Some(&exclusive), false).unwrap();
        let innermost = enter(&root, Some(&remaining), true).unwrap();
        drop(exclusive);
        let next = Exclusion::enter(&root, None, true);
        assert!(next.must_wait() && enter(&root, None, false).is_none());
        drop(remaining);
        assert!(next.must_wait(), "a call still runs");
        drop(innermost);
        assert!(!next.must_wait());
        assert!(Exclusion::enter(&root, Some(&membership), false).must_wait(), "the caller has ended");
        drop(next);
        assert!(is_empty(&root));
    }
}
