//! Which calls count as made.

use toolgen_runtime::Sessions;
use toolgen_runtime::layers::dependencies::{record, succeeded};

use super::in_session;
use crate::prelude::*;

#[test]
fn only_successful_calls_count() {
    let details = |details: Value| Ok(ToolResult::empty().with_details(details));
    let asks = ToolResult::text("?").with_control(Control::NeedInput(InputRequest::new("which?", json!({}))));
    let cases = [
        ("a result", details(json!({ "success": true, "id": 1 })), true),
        ("nothing at all", Ok(ToolResult::empty()), true),
        ("an answer of a service", details(json!({ "ok": false, "status": 404 })), true),
        (
            "an error without a word on success",
            details(json!({ "error": "locked", "code": "resource_locked" })),
            false,
        ),
        ("no success", details(json!({ "success": false })), false),
        ("an error", Err(ToolError::failed("it broke")), false),
        ("a denial", Err(ToolError::denied("no")), false),
        ("a cancellation", Err(ToolError::Cancelled), false),
        ("a question", Ok(asks), false),
    ];
    for (what, outcome, counts) in cases {
        let session = Session::new("s");
        record(&in_session(&session).call_context("1", "t"), "t", &outcome);
        assert_eq!((succeeded(&outcome), session.has_called("t")), (counts, counts), "{what}");
    }
}

#[test]
fn later_failure_does_not_revoke_a_success() {
    let session = Session::new("s");
    let ctx = in_session(&session);
    record(&ctx.call_context("1", "t"), "t", &Ok(ToolResult::empty()));
    record(&ctx.call_context("1", "t"), "t", &Err(ToolError::failed("it broke")));
    assert!(session.has_called("t"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_calls_are_all_remembered() {
    let sessions = Sessions::default();
    let tasks = (0..64).map(|task| {
        let sessions = sessions.clone();
        tokio::spawn(async move {
            for call in 0..10 {
                let session = sessions.open_for("tenant", format!("s{}", call % 3));
                record(
                    &in_session(&session).call_context("1", "t"),
                    format!("t{task}_{call}"),
                    &Ok(ToolResult::empty()),
                );
                session.state::<AtomicU32>().fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let total: usize = (0..3).map(|id| sessions.open_for("tenant", format!("s{id}")).called().len()).sum();
    let counted: Vec<Arc<AtomicU32>> =
        (0..3).map(|id| sessions.open_for("tenant", format!("s{id}")).state()).collect();
    assert_eq!(total, 640);
    assert_eq!(counted.iter().map(|count| count.load(Ordering::Relaxed)).sum::<u32>(), 640);
}
