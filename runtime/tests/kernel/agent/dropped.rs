//! Loops that are dropped at any moment while sub-agents run.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::AtomicI64;
use std::task::Poll;

use tokio::runtime::Handle;
use tokio::task::yield_now;
use toolgen_runtime::agent::dispatch::Strategy;
use toolgen_runtime::layers::audit::{AuditError, AuditIntent, AuditOutcome, AuditSink};

use super::{SubAgentTool, Toolbox, turn};
use crate::prelude::*;

static RUNNING: AtomicI64 = AtomicI64::new(0);

struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Takes a while.
#[tool(undocumented, read_only)]
async fn step(n: u32) -> String {
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let _running = Running;
    for _ in 0..n % 4 {
        yield_now().await;
    }
    "done".to_owned()
}

/// How many times each call started and ended.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<BTreeMap<u64, (u32, u32)>>>);

impl AuditSink for Book {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        self.0.lock().unwrap().entry(intent.key).or_default().0 += 1;
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, _: &AuditOutcome) -> Result<(), AuditError> {
        self.0.lock().unwrap().entry(intent.key).or_default().1 += 1;
        Ok(())
    }
}

fn steps(prefix: &str) -> Vec<ToolCall> {
    (0..3).map(|n| ToolCall::new(format!("{prefix}{n}"), "step", json!({"n": n}))).collect()
}

#[tokio::test]
async fn dropped_loop_leaves_no_call_open() {
    let book = Book::default();
    let auditor = Auditor::builder(book.clone()).start().unwrap();
    let runner = LoopRunner::new(|_: &AgentTask, _: &AgentMonitor| {
        let mut number = 0;
        move |_: Transcript| {
            number += 1;
            ready(Ok::<_, String>(if number < 3 {
                ModelTurn::calls(steps("s"))
            } else {
                ModelTurn::text("done")
            }))
        }
    });
    let helper = SubAgentTool::builder("helper", runner).tools(toolset![step]).build().unwrap();
    let registry = Registry::new(toolset![(helper), step]).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(auditor.clone()).build().unwrap();
    let mut finished = 0;
    for (in_tasks, strategy) in [
        (false, Strategy::Parallel),
        (true, Strategy::Parallel),
        (false, Strategy::Sequential),
        (true, Strategy::Batched(NonZeroUsize::new(2).unwrap())),
    ] {
        let mut dispatch = DispatchOptions::new().with_strategy(strategy);
        dispatch.in_tasks = in_tasks;
        let options = LoopOptions::new().with_dispatch(dispatch);
        for polls in 0..25 {
            let mut number = 0;
            let mut model = move |_: Transcript| {
                number += 1;
                let mut calls = steps("o");
                calls.insert(1, ToolCall::new("h1", "helper", json!({"task": "a"})));
                calls.push(ToolCall::new("h2", "helper", json!({"task": "b"})));
                ready(Ok::<_, String>(if number < 3 {
                    ModelTurn::calls(calls)
                } else {
                    ModelTurn::text("end")
                }))
            };
            let turn = turn();
            let mut run = pin!(run_loop(&toolbox, &mut model, &turn, Transcript::user("go"), &options));
            for _ in 0..polls {
                if poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_ready())).await {
                    finished += 1;
                    break;
                }
                yield_now().await;
            }
        }
    }
    for _ in 0..1000 {
        if RUNNING.load(Ordering::SeqCst) == 0 && Handle::current().metrics().num_alive_tasks() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(RUNNING.load(Ordering::SeqCst), 0);
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
    auditor.flush().await.unwrap();
    let book = book.0.lock().unwrap();
    println!("{} calls, {finished} finished loops", book.len());
    let open: Vec<_> = book.iter().filter(|(_, counts)| counts.1 != 1 || counts.0 > 1).take(5).collect();
    assert!(open.is_empty(), "{open:?}");
}
