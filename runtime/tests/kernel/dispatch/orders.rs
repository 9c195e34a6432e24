//! Strategies, steering and cancellation.

use toolgen_runtime::agent::dispatch::{SKIPPED_BY_MESSAGE, Strategy};

use crate::dispatch::support::{Bench, call, call_of, ids, options, spec, steps, texts, turn};
use crate::prelude::*;

fn two_at_once() -> Strategy {
    Strategy::Batched(NonZeroUsize::new(2).unwrap())
}

#[tokio::test(start_paused = true)]
async fn calls_run_in_parallel_by_default() {
    let toolbox = Bench::new().toolbox();
    let start = Instant::now();
    let calls = (1..=3).map(|id| call(id, 50)).collect();
    let done = toolbox.dispatch(calls, &turn(), &DispatchOptions::new()).await;
    assert_eq!(start.elapsed().as_millis(), 50);
    assert_eq!(texts(&done), ["1", "2", "3"]);
    assert!(!done.interrupted);
}

#[tokio::test(start_paused = true)]
async fn responses_keep_the_order_of_the_calls() {
    let bench = Bench::new();
    let log = Arc::clone(&bench.log);
    let toolbox = bench.toolbox();
    let calls = vec![call(1, 30), call(2, 20), call(3, 10)];
    let done = toolbox.dispatch(calls, &turn(), &options(Strategy::Parallel)).await;
    assert_eq!(ids(&done), ["1", "2", "3"]);
    assert_eq!(steps(&log), ["begin 1", "begin 2", "begin 3", "end 3", "end 2", "end 1"]);
}

#[tokio::test(start_paused = true)]
async fn sequential_calls_run_in_order() {
    let bench = Bench::new();
    let log = Arc::clone(&bench.log);
    let toolbox = bench.toolbox();
    let start = Instant::now();
    let done =
        toolbox.dispatch(vec![call(1, 50), call(2, 50)], &turn(), &options(Strategy::Sequential)).await;
    assert_eq!(start.elapsed().as_millis(), 100);
    assert_eq!(ids(&done), ["1", "2"]);
    assert_eq!(steps(&log), ["begin 1", "end 1", "begin 2", "end 2"]);
}

#[tokio::test(start_paused = true)]
async fn four_calls_in_pairs_are_two_batches() {
    let bench = Bench::new();
    let log = Arc::clone(&bench.log);
    let toolbox = bench.toolbox();
    let start = Instant::now();
    let calls = vec![call(1, 50), call(2, 10), call(3, 50), call(4, 10)];
    let done = toolbox.dispatch(calls, &turn(), &options(two_at_once())).await;
    assert_eq!(start.elapsed().as_millis(), 100);
    assert_eq!(ids(&done), ["1", "2", "3", "4"]);
    assert_eq!(steps(&log), ["begin 1", "begin 2", "end 2", "end 1", "begin 3", "begin 4", "end 4", "end 3"]);
}

#[tokio::test(start_paused = true)]
async fn last_batch_may_be_smaller() {
    let toolbox = Bench::new().toolbox();
    let start = Instant::now();
    let done =
        toolbox.dispatch((1..=5).map(|id| call(id, 10)).collect(), &turn(), &options(two_at_once())).await;
    assert_eq!(start.elapsed().as_millis(), 30);
    assert_eq!(done.responses.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn turn_without_calls_has_no_responses() {
    let toolbox = Bench::new().toolbox();
    for strategy in [Strategy::Sequential, Strategy::Parallel, two_at_once()] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let options = options(strategy).with_steering(move || count.fetch_add(1, Ordering::SeqCst) > 0);
        let done = toolbox.dispatch(Vec::new(), &turn(), &options).await;
        assert!(done.responses.is_empty() && !done.interrupted);
        assert_eq!(asked.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_gets_a_response_despite_failing_siblings() {
    for strategy in [Strategy::Sequential, Strategy::Parallel, two_at_once()] {
        let toolbox = Bench::new().toolbox();
        let mut cut = call(6, 0);
        cut.blocked = Some(Blocked::Truncated);
        let calls = vec![
            call_of("t", 1, json!({ "how": "fail" })),
            call(2, 1),
            call_of("t", 3, json!({ "how": "panic" })),
            ToolCall::new("4", "unknown", json!({})),
            ToolCall::new("5", "t", json!("{\"id\": ")),
            cut,
            call_of("t", 7, json!({ "how": "never" })),
            call(7, 1),
        ];
        let done = toolbox.dispatch(calls, &turn(), &options(strategy)).await;
        assert_eq!(ids(&done), ["1", "2", "3", "4", "5", "6", "7", "7"], "the same id twice is two calls");
        let codes: Vec<&str> = done
            .responses
            .iter()
            .map(|response| response.outcome.as_ref().map_or_else(ToolError::code, |_| "ok"))
            .collect();
        assert_eq!(
            codes,
            [
                "EXECUTION_ERROR",
                "ok",
                "EXECUTION_ERROR",
                "TOOL_NOT_FOUND",
                "INVALID_INPUT",
                "TRUNCATED",
                "TIMEOUT",
                "ok"
            ]
        );
        assert!(!texts(&done)[2].contains("secret"));
    }
}

/// Returns true from the `from`th question on, and counts the questions.
fn steering(from: usize) -> (Arc<AtomicUsize>, impl Fn() -> bool + Send + Sync) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    (asked, move || count.fetch_add(1, Ordering::SeqCst) + 1 >= from)
}

#[tokio::test(start_paused = true)]
async fn message_skips_the_remaining_sequential_calls() {
    let bench = Bench::new();
    let log = Arc::clone(&bench.log);
    let toolbox = bench.toolbox();
    let (asked, steering) = steering(2);
    let options = options(Strategy::Sequential).with_steering(steering);
    let done = toolbox.dispatch((1..=4).map(|id| call(id, 1)).collect(), &turn(), &options).await;
    assert_eq!(SKIPPED_BY_MESSAGE, "Skipped due to queued user message.");
    assert_eq!(texts(&done), ["1", "2", SKIPPED_BY_MESSAGE, SKIPPED_BY_MESSAGE]);
    let flags: Vec<_> =
        done.responses.iter().map(|response| (response.is_error(), response.skipped)).collect();
    assert_eq!(flags, [(false, false), (false, false), (true, true), (true, true)]);
    assert_eq!(ids(&done), ["1", "2", "3", "4"]);
    assert!(done.interrupted);
    assert_eq!((steps(&log).len(), asked.load(Ordering::SeqCst)), (4, 2));
}

#[tokio::test(start_paused = true)]
async fn steering_is_checked_after_each_sequential_call() {
    let toolbox = Bench::new().toolbox();
    let (asked, steering) = steering(3);
    let options = options(Strategy::Sequential).with_steering(steering);
    let done = toolbox.dispatch((1..=3).map(|id| call(id, 1)).collect(), &turn(), &options).await;
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(texts(&done), ["1", "2", "3"]);
    assert!(done.interrupted, "the loop is still notified");
}

#[tokio::test(start_paused = true)]
async fn steering_is_checked_once_after_parallel_calls() {
    let bench = Bench::new();
    let log = Arc::clone(&bench.log);
    let toolbox = bench.toolbox();
    let (seen, count) = (Arc::clone(&log), Arc::new(AtomicUsize::new(0)));
    let asked = Arc::clone(&count);
    let options = DispatchOptions::new().with_steering(move || {
        count.fetch_add(1, Ordering::SeqCst);
        assert_eq!(seen.lock().unwrap().len(), 6);
        true
    });
    let done = toolbox.dispatch((1..=3).map(|id| call(id, 1)).collect(), &turn(), &options).await;
    assert_eq!((texts(&done), asked.load(Ordering::SeqCst)), (vec!["1".into(), "2".into(), "3".into()], 1));
    assert!(done.interrupted);
}

#[tokio::test(start_paused = true)]
async fn steering_is_checked_between_batches() {
    let toolbox = Bench::new().toolbox();
    let (asked, steering) = steering(2);
    let options = options(two_at_once()).with_steering(steering);
    let done = toolbox.dispatch((1..=6).map(|id| call(id, 1)).collect(), &turn(), &options).await;
    let expected = ["1", "2", "3", "4", SKIPPED_BY_MESSAGE, SKIPPED_BY_MESSAGE];
    assert_eq!((texts(&done), asked.load(Ordering::SeqCst)), (expected.map(String::from).to_vec(), 2));
}

#[tokio::test(start_paused = true)]
async fn panicking_steering_counts_as_no_message() {
    let toolbox = Bench::new().toolbox();
    let options = options(Strategy::Sequential).with_steering(|| panic!("no"));
    let done = toolbox.dispatch(vec![call(1, 1), call(2, 1)], &turn(), &options).await;
    assert_eq!(texts(&done), ["1", "2"]);
    assert!(!done.interrupted);
}

#[tokio::test(start_paused = true)]
async fn cancelled_turn_cancels_all_remaining_calls() {
    for (strategy, expected) in [
        (Strategy::Sequential, ["1", "Cancelled", "Cancelled", "Cancelled"]),
        (Strategy::Parallel, ["1", "Cancelled", "Cancelled", "4"]),
        (two_at_once(), ["1", "Cancelled", "Cancelled", "Cancelled"]),
    ] {
        let token = CancellationToken::new();
        let stop = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            stop.cancel();
        });
        let toolbox = Bench::new().toolbox();
        let turn = turn().with_cancel(token);
        let (asked, steering) = steering(1_000);
        let options = options(strategy).with_steering(steering);
        let calls = vec![call(1, 10), call(2, 1_000), call(3, 1_000), call(4, 10)];
        let start = Instant::now();
        let done = toolbox.dispatch(calls, &turn, &options).await;
        assert_eq!(start.elapsed().as_millis(), 20, "{strategy:?}");
        assert_eq!(texts(&done), expected, "{strategy:?}");
        assert!(!done.interrupted && asked.load(Ordering::SeqCst) <= 1);
        assert!(done.responses.iter().all(|response| !response.skipped));
    }
}

#[tokio::test(start_paused = true)]
async fn turn_cancelled_in_advance_runs_nothing() {
    for strategy in [Strategy::Sequential, Strategy::Parallel, two_at_once()] {
        let bench = Bench::new();
        let log = Arc::clone(&bench.log);
        let toolbox = bench.toolbox();
        let token = CancellationToken::new();
        token.cancel();
        let turn = turn().with_cancel(token);
        let calls = vec![call(1, 1), ToolCall::new("2", "unknown", json!({})), call(3, 1)];
        let done = toolbox.dispatch(calls, &turn, &options(strategy)).await;
        assert_eq!(texts(&done), ["Cancelled", "Cancelled", "Cancelled"]);
        assert!(steps(&log).is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn exclusive_call_runs_alone_and_in_order() {
    let mut alone = spec("alone");
    alone.exclusive = true;
    let bench = Bench::new().with(alone);
    let log = Arc::clone(&bench.log);
    let toolbox = bench.toolbox();
    let exclusive = |id, millis| call_of("alone", id, json!({ "ms": millis }));
    let calls = vec![call(1, 20), call(2, 10), exclusive(3, 5), exclusive(4, 5), call(5, 20), call(6, 10)];
    let start = Instant::now();
    let done = toolbox.dispatch(calls, &turn(), &DispatchOptions::new()).await;
    assert_eq!(ids(&done), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(
        steps(&log),
        [
            "begin 1", "begin 2", "end 2", "end 1", "begin 3", "end 3", "begin 4", "end 4", "begin 5",
            "begin 6", "end 6", "end 5"
        ]
    );
    assert_eq!(start.elapsed().as_millis(), 50);
}

#[tokio::test(start_paused = true)]
async fn call_waits_for_its_required_earlier_calls() {
    let after = Requirement {
        kind: RequirementKind::Tool,
        name: Text::Static("t"),
        argument: Text::EMPTY,
        message: Text::EMPTY,
        optional: false,
    };
    let bench =
        Bench::new().with(ToolSpec { requires: vec![after].into(), ..spec("after") }).with(spec("free"));
    let log = Arc::clone(&bench.log);
    let toolbox = bench.toolbox();
    let turn = turn().with_session(Session::new("s"));
    let calls = vec![call(1, 50), call_of("after", 2, json!({})), call_of("free", 3, json!({}))];
    let done = toolbox.dispatch(calls, &turn, &options(Strategy::Parallel)).await;
    assert_eq!(texts(&done), ["1", "2", "3"]);
    assert_eq!(steps(&log), ["begin 1", "begin 3", "end 3", "end 1", "begin 2", "end 2"]);

    // A later call does not satisfy it, as it would not in sequential order.
    let turn = self::turn().with_session(Session::new("other"));
    let calls = vec![call_of("after", 1, json!({})), call(2, 50)];
    let done = toolbox.dispatch(calls, &turn, &options(Strategy::Parallel)).await;
    assert!(done.responses[0].is_error() && !done.responses[1].is_error());
}
