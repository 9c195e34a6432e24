//! What takes long, or needs a machine for itself: runs with `--ignored`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgen_runtime::engine::mcp::McpClient;
use toolgen_runtime::spec::plan::McpServer;

use crate::hostile::messages_are_not_mixed_up;
use crate::support::{Test, call, connect, eventually, options, run, runs, server, told};

pub(crate) const TESTS: &[Test] = &[
    ("a_million_messages_are_not_mixed_up", || run_long(messages_are_not_mixed_up(8_000, 64))),
    ("calls_at_the_same_time_take_as_long_as_one", || run(calls_at_the_same_time_take_as_long_as_one())),
    ("a_call_costs_little_more_than_the_pipe", || run_long(a_call_costs_little_more_than_the_pipe())),
    ("no_process_survives_two_hundred_kills", || run_long(no_process_survives_two_hundred_kills())),
];

fn run_long(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(600), test).await.expect("the test hangs");
    });
}

async fn calls_at_the_same_time_take_as_long_as_one() {
    let server = McpServer { concurrency: 64, ..server("legacy") };
    let client = McpClient::connect(server, options()).await.unwrap();
    let one = async || {
        let start = Instant::now();
        call(&client, "echo", json!({"text": "x", "ms": 500})).await.unwrap();
        start.elapsed()
    };
    let alone = one().await;
    let start = Instant::now();
    let calls: Vec<_> = (0..64)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { call(&client, "echo", json!({"text": "x", "ms": 500})).await.unwrap() })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    let (all, most) = (start.elapsed(), alone.mul_f64(1.1));
    println!("one call: {alone:?}, 64 calls: {all:?}");
    assert!(all <= most, "{all:?} is more than {most:?}");
}

/// The middle of the times that calls took, and the time that one in a hundred was over.
fn middle_and_late(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// Calls over a pipe without a client.
fn over_a_pipe(calls: usize) -> Vec<Duration> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env("MCP_SERVER", "legacy").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut times = Vec::new();
    for id in 0..calls {
        let start = Instant::now();
        let params = json!({"name": "echo", "arguments": {"text": "x"}});
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        input.write_all(format!("{request}\n").as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
        times.push(start.elapsed());
    }
    drop(input);
    child.wait().unwrap();
    times
}

async fn a_call_costs_little_more_than_the_pipe() {
    const CALLS: usize = 5_000;
    let (raw, raw_late) = middle_and_late(over_a_pipe(CALLS));
    let client = connect("legacy").await;
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let start = Instant::now();
        call(&client, "echo", json!({"text": "x"})).await.unwrap();
        times.push(start.elapsed());
    }
    let (middle, late) = middle_and_late(times);
    println!("a pipe: {raw:?}, {raw_late:?} at most of 99 %; the client: {middle:?}, {late:?}");
    assert!(middle < raw + Duration::from_millis(1), "{middle:?} is much more than {raw:?}");
}

async fn no_process_survives_two_hundred_kills() {
    for round in 0..200 {
        let words = ["legacy stays", "modern", "legacy wrapped", "legacy"][round % 4];
        let client = connect(words).await;
        let numbers: Vec<Value> = serde_json::from_str(&told(&client, "processes").await).unwrap();
        match round % 3 {
            0 => drop(client),
            1 => {
                let waiting = call(&client, "silence", json!({}));
                let _ = tokio::time::timeout(Duration::from_millis(round as u64 % 10), waiting).await;
                drop(client);
            }
            _ => {
                let killed = Command::new("kill").args(["-9", &numbers[0].to_string()]).status();
                assert!(killed.unwrap().success());
            }
        }
        eventually("all have ended", async || !numbers.iter().any(runs)).await;
    }
}
