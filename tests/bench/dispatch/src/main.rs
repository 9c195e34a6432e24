//! From JSON text to the result of a tool: the same five functions by hand and with `toolgen-runtime`.
//!
//! `cargo run --release` prints nanoseconds a call and the ratio to the hand-written `match`.

mod by_hand;
mod ours;

use std::hint::black_box;
use std::time::Instant;

/// A call: the name of the tool and its arguments as JSON text.
const CALLS: [(&str, &str); 5] = [
    ("add", r#"{"a": 20, "b": 22}"#),
    ("greet", r#"{"name": "Ada Lovelace", "times": 2}"#),
    ("sum", r#"{"values": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5]}"#),
    ("locate", r#"{"place": {"street": "Main Street 1", "city": "Ulm", "tags": ["home", "red"]}, "unit": "metric"}"#),
    ("search", r#"{"query": "tools", "limit": 5, "exact": true, "kinds": ["a", "b"]}"#),
];

const ROUNDS: u32 = 20_000;

/// The best of several runs: nanoseconds a call.
fn measure(mut call: impl FnMut(&str, &str) -> String) -> f64 {
    let run = |call: &mut dyn FnMut(&str, &str) -> String| {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            for (name, arguments) in CALLS {
                black_box(call(black_box(name), black_box(arguments)));
            }
        }
        start.elapsed().as_nanos() as f64 / f64::from(ROUNDS) / CALLS.len() as f64
    };
    (0..7).map(|_| run(&mut call)).fold(f64::INFINITY, f64::min)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let registry = ours::registry();
    for (name, arguments) in CALLS {
        let expected = by_hand::call(name, arguments);
        assert_eq!(runtime.block_on(ours::call(&registry, name, arguments)), expected);
    }
    let hand = measure(by_hand::call);
    // One future for all calls, so that no executor is measured.
    let tools = measure(|name, arguments| runtime.block_on(ours::call(&registry, name, arguments)));
    let executor = measure(|_, _| runtime.block_on(async { String::new() }));
    if std::env::args().any(|argument| argument == "--parts") {
        parts(&registry, &runtime);
    }
    println!("{:<12} {:>8} {:>6}", "", "ns/call", "ratio");
    for (name, nanos) in [("by hand", hand), ("toolgen", tools), ("(block_on)", executor)] {
        println!("{name:<12} {nanos:>8.0} {:>6.2}", nanos / hand);
    }
}

/// Where the time goes.
fn parts(registry: &toolgen_runtime::Registry, runtime: &tokio::runtime::Runtime) {
    use toolgen_runtime::{ToolContext, dialect::JSON_SCHEMA, tool::arguments};
    let parse = measure(|_, text| serde_json::from_str::<serde_json::Value>(text).unwrap().is_null().to_string());
    let decode = measure(|name, text| {
        let tool = registry.get(name).unwrap();
        arguments(tool.spec(), serde_json::Value::from(text), &JSON_SCHEMA).unwrap().is_null().to_string()
    });
    let context = measure(|name, _| ToolContext::new("1", name).child("1", name).tool_name);
    let execute = measure(|name, text| {
        let tool = registry.get(name).unwrap();
        let ctx = ToolContext::new("1", name);
        runtime.block_on(tool.execute(serde_json::from_str(text).unwrap(), &ctx)).unwrap().to_text()
    });
    println!("parse {parse:.0}, parse + decode {decode:.0}, context {context:.0}, parse + context + execute {execute:.0}");
}
