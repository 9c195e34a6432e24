//! What records cost: how many a sink writes in a second, what a call waits for them where no call waits for the disk,
//! and what it waits where each does.
//!
//! `cargo run --release -- [URL]`; the URL of a PostgreSQL database, in which the bench makes tables and leaves them.

use std::time::{Duration, Instant};

use serde_json::json;
use toolgen_runtime::layers::audit::{
    AuditSink, Auditor, CallInfo, JsonLinesSink, MemorySink, PostgresSink, Record, SqliteSink,
};
use toolgen_runtime::{ToolError, ToolResult};

/// How many calls each measurement makes.
const CALLS: usize = 200_000;

/// How many calls wait for the disk, and how many of them at once.
const DURABLE: usize = 20_000;
const AT_ONCE: usize = 64;

fn record(auditor: &Auditor, number: usize) -> Record {
    let arguments = || json!({"user": "me", "page": number, "filter": {"status": "open", "tags": ["a", "b"]}});
    auditor.record(|| CallInfo::new(format!("call-{number}"), "list_orders", arguments()))
}

fn outcome() -> Result<ToolResult, ToolError> {
    Ok(ToolResult::json(json!({"orders": [{"id": 1, "total": 12.5}, {"id": 2, "total": 7}], "next": null})))
}

fn median(mut all: Vec<Duration>) -> (Duration, Duration) {
    all.sort();
    (all[all.len() / 2], all[all.len() * 99 / 100])
}

/// Whole calls: the intent and the outcome reach the sink together. Returns records in a second, and what a call waits.
async fn together(sink: impl AuditSink + 'static) -> (f64, Duration, Duration) {
    let auditor = Auditor::builder(sink).capacity(usize::MAX).start().unwrap();
    let mut waits = Vec::with_capacity(CALLS);
    let start = Instant::now();
    for number in 0..CALLS {
        let begun = Instant::now();
        let mut record = record(&auditor, number);
        record.intent().await.unwrap();
        record.finish(&outcome()).await;
        waits.push(begun.elapsed());
    }
    auditor.flush().await.unwrap();
    let rate = 2.0 * CALLS as f64 / start.elapsed().as_secs_f64();
    assert_eq!((auditor.errors(), auditor.dropped()), (0, 0));
    let (half, most) = median(waits);
    (rate, half, most)
}

/// Calls that last: each outcome is written long after the intent. Returns records in a second.
async fn apart(sink: impl AuditSink + 'static) -> f64 {
    let auditor = Auditor::builder(sink).capacity(usize::MAX).start().unwrap();
    let start = Instant::now();
    for first in (0..CALLS).step_by(5_000) {
        let mut running = Vec::new();
        for number in first..first + 5_000 {
            let mut record = record(&auditor, number);
            record.intent().await.unwrap();
            running.push(record);
        }
        auditor.flush().await.unwrap();
        for record in running {
            record.finish(&outcome()).await;
        }
    }
    auditor.flush().await.unwrap();
    2.0 * CALLS as f64 / start.elapsed().as_secs_f64()
}

/// Calls that wait for their intent. Returns what each waits, and records in a second.
async fn durable(sink: impl AuditSink + 'static) -> (f64, Duration, Duration) {
    let auditor = Auditor::builder(sink).durable(true).start().unwrap();
    let start = Instant::now();
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|task| {
            let auditor = auditor.clone();
            tokio::spawn(async move {
                let mut waits = Vec::new();
                for number in 0..DURABLE / AT_ONCE {
                    let mut record = record(&auditor, task * DURABLE + number);
                    let begun = Instant::now();
                    record.intent().await.unwrap();
                    waits.push(begun.elapsed());
                    record.finish(&outcome()).await;
                }
                waits
            })
        })
        .collect();
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(task.await.unwrap());
    }
    auditor.flush().await.unwrap();
    let (half, most) = median(waits);
    (2.0 * DURABLE as f64 / start.elapsed().as_secs_f64(), half, most)
}

async fn measure<S: AuditSink + 'static>(name: &str, make: impl Fn() -> S, waits_for_disk: bool) {
    let (rate, half, most) = together(make()).await;
    let apart = apart(make()).await;
    print!("{name:<12} {rate:>10.0} {apart:>10.0} {:>9.2} {:>9.2}", micros(half), micros(most));
    if waits_for_disk {
        let (rate, half, most) = durable(make()).await;
        print!(" {rate:>10.0} {:>9.0} {:>9.0}", micros(half), micros(most));
    }
    println!();
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::temp_dir().join(format!("toolgen-audit-bench-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    println!("{:<12} {:>10} {:>10} {:>19}   durable, {AT_ONCE} at once", "", "records/s", "records/s", "a call waits, µs");
    println!(
        "{:<12} {:>10} {:>10} {:>9} {:>9} {:>10} {:>9} {:>9}",
        "sink", "together", "apart", "median", "99 %", "records/s", "median", "99 %"
    );
    measure("memory", MemorySink::new, false).await;
    measure("JSON lines", || JsonLinesSink::open(folder.join("calls.jsonl")).unwrap(), true).await;
    measure("SQLite", || SqliteSink::open(folder.join("calls.sqlite")).unwrap(), true).await;
    if let Some(url) = std::env::args().nth(1) {
        measure("PostgreSQL", || PostgresSink::open(&url).unwrap(), true).await;
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
