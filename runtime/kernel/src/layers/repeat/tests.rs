use std::sync::Arc;

use serde_json::json;
use tokio::time::advance;

use super::*;

fn guard(limit: u32) -> RepeatGuard {
    RepeatGuard::new().with_limit(NonZeroU32::new(limit).unwrap())
}

fn fail(guard: &RepeatGuard, tool: &str, params: &Value, error: &str, times: usize) {
    for _ in 0..times {
        guard.record(tool, params, Some(error));
    }
}

fn is_blocked(guard: &RepeatGuard, tool: &str, params: &Value) -> bool {
    guard.check(tool, params).is_err()
}

fn make() -> Value {
    json!({ "command": "make test" })
}

#[test]
fn call_without_failures_runs() {
    assert!(!is_blocked(&RepeatGuard::new(), "shell", &make()));
}

#[test]
fn fourth_call_is_blocked_after_three_failures() {
    let guard = RepeatGuard::new();
    fail(&guard, "shell", &make(), "exit 1", 2);
    assert!(!is_blocked(&guard, "shell", &make()));
    fail(&guard, "shell", &make(), "exit 1", 1);
    assert!(is_blocked(&guard, "shell", &make()));
}

#[test]
fn message_and_code_are_stable() {
    let guard = RepeatGuard::new();
    fail(&guard, "shell", &make(), "exit 1", 3);
    let error = guard.check("shell", &make()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "⚠️ Tool circuit breaker: 'shell' has failed 3 consecutive times with the same error.\nExecution skipped. \
         Try a different approach or tool.\nLast error: exit 1"
    );
    assert_eq!(error.code(), "REPEATED_FAILURE");
}

#[test]
fn failure_limit_is_configurable() {
    let after_one = guard(1);
    fail(&after_one, "shell", &make(), "exit 1", 1);
    let text = after_one.check("shell", &make()).unwrap_err().to_string();
    assert!(text.contains("has failed 1 consecutive times"), "{text}");
    let after_ten = guard(10);
    fail(&after_ten, "shell", &make(), "exit 1", 9);
    assert!(!is_blocked(&after_ten, "shell", &make()));
    fail(&after_ten, "shell", &make(), "exit 1", 1);
    assert!(is_blocked(&after_ten, "shell", &make()));
}

#[test]
fn different_error_restarts_the_count() {
    let guard = RepeatGuard::new();
    fail(&guard, "shell", &make(), "line 42", 2);
    fail(&guard, "shell", &make(), "test failed", 1);
    assert!(!is_blocked(&guard, "shell", &make()));
    fail(&guard, "shell", &make(), "test failed", 1);
    assert!(!is_blocked(&guard, "shell", &make()));
    fail(&guard, "shell", &make(), "test failed", 1);
    assert!(is_blocked(&guard, "shell", &make()));
}

#[test]
fn recurring_error_counts_from_one() {
    let guard = RepeatGuard::new();
    for error in ["a", "a", "b", "a"] {
        fail(&guard, "shell", &make(), error, 1);
    }
    assert!(!is_blocked(&guard, "shell", &make()));
    fail(&guard, "shell", &make(), "a", 1);
    assert!(!is_blocked(&guard, "shell", &make()));
}

#[test]
fn success_resets_the_count() {
    let guard = RepeatGuard::new();
    fail(&guard, "shell", &make(), "exit 1", 2);
    guard.record("shell", &make(), None);
    assert!(guard.is_empty());
    fail(&guard, "shell", &make(), "exit 1", 2);
    assert!(!is_blocked(&guard, "shell", &make()));
}

#[test]
fn success_with_other_arguments_resets_nothing() {
    let guard = RepeatGuard::new();
    fail(&guard, "shell", &make(), "exit 1", 2);
    guard.record("shell", &json!({ "command": "pwd" }), None);
    fail(&guard, "shell", &make(), "exit 1", 1);
    assert!(is_blocked(&guard, "shell", &make()));
}

#[test]
fn success_of_another_tool_resets_nothing() {
    let guard = RepeatGuard::new();
    fail(&guard, "shell", &make(), "exit 1", 3);
    guard.record("bash", &make(), None);
    assert!(is_blocked(&guard, "shell", &make()));
}

#[test]
fn success_unblocks_a_blocked_call() {
    let guard = RepeatGuard::new();
    fail(&guard, "shell", &make(), "exit 1", 3);
    guard.record("shell", &make(), None);
    assert!(!is_blocked(&guard, "shell", &make()));
}

#[test]
fn interleaved_calls_do_not_reset_the_count() {
    let guard = RepeatGuard::new();
    for index in 0..3 {
        fail(&guard, "shell", &make(), "exit 1", 1);
        fail(&guard, "shell", &json!({ "command": index }), "exit 1", 1);
    }
    assert!(is_blocked(&guard, "shell", &make()));
    assert!(!is_blocked(&guard, "shell", &json!({ "command": 0 })));
}

#[test]
fn tools_with_equal_arguments_are_counted_separately() {
    let guard = guard(2);
    fail(&guard, "file_edit", &make(), "not found", 2);
    assert!(is_blocked(&guard, "file_edit", &make()));
    assert!(!is_blocked(&guard, "shell", &make()));
}

#[test]
fn calls_with_other_arguments_are_counted_separately() {
    let guard = guard(1);
    fail(&guard, "edit", &json!({ "path": "a", "old": "foo" }), "no", 1);
    assert!(!is_blocked(&guard, "edit", &json!({ "path": "a", "old": "bar" })));
    assert!(!is_blocked(&guard, "edit", &json!({ "path": "a" })));
    assert!(!is_blocked(&guard, "edit", &json!({ "path": "foo", "old": "a" })), "values are swapped");
}

#[test]
fn key_order_is_ignored_at_any_depth() {
    let guard = guard(1);
    fail(&guard, "t", &json!({ "a": 1, "b": { "c": [{ "x": 1, "y": 2 }], "d": null } }), "no", 1);
    assert!(is_blocked(&guard, "t", &json!({ "b": { "d": null, "c": [{ "y": 2, "x": 1 }] }, "a": 1 })));
}

#[test]
fn item_order_is_significant() {
    let guard = guard(1);
    fail(&guard, "t", &json!({ "a": [1, 2] }), "no", 1);
    assert!(!is_blocked(&guard, "t", &json!({ "a": [2, 1] })));
    assert!(!is_blocked(&guard, "t", &json!({ "a": [1, 2, 2] })));
}

#[test]
fn null_arguments_equal_an_empty_object() {
    let guard = guard(1);
    fail(&guard, "t", &Value::Null, "no", 1);
    assert!(is_blocked(&guard, "t", &json!({})));
    assert!(!is_blocked(&guard, "t", &json!({ "a": null })));
}

#[test]
fn equal_numbers_in_different_notation_are_equal() {
    let guard = guard(1);
    fail(&guard, "t", &json!({ "a": 1 }), "no", 1);
    assert!(is_blocked(&guard, "t", &json!({ "a": 1.0 })));
    for other in [json!("1"), json!(true), json!(1.5), json!(-1), json!([1])] {
        assert!(!is_blocked(&guard, "t", &json!({ "a": other })), "{other}");
    }
    fail(&guard, "t", &json!({ "a": u64::MAX }), "no", 1);
    assert!(!is_blocked(&guard, "t", &json!({ "a": u64::MAX - 1 })));
    assert!(!is_blocked(&guard, "t", &json!({ "a": -1 })));
}

#[test]
fn similar_values_of_different_types_are_distinct() {
    let values =
        [json!(null), json!(false), json!(0), json!(""), json!([]), json!({}), json!([null]), json!([[]])];
    for (index, value) in values.iter().enumerate() {
        let guard = guard(1);
        fail(&guard, "t", &json!({ "a": value }), "no", 1);
        for (other_index, other) in values.iter().enumerate() {
            assert_eq!(
                is_blocked(&guard, "t", &json!({ "a": other })),
                index == other_index,
                "{value} {other}"
            );
        }
    }
}

#[test]
fn record_returns_true_only_for_the_failure_that_blocks() {
    let guard = RepeatGuard::new();
    let results: Vec<bool> = (0..5).map(|_| guard.record("t", &make(), Some("no"))).collect();
    assert_eq!(results, [false, false, true, false, false]);
    assert!(!guard.record("t", &make(), None));
}

#[test]
fn blocked_call_stays_blocked_without_counting() {
    let guard = RepeatGuard::new();
    fail(&guard, "t", &make(), "no", 3);
    for _ in 0..10 {
        assert!(guard.check("t", &make()).unwrap_err().to_string().contains("failed 3 consecutive"));
    }
}

#[test]
fn message_shows_the_truncated_first_line_of_the_last_error() {
    let guard = guard(1);
    let last = |error: &str| {
        fail(&guard, "t", &make(), error, 1);
        let text = guard.check("t", &make()).unwrap_err().to_string();
        text.split_once("Last error: ").unwrap().1.to_owned()
    };
    assert_eq!(last("hello\nworld"), "hello");
    assert_eq!(last("short\r\nof it"), "short");
    assert_eq!(last(""), "");
    assert_eq!(last("äöü"), "äöü");
    assert_eq!(last(&"ä".repeat(500)), "ä".repeat(200));
}

#[test]
fn errors_are_compared_beyond_the_shown_part() {
    let guard = guard(2);
    fail(&guard, "t", &make(), &format!("{}a", "x".repeat(300)), 1);
    fail(&guard, "t", &make(), &format!("{}b", "x".repeat(300)), 1);
    assert!(!is_blocked(&guard, "t", &make()));
    fail(&guard, "t", &make(), "same\nfirst", 1);
    fail(&guard, "t", &make(), "same\nsecond", 1);
    assert!(!is_blocked(&guard, "t", &make()));
}

#[test]
fn empty_error_counts_as_an_error() {
    let guard = RepeatGuard::new();
    fail(&guard, "t", &make(), "", 3);
    assert!(is_blocked(&guard, "t", &make()));
}

#[test]
fn oldest_call_is_evicted_at_capacity() {
    let guard = guard(2).with_capacity(NonZeroUsize::new(2).unwrap());
    let call = |index: usize| json!({ "at": index });
    fail(&guard, "t", &call(1), "no", 1);
    fail(&guard, "t", &call(2), "no", 1);
    // After it fails again, the first call is the more recent one.
    fail(&guard, "t", &call(1), "no", 1);
    fail(&guard, "t", &call(3), "no", 1);
    assert_eq!(guard.len(), 2);
    assert!(is_blocked(&guard, "t", &call(1)));
    fail(&guard, "t", &call(2), "no", 1);
    assert!(!is_blocked(&guard, "t", &call(2)), "it was evicted, so it counts from one");
}

#[test]
fn memory_use_is_bounded() {
    let guard = RepeatGuard::new();
    for index in 0..10_000 {
        guard.record("t", &json!({ "at": index, "text": "x".repeat(100) }), Some(&"e".repeat(10_000)));
    }
    assert_eq!(guard.len(), 256);
    let rows = unpoisoned(guard.rows.lock());
    assert!(rows.capacity() <= 512 && rows.iter().all(|row| row.error_summary.len() <= MAX_ERROR_SHOWN));
}

#[tokio::test(start_paused = true)]
async fn call_expires_ten_minutes_after_its_last_failure() {
    let guard = RepeatGuard::new();
    fail(&guard, "t", &make(), "no", 2);
    advance(Duration::from_secs(599)).await;
    fail(&guard, "t", &make(), "no", 1);
    advance(Duration::from_secs(599)).await;
    assert!(is_blocked(&guard, "t", &make()));
    advance(Duration::from_secs(1)).await;
    assert!(!is_blocked(&guard, "t", &make()));
    assert!(guard.is_empty());
}

#[tokio::test(start_paused = true)]
async fn expiry_can_be_disabled() {
    let guard = RepeatGuard::new().with_memory(None);
    fail(&guard, "t", &make(), "no", 3);
    advance(Duration::from_secs(1_000_000)).await;
    assert!(is_blocked(&guard, "t", &make()));
}

#[test]
fn guard_can_be_cleared() {
    let guard = RepeatGuard::new();
    fail(&guard, "t", &make(), "no", 3);
    guard.clear();
    assert!(guard.is_empty() && !is_blocked(&guard, "t", &make()));
}

#[test]
fn concurrent_failures_are_all_counted() {
    let guard = Arc::new(guard(800));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let guard = Arc::clone(&guard);
            std::thread::spawn(move || (0..100).filter(|_| guard.record("t", &make(), Some("no"))).count())
        })
        .collect();
    let blocking: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(is_blocked(&guard, "t", &make()));
    assert_eq!(blocking, 1);
}
