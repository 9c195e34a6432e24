//! Whole turns: with records, with layers that wait, and with random calls.

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use toolgen_runtime::agent::dispatch::{SKIPPED_BY_MESSAGE, Strategy, TOO_MANY_CALLS};

use crate::dispatch::support::{Bench, call, call_of, ids, options, spec, steps, texts, turn};
use crate::prelude::*;

#[tokio::test]
async fn every_response_has_exactly_one_record() {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let toolbox = Bench::new().builder().layer(auditor.clone()).build().unwrap();
    let (token, stop) = (CancellationToken::new(), CancellationToken::new());
    stop.cancel();
    for (token, calls) in [(token, 1..=3), (stop, 4..=6)] {
        let asked = AtomicUsize::new(0);
        let options =
            options(Strategy::Sequential).with_steering(move || asked.fetch_add(1, Ordering::SeqCst) == 1);
        let calls = calls.map(|id| call(id, 0)).collect();
        toolbox.dispatch(calls, &turn().with_cancel(token), &options).await;
    }
    auditor.flush().await.unwrap();
    let rows: Vec<(String, Option<String>)> = sink
        .rows()
        .into_iter()
        .map(|row| {
            let error = row.outcome.expect("an outcome").error;
            (row.intent.tool_call_id.to_string(), error)
        })
        .collect();
    let row = |id: &str, error: Option<&str>| (id.to_owned(), error.map(str::to_owned));
    assert_eq!(
        rows,
        [
            row("1", None),
            row("2", None),
            row("3", Some(SKIPPED_BY_MESSAGE)),
            row("4", Some("Cancelled")),
            row("5", Some("Cancelled")),
            row("6", Some("Cancelled")),
        ]
    );
}

/// Never decides, so that no call starts.
struct Stuck;

impl Middleware for Stuck {
    fn before<'a>(&'a self, _: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(std::future::pending())
    }
}

impl Hooks for Stuck {
    fn before_tool_execution<'a>(&'a self, _: &'a ToolCall, _: &'a ToolContext) -> BoxFuture<'a, bool> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn cancelled_turn_does_not_wait_for_hanging_layers() {
    for toolbox in [
        Bench::new().builder().middleware(Stuck).build().unwrap(),
        Bench::new().builder().hooks(Stuck).build().unwrap(),
    ] {
        let token = CancellationToken::new();
        let stop = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            stop.cancel();
        });
        let calls = vec![call(1, 0), call(2, 0)];
        let turn = turn().with_cancel(token);
        let options = DispatchOptions::new();
        let running = toolbox.dispatch(calls, &turn, &options);
        let done = tokio::time::timeout(Duration::from_secs(1), running).await.expect("an answer");
        assert_eq!(texts(&done), ["Cancelled", "Cancelled"]);
    }
}

#[test]
fn batch_size_zero_is_unrepresentable() {
    assert!(NonZeroUsize::new(0).map(Strategy::Batched).is_none());
    assert_eq!(DispatchOptions::default().strategy, Strategy::Parallel);
}

/// The behavior of a call of a random turn.
#[derive(Clone, Debug)]
struct Random {
    tool: &'static str,
    millis: u64,
    how: &'static str,
}

fn random() -> impl proptest::strategy::Strategy<Value = Random> {
    let tools = prop::sample::select(vec!["t", "t", "alone", "write", "unknown"]);
    let how = prop::sample::select(vec!["", "", "", "fail", "panic", "never"]);
    (tools, 0..30u64, how).prop_map(|(tool, millis, how)| Random { tool, millis, how })
}

fn strategy() -> impl proptest::strategy::Strategy<Value = Strategy> {
    (0..6usize).prop_map(|size| match size {
        0 => Strategy::Sequential,
        5 => Strategy::Parallel,
        size => Strategy::Batched(NonZeroUsize::new(size).unwrap()),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_gets_one_response_in_order(
        calls in prop::collection::vec(random(), 0..10),
        strategy in strategy(),
        cancelled_at in prop::option::of(0..60u64),
        message_at in prop::option::of(1..5usize),
        in_tasks: bool,
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (done, steps, elapsed) = runtime.block_on(async {
            let bench = Bench::new()
                .with(ToolSpec { exclusive: true, ..spec("alone") })
                .with(ToolSpec { writes: vec!["row".into()].into(), ..spec("write") });
            let log = Arc::clone(&bench.log);
            let toolbox = bench.builder().default_timeout(Duration::from_millis(50)).build().unwrap();
            let asked = AtomicUsize::new(0);
            let mut options = options(strategy).with_steering(move || {
                message_at.is_some_and(|at| asked.fetch_add(1, Ordering::SeqCst) + 1 >= at)
            });
            options.in_tasks = in_tasks;
            let sent = calls.iter().enumerate().map(|(id, call)| {
                call_of(call.tool, id, json!({ "ms": call.millis, "how": call.how }))
            });
            let token = CancellationToken::new();
            if let Some(at) = cancelled_at {
                let token = token.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(at)).await;
                    token.cancel();
                });
            }
            let start = Instant::now();
            let done = toolbox.dispatch(sent.collect(), &turn().with_cancel(token), &options).await;
            (done, steps(&log), start.elapsed())
        });
        let expected: Vec<String> = (0..calls.len()).map(|id| id.to_string()).collect();
        prop_assert_eq!(ids(&done), expected);
        prop_assert!(cancelled_at.is_none_or(|at| elapsed <= Duration::from_millis(at + 1)), "{:?}", elapsed);
        for (id, (call, response)) in calls.iter().zip(&done.responses).enumerate() {
            let started = steps.iter().filter(|step| **step == format!("begin {id}")).count();
            let text = response.text();
            match &response.outcome {
                Err(ToolError::Cancelled) => prop_assert!(cancelled_at.is_some() && started <= 1),
                _ if response.skipped => {
                    prop_assert!(done.interrupted && started == 0 && text == SKIPPED_BY_MESSAGE);
                }
                Err(ToolError::NotFound { .. }) => prop_assert!(call.tool == "unknown" && started == 0),
                Err(ToolError::Timeout { .. }) => prop_assert!(call.how == "never" && started == 1),
                Err(_) => {
                    let expected = if call.how == "panic" { "tool panicked".into() } else { format!("{id} failed") };
                    prop_assert!(started == 1 && text == expected, "{}", text);
                }
                Ok(_) => prop_assert!(started == 1 && call.how.is_empty() && text == id.to_string()),
            }
        }
    }
}

#[tokio::test]
async fn excess_calls_of_a_turn_are_refused() {
    let toolbox = Bench::new().toolbox();
    let calls = |count| (1..=count).map(|id| call(id, 0)).collect::<Vec<ToolCall>>();
    let dispatched = toolbox.dispatch(calls(130), &turn(), &DispatchOptions::new()).await;
    assert_eq!(dispatched.responses.iter().filter(|response| !response.is_error()).count(), 128);
    let refused = &dispatched.responses[128..];
    assert_eq!(refused.len(), 2);
    for response in refused {
        assert_eq!(
            response.text(),
            "The call was not executed: only the first 128 calls of a turn run. \
             Make it again in another turn if it is still needed."
        );
        assert!(response.skipped);
        assert_eq!(response.outcome.as_ref().unwrap_err().code(), TOO_MANY_CALLS);
    }
    let two = options(Strategy::Sequential).with_max_calls(NonZeroUsize::new(2).unwrap());
    let dispatched = toolbox.dispatch(calls(4), &turn(), &two).await;
    assert_eq!(texts(&dispatched)[..2], ["1", "2"]);
    assert!(dispatched.responses[2].is_error() && dispatched.responses[3].is_error());
}

/// Time and memory are linear in the number of calls, not quadratic.
#[tokio::test]
async fn many_exclusive_calls_take_linear_time() {
    let toolbox = Bench::new().with(ToolSpec { exclusive: true, ..spec("alone") }).toolbox();
    let all = DispatchOptions::new().with_max_calls(NonZeroUsize::MAX);
    let mut taken = [Duration::MAX; 2];
    // The best of several runs, because other work on the machine also takes time.
    for _ in 0..3 {
        for (taken, count) in taken.iter_mut().zip([500, 10_000]) {
            let calls = (0..count).map(|id| call_of("alone", id, json!({}))).collect();
            let since = std::time::Instant::now();
            let dispatched = toolbox.dispatch(calls, &turn(), &all).await;
            assert!(dispatched.responses.iter().all(|response| !response.is_error()));
            *taken = since.elapsed().min(*taken);
        }
    }
    // 20 times as many calls; a quadratic algorithm would take 400 times as long.
    assert!(taken[1] < taken[0] * 100, "{taken:?}");
}
