use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use serde_json::json;
use tokio::time::advance;

use super::*;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[test]
fn state_is_one_value_per_type_and_shared_by_clones() {
    let session = Session::new("s");
    let same = session.clone();
    same.state::<AtomicU32>().fetch_add(2, Ordering::Relaxed);
    session.state::<AtomicUsize>().fetch_add(5, Ordering::Relaxed);
    assert_eq!(session.state::<AtomicU32>().load(Ordering::Relaxed), 2);
    assert_eq!(session.peek::<AtomicUsize>().map(|state| state.load(Ordering::Relaxed)), Some(5));
    assert!(session.peek::<Mutex<String>>().is_none());
    assert!(Session::new("s").peek::<AtomicU32>().is_none(), "the same id alone is not the same session");
}

#[test]
fn generated_ids_are_distinct() {
    let ids = [Session::unique(), Session::unique(), Session::passing(Span::Turn)]
        .map(|session| session.id().to_owned());
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    assert!(!Session::unique().is_passing());
}

#[test]
fn state_can_be_built_from_other_state() {
    let session = Session::new("s");
    let state = session.state_or(|| vec![session.state::<AtomicU32>().load(Ordering::Relaxed)]);
    assert_eq!(*state, [0]);
}

#[test]
fn values_are_stored_by_key_and_null_is_absent() {
    let session = Session::new("s");
    assert_eq!(session.set("session_id", "x"), None);
    assert!(session.has("session_id"));
    assert_eq!(session.get("session_id"), Some(json!("x")));
    assert_eq!(session.set("session_id", Value::Null), Some(json!("x")));
    assert!(!session.has("session_id"));
    assert_eq!(session.remove("session_id"), Some(Value::Null));
    session.set("session_id", " ");
    assert!(!session.has("session_id"), "a blank string counts as absent");
    session.set("session_id", json!([]));
    assert!(session.has("session_id"), "an empty array counts");
    session.remove("session_id");
    assert_eq!(session.get("session_id"), None);
}

#[tokio::test(start_paused = true)]
async fn success_counts_until_it_expires() {
    let session = Session::new("s");
    assert!(!session.has_called("a"));
    session.record_success("a");
    advance(24 * HOUR - Duration::from_millis(1)).await;
    assert!(session.has_called("a"));
    session.record_success("b");
    advance(Duration::from_millis(1)).await;
    assert!(!session.has_called("a"));
    assert_eq!(session.called(), ["b"]);
    session.forget_calls();
    assert!(!session.has_called("b"));
}

#[tokio::test(start_paused = true)]
async fn history_is_bounded_and_evicts_the_oldest() {
    let limits = SessionLimits { history_tools: 2, ..SessionLimits::DEFAULT };
    let session = Session::with_limits("s", limits);
    for tool in ["c", "b", "c", "a"] {
        session.record_success(tool);
        advance(Duration::from_secs(1)).await;
    }
    assert_eq!(session.called(), ["c", "a"], "`b` was called longest ago");
}

#[test]
fn concurrent_calls_are_all_recorded() {
    let session = Session::new("s");
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let session = session.clone();
            scope.spawn(move || {
                for call in 0..50 {
                    session.record_success(format!("tool_{thread}_{call}"));
                    assert!(session.has_called(&format!("tool_{thread}_{call}")));
                }
            });
        }
    });
    assert_eq!(session.called().len(), 800);
}

#[test]
fn concurrent_first_access_creates_one_state() {
    for _ in 0..50 {
        let session = Session::new("s");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| session.state::<AtomicU32>().fetch_add(1, Ordering::Relaxed));
            }
        });
        assert_eq!(session.state::<AtomicU32>().load(Ordering::Relaxed), 8);
    }
}

#[test]
fn session_belongs_to_its_owner() {
    let sessions = Sessions::default();
    sessions.open_for("a", "1").record_success("t");
    assert!(sessions.open_for("a", "1").has_called("t"));
    assert!(!sessions.open_for("b", "1").has_called("t"));
    assert!(!sessions.open("1").has_called("t"));
    assert!(sessions.close_for("a", "1"));
    assert!(!sessions.close_for("a", "1"));
    assert!(!sessions.open_for("a", "1").has_called("t"));
}

#[test]
fn callers_without_an_id_share_nothing() {
    let sessions = Sessions::default();
    for id in ["", " ", "\t\n"] {
        let first = sessions.open(id);
        first.record_success("t");
        assert!(!sessions.open(id).has_called("t"));
    }
    assert!(sessions.is_empty());
}

#[tokio::test(start_paused = true)]
async fn session_expires_when_neither_opened_nor_held() {
    let sessions = Sessions::default();
    let held = sessions.open("held");
    held.set("k", 1);
    sessions.open("unused").set("k", 1);
    sessions.open("used").set("k", 1);
    advance(23 * HOUR).await;
    assert!(sessions.open("used").has("k"));
    advance(HOUR).await;
    assert!(sessions.open("held").has("k"), "the session is in use");
    assert!(!sessions.open("unused").has("k"));
    assert!(sessions.open("used").has("k"));
}

#[tokio::test(start_paused = true)]
async fn session_count_is_limited() {
    let sessions = Sessions::new(SessionsLimits { max_sessions: 3, ..SessionsLimits::DEFAULT });
    let held = sessions.open("held");
    held.set("k", 1);
    for id in 0..100 {
        advance(Duration::from_secs(1)).await;
        sessions.open(id.to_string()).set("k", 1);
        assert!(sessions.len() <= 3);
    }
    assert!(sessions.open("held").has("k"), "sessions in use are removed last");
    assert!(sessions.open("99").has("k") && sessions.open("98").has("k"));
    assert!(!sessions.open("97").has("k"));
}

#[test]
fn values_are_not_shown_by_debug() {
    let session = Session::new("s");
    session.set("token", "s3cret");
    session.record_success("t");
    let _ = session.state::<AtomicU32>();
    let displayed = format!("{session:?}");
    assert!(
        displayed.contains("token") && displayed.contains("AtomicU32") && !displayed.contains("s3cret"),
        "{displayed}"
    );
}
