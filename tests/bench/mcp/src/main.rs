//! Calls of one echo server over its standard input and output: by a raw pipe, by rmcp's client, and by ours. The server
//! is this program, too.

mod echo;
mod ours;
mod raw;
mod rmcp;

use std::time::{Duration, Instant};

use serde_json::json;

/// How many calls are on their way at the same time when the throughput is measured.
const IN_FLIGHT: usize = 16;
/// The text that is sent to and fro.
const TEXT: &str = "the quick brown fox jumps over the lazy dog";

/// A client: it makes so many calls, one after the other by each of so many tasks, and returns how long each took.
trait Peer {
    async fn calls(&self, tasks: usize, each: usize) -> Vec<Duration>;
}

/// The best of some rounds of one client.
struct Best {
    name: &'static str,
    p50: Duration,
    p99: Duration,
    per_second: f64,
}

/// The time of a call, which has to give the text back.
async fn timed(call: impl Future<Output = String>) -> Duration {
    let start = Instant::now();
    let text = call.await;
    let took = start.elapsed();
    assert_eq!(text, TEXT);
    took
}

/// Runs so many tasks, each with its calls.
async fn tasks<F: Future<Output = Vec<Duration>> + Send + 'static>(
    count: usize,
    task: impl Fn() -> F,
) -> Vec<Duration> {
    let running: Vec<_> = (0..count).map(|_| tokio::spawn(task())).collect();
    let mut all = Vec::new();
    for task in running {
        all.extend(task.await.unwrap());
    }
    all
}

async fn round(best: &mut Best, peer: &impl Peer, calls: usize) {
    let mut times = peer.calls(1, calls).await;
    times.sort_unstable();
    best.p50 = best.p50.min(times[times.len() / 2]);
    best.p99 = best.p99.min(times[times.len() * 99 / 100]);
    let start = Instant::now();
    let made = peer.calls(IN_FLIGHT, calls / IN_FLIGHT * 2).await.len();
    best.per_second = best.per_second.max(made as f64 / start.elapsed().as_secs_f64());
}

async fn measure(server: &[String], rounds: usize, calls: usize) {
    let new = |name| Best { name, p50: Duration::MAX, p99: Duration::MAX, per_second: 0.0 };
    let (raw, rmcp) = (raw::Raw::start(server).await, rmcp::Rmcp::start(server).await);
    let client = ours::Client::start(server).await;
    let tool = ours::Tool::start(server).await;
    let mut best = [new("raw pipe"), new("rmcp"), new("our client"), new("our tool")];
    for number in 0..=rounds {
        if number == 1 {
            // The first round warms up.
            best = [new("raw pipe"), new("rmcp"), new("our client"), new("our tool")];
        }
        let [first, second, third, fourth] = &mut best;
        round(first, &raw, calls).await;
        round(second, &rmcp, calls).await;
        round(third, &client, calls).await;
        round(fourth, &tool, calls).await;
    }
    let micros = |time: Duration| (time.as_secs_f64() * 1e7).round() / 10.0;
    for Best { name, p50, p99, per_second } in &best {
        println!(
            "{}",
            json!({ "name": name, "p50": micros(*p50), "p99": micros(*p99), "per_second": per_second.round() })
        );
    }
}

/// `mcp-bench echo` is the server; `mcp-bench THREADS ROUNDS CALLS [PROGRAM…]` measures, against this server or another.
fn main() {
    let mut words: Vec<String> = std::env::args().collect();
    if words[1] == "echo" {
        return echo::serve();
    }
    let [threads, rounds, calls] = [1, 2, 3].map(|at| words[at].parse::<usize>().unwrap());
    let mut server = words.split_off(4);
    if server.is_empty() {
        let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
        server = vec![program, "echo".to_owned()];
    }
    let mut builder = match threads {
        0 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(threads.max(1)).enable_all().build().unwrap();
    runtime.block_on(measure(&server, rounds, calls));
    // What the peers have started need not be waited for.
    runtime.shutdown_background();
}
