//! Checks every interleaving of threads, with loom.

use std::sync::Arc;

use loom::thread;
use serde_json::json;

use super::*;

fn run_concurrently(guard: &Arc<RepeatGuard>, first: fn(&RepeatGuard), second: fn(&RepeatGuard)) {
    let shared = Arc::clone(guard);
    let thread = thread::spawn(move || first(&shared));
    second(guard);
    thread.join().unwrap();
}

fn record_failure(guard: &RepeatGuard) {
    guard.record("t", &json!({ "a": 1 }), Some("no"));
}

fn guard(limit: u32, capacity: usize) -> Arc<RepeatGuard> {
    let (limit, capacity) = (NonZeroU32::new(limit).unwrap(), NonZeroUsize::new(capacity).unwrap());
    Arc::new(RepeatGuard::new().with_limit(limit).with_capacity(capacity))
}

#[test]
fn concurrent_failures_are_all_counted() {
    loom::model(|| {
        let guard = guard(3, 4);
        record_failure(&guard);
        run_concurrently(&guard, record_failure, record_failure);
        assert!(guard.check("t", &json!({ "a": 1 })).is_err());
    });
}

#[test]
fn concurrent_success_and_failure_are_ordered() {
    loom::model(|| {
        let guard = guard(2, 4);
        record_failure(&guard);
        run_concurrently(&guard, record_failure, |guard| {
            assert!(!guard.record("t", &json!({ "a": 1 }), None))
        });
        // One failure remains if it was recorded after the success, and none otherwise; never two.
        assert!(guard.check("t", &json!({ "a": 1 })).is_ok());
        record_failure(&guard);
        record_failure(&guard);
        assert!(guard.check("t", &json!({ "a": 1 })).is_err());
    });
}

#[test]
fn capacity_is_never_exceeded() {
    loom::model(|| {
        let guard = guard(1, 1);
        run_concurrently(&guard, record_failure, |guard| assert!(guard.record("u", &json!({}), Some("no"))));
        assert_eq!(guard.len(), 1);
    });
}

#[test]
fn concurrent_check_sees_a_consistent_count() {
    loom::model(|| {
        let guard = guard(1, 4);
        run_concurrently(&guard, record_failure, |guard| drop(guard.check("t", &json!({ "a": 1 }))));
        assert!(guard.check("t", &json!({ "a": 1 })).is_err());
    });
}
