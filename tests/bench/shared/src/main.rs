//! Measures the cost of shared state per call, compared with the state of one process. `cargo run --release` starts a
//! `redis-server` on a free loopback port; `cargo run --release -- URL` uses another server.

use std::error::Error;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgen_runtime::layers::rate::{RateLimit, WindowLimit};
use toolgen_runtime::store::{Expected, MemoryStore, RedisStore, Store};
use toolgen_runtime::{CircuitBreaker, Principal, ToolName, ToolSpec};

const CALLS: usize = 20_000;
const WARM: usize = 1_000;
/// Number of concurrent calls in the second column.
const TASKS: usize = 16;

/// A server that is stopped at the end of the benchmark.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start() -> Result<(Server, String), Box<dyn Error>> {
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let process = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .stdout(Stdio::null())
        .spawn()
        .map_err(|why| format!("redis-server: {why}; install it, or give the URL of a server"))?;
    let server = Server(process);
    for _ in 0..500 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok((server, format!("redis://127.0.0.1:{port}")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err("redis-server did not start within 5 seconds".into())
}

/// Prints the median and the 99th percentile of a step, run sequentially and concurrently.
async fn measure<S, F>(what: &str, step: S)
where
    S: Fn(usize) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send,
{
    let mut line = format!("{what:<34}");
    for tasks in [1, TASKS] {
        let running: Vec<_> = (0..tasks)
            .map(|task| {
                let step = step.clone();
                tokio::spawn(async move {
                    let mut times = Vec::with_capacity(CALLS / tasks);
                    for call in 0..(CALLS + WARM) / tasks {
                        let begun = Instant::now();
                        step(tasks * 10_000_000 + task * 1_000_000 + call).await;
                        if call >= WARM / tasks {
                            times.push(begun.elapsed());
                        }
                    }
                    times
                })
            })
            .collect();
        let mut times = Vec::new();
        for task in running {
            times.extend(task.await.unwrap_or_default());
        }
        times.sort();
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
        line += &format!("{:>12.1?} {:>12.1?}  ", at(50), at(99));
    }
    println!("{line}");
}

fn limit() -> WindowLimit {
    WindowLimit::new().with_per_tool(u32::MAX).with_per_principal(u32::MAX)
}

async fn rate(what: &str, limit: impl RateLimit + 'static) {
    let limit = Arc::new(limit);
    measure(what, move |call| {
        let limit = Arc::clone(&limit);
        async move {
            let who = Principal::new(["a", "b", "c", "d"][call % 4]);
            let spec = ToolSpec { name: ToolName::new(["x", "y", "z"][call % 3]), ..ToolSpec::EMPTY };
            assert!(limit.ask(&who, &spec).await.is_ok());
        }
    })
    .await;
}

async fn rows(what: &str, store: impl Store + Clone + 'static) {
    let minute = Duration::from_secs(60);
    measure(what, move |call| {
        let store = store.clone();
        async move {
            let (table, key) = ("approvals-used", format!("name-{call}"));
            assert!(matches!(store.put(table, &key, b"", minute, Expected::Absent).await, Ok(Some(_))));
        }
    })
    .await;
}

async fn breaker(what: &str, breaker: Arc<CircuitBreaker>) {
    measure(what, move |_| {
        let breaker = Arc::clone(&breaker);
        async move { breaker.admit("db").map_or_else(|why| panic!("{why}"), |permit| permit.success()) }
    })
    .await;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (_server, url) = match std::env::args().nth(1) {
        Some(url) => (None, url),
        None => start().map(|(server, url)| (Some(server), url))?,
    };
    let store = RedisStore::builder(url, format!("bench-{}", std::process::id())).build()?;
    store.ping().await?;
    println!("{CALLS} calls: median and 99th percentile, one at a time, then {TASKS} at once");
    rate("rate limit, in memory", limit()).await;
    rate("rate limit, shared", limit().shared(store.clone())).await;
    rows("approval, in memory", MemoryStore::new()).await;
    rows("approval, shared", store.clone()).await;
    breaker("circuit breaker, in memory", Arc::default()).await;
    breaker("circuit breaker, shared", CircuitBreaker::new().shared(store).start()?).await;
    Ok(())
}
