//! Soak test: many concurrent calls that fail in every way. Each call gets exactly one result, and leaks nothing.
//!
//! `TOOLGEN_SOAK_CALLS` sets the number of calls, `TOOLGEN_SOAK_SEED` the random seed.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod calls;
mod layers;
mod ledger;
mod prelude;
mod random;
mod tools;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use tokio::runtime::Handle;
use tokio::sync::Mutex;
use toolgen_runtime::layers::audit::Auditor;
use toolgen_runtime::{CancellationToken, Toolbox};

use calls::{Calls, Case, GiveUp};
use layers::{Seen, count};
use ledger::Ledger;
use random::Random;
use tools::World;

use crate::prelude::*;

const TASKS: u64 = 64;

/// Maximum growth of the process's memory from a fifth of the calls to the end, in bytes.
const MOST_GROWTH: u64 = 8 << 20;

/// Counts of the outcomes.
#[derive(Default)]
struct Counts {
    made: AtomicU64,
    answered: AtomicU64,
    skipped: AtomicU64,
    dropped: AtomicU64,
    /// Calls that ended because their token fired.
    cancelled: AtomicU64,
    /// Memory after a fifth of the calls, in bytes.
    early: AtomicU64,
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// Tests run one at a time, because they measure the memory of the process.
static ALONE: Mutex<()> = Mutex::const_new(());

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_call_gets_one_response_and_leaks_nothing() {
    let _alone = ALONE.lock().await;
    let total = setting("TOOLGEN_SOAK_CALLS", 10_000);
    let ledger = Ledger::new(total);
    let auditor = Auditor::builder(ledger.clone()).start().unwrap();
    let seen = soak(total, &auditor).await;
    assert_eq!(ledger.check(total), seen);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn database_has_a_row_for_every_response() {
    use toolgen_runtime::store::audit::{SqliteSink, rusqlite};
    let _alone = ALONE.lock().await;
    let total = setting("TOOLGEN_SOAK_CALLS", 10_000) / 10;
    let file = std::env::temp_dir().join(format!("toolgen-soak-{}.db", std::process::id()));
    let auditor = Auditor::builder(SqliteSink::open(&file).unwrap()).start().unwrap();
    let seen = soak(total, &auditor).await;
    auditor.shutdown().await;
    let count = |condition: &str| {
        let database = rusqlite::Connection::open(&file).unwrap();
        let query = format!("SELECT COUNT(*) FROM tool_executions WHERE {condition}");
        database.query_row(&query, [], |row| row.get::<_, i64>(0)).unwrap().cast_unsigned()
    };
    assert_eq!(count("TRUE"), seen);
    assert_eq!(count("status = 'started'"), 0, "a call ended and its row does not know");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
}

/// Makes the calls, and returns the number of observed calls, including nested ones.
async fn soak(total: u64, auditor: &Auditor) -> u64 {
    let seed = setting("TOOLGEN_SOAK_SEED", 1);
    quiet_panics();
    let (world, seen, counts) = (Arc::<World>::default(), Arc::<Seen>::default(), Arc::<Counts>::default());
    let toolbox = layers::toolbox(Arc::clone(&world), Arc::clone(&seen), auditor.clone());
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            tokio::spawn(work(toolbox.clone(), auditor.clone(), Arc::clone(&counts), task, total, seed))
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    auditor.flush().await.unwrap();
    let late = memory();
    let get = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
    let (answered, skipped, dropped) = (get(&counts.answered), get(&counts.skipped), get(&counts.dropped));
    println!("seed {seed}: {answered} answered, {skipped} of them skipped by a hook, {dropped} dropped");
    assert_eq!(answered + dropped, total);
    assert!(skipped > 0 && dropped > 0, "unexpected calls");

    // Tool bodies on their own threads end slightly after the calls that were dropped.
    for _ in 0..1000 {
        if world.running() == 0 && Handle::current().metrics().num_alive_tasks() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(world.running(), 0, "bodies of tools still run");
    assert_eq!(world.hanging.load(Ordering::SeqCst), 0, "a tool continued after its timeout");
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0, "tasks were left behind");

    watched(&seen, answered - skipped, dropped, get(&counts.cancelled));
    if let (Some(early), Some(late)) = (Some(get(&counts.early)).filter(|early| *early > 0), late) {
        println!("memory: {} KiB after a fifth of the calls, {} KiB after all", early >> 10, late >> 10);
        assert!(late < early + MOST_GROWTH, "memory grows: {early} bytes, then {late}");
    }
    assert_eq!((auditor.dropped(), auditor.errors()), (0, 0), "records are missing");
    get(&seen.calls) + get(&seen.skipped)
}

/// Subscribers see the start and the end of every executed call, regardless of its outcome, and those of nested
/// calls. Hooks are not notified of the end of calls that were dropped.
fn watched(seen: &Seen, run: u64, dropped: u64, cancelled: u64) {
    let get = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
    let (calls, responses, after) = (get(&seen.calls), get(&seen.responses), get(&seen.hooks_after));
    println!("events: {calls} calls, {responses} answers; {after} hooks after calls");
    // After the turn is cancelled, a hook is not awaited, so it is not notified of the end either.
    assert!(after <= responses && responses <= after + cancelled + dropped, "{cancelled} cancelled");
    assert_eq!(calls, responses, "an event that began has no end");
    assert!(responses >= run, "{run} were run");
}

async fn work(toolbox: Toolbox, auditor: Auditor, counts: Arc<Counts>, task: u64, total: u64, seed: u64) {
    let mut calls = Calls::new(Random::new(seed, task));
    for number in (task..total).step_by(usize::try_from(TASKS).unwrap()) {
        let case = calls.make(number);
        if number / TASKS % 32 == 31 {
            // Lets the writer keep up, so that no record is dropped.
            auditor.flush().await.unwrap();
        }
        match give(&toolbox, &case).await {
            None => count(&counts.dropped),
            Some(response) => {
                count(&counts.answered);
                if response.skipped {
                    count(&counts.skipped);
                }
                if response.outcome.as_ref().is_err_and(|error| error.code() == "CANCELLED") {
                    count(&counts.cancelled);
                }
                case.judge(&response)
                    .unwrap_or_else(|reason| panic!("seed {seed}, task {task}, call {number}: {reason}"));
            }
        }
        if counts.made.fetch_add(1, Ordering::Relaxed) == total / 5 {
            counts.early.store(memory().unwrap_or_default(), Ordering::Relaxed);
        }
    }
}

/// Makes the call; there is no result if it was dropped.
async fn give(toolbox: &Toolbox, case: &Case) -> Option<ToolResponse> {
    let (call, turn) = (case.call.clone(), case.turn.clone());
    match case.give_up {
        GiveUp::Never => Some(toolbox.run(call, &turn).await),
        GiveUp::Cancel(after) => {
            let token = CancellationToken::new();
            let turn = turn.with_cancel(token.clone());
            if after.is_zero() {
                token.cancel();
                return Some(toolbox.run(call, &turn).await);
            }
            let cancel = async {
                tokio::time::sleep(after).await;
                token.cancel();
            };
            Some(tokio::join!(toolbox.run(call, &turn), cancel).0)
        }
        GiveUp::Drop(polls) => {
            let mut run = pin!(toolbox.run(call, &turn));
            for _ in 0..polls {
                let response = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await;
                if let Poll::Ready(response) = response {
                    return Some(response);
                }
                tokio::task::yield_now().await;
            }
            None
        }
    }
}

/// Resident memory of the process in bytes, if it can be measured.
fn memory() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Silences deliberate panics.
fn quiet_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        if text.or(payload.downcast_ref::<&str>().copied()) != Some(tools::PANIC) {
            usual(info);
        }
    }));
}
