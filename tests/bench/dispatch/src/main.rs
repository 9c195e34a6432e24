//! Measures the time from the JSON text of a call to the text of its result, for the same five functions: as a
//! handwritten `match`, with `toolgen-runtime`, rmcp's router and rig's handlers. Then measures the cost of the
//! layers of a toolbox.

mod by_hand;
mod mcp;
mod ours;
mod pipeline;
mod rig;

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use toolgen_runtime::{ToolboxContext, Turn};

/// A call: the name of the tool and its arguments as JSON text.
const CALLS: [(&str, &str); 5] = [
    ("add", r#"{"a": 20, "b": 22}"#),
    ("greet", r#"{"name": "Ada Lovelace", "times": 2}"#),
    ("sum", r#"{"values": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5]}"#),
    (
        "locate",
        r#"{"place": {"street": "Main Street 1", "city": "Ulm", "tags": ["home", "red"]}, "unit": "metric"}"#,
    ),
    ("search", r#"{"query": "tools", "limit": 5, "exact": true, "kinds": ["a", "b"]}"#),
];

// Short runs, so that the best one was not interrupted.
const ROUNDS: u32 = 100;
const RUNS: usize = 1_000;

/// Returns the nanoseconds per call of one run.
fn run(call: &mut dyn FnMut(&str, &str) -> String) -> f64 {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for (name, arguments) in CALLS {
            black_box(call(black_box(name), black_box(arguments)));
        }
    }
    start.elapsed().as_nanos() as f64 / f64::from(ROUNDS) / CALLS.len() as f64
}

/// Returns the result of a future that never waits, so that no executor is measured.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("a tool waited"),
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    // Some contenders require a runtime; it runs nothing while a call is measured.
    let _inside = runtime.enter();
    let (registry, server, handlers) = (ours::registry(), mcp::server(), rig::handlers());
    let turn = Turn::new("turn");
    let ctx = turn.call_context("1", "a tool");
    let toolbox = registry.toolbox(ToolboxContext::new());
    let mut contenders: [(&str, Box<dyn FnMut(&str, &str) -> String>); 5] = [
        ("by hand", Box::new(by_hand::call)),
        ("registry", Box::new(|name, arguments| now(ours::call(&registry, &ctx, name, arguments)))),
        ("toolbox", Box::new(|name, arguments| now(ours::provided(&toolbox, &turn, name, arguments)))),
        ("rig", Box::new(|name, arguments| now(rig::call(&handlers, name, arguments)))),
        ("rmcp", Box::new(|name, arguments| now(mcp::call(&server, name, arguments)))),
    ];
    for (name, arguments) in CALLS {
        let expected = by_hand::call(name, arguments);
        for (who, call) in &mut contenders {
            assert_eq!(call(name, arguments), expected, "{who}");
        }
    }
    // In turns, so that other load of the machine affects all contenders; the best turn is reported.
    let mut best = [f64::INFINITY; 5];
    for _ in 0..RUNS {
        for (best, (_, call)) in best.iter_mut().zip(&mut contenders) {
            *best = best.min(run(call));
        }
    }
    println!("{:<12} {:>8} {:>6}", "", "ns/call", "ratio");
    for ((name, _), nanos) in contenders.iter().zip(best) {
        println!("{name:<12} {nanos:>8.0} {:>6.2}", nanos / best[0]);
    }
    pipeline::calls();
}
