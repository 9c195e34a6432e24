//! The time of a decision.

use std::hint::black_box;
use std::time::Instant;

use super::{arguments, scopes, tool};
use crate::{CallView, Rules};

/// Prints the time of a decision by ten rules:
/// `cargo test --release -p toolgen-rules --lib -- --ignored --nocapture time_of_a_decision`.
#[test]
#[ignore = "heavy: soak"]
fn time_of_a_decision() {
    let rules = Rules::parse([
        "deny pay when args.amount > 5000 && !principal.has('treasurer')",
        "deny pay when args.kind == 'loan' && args.amount > 1000",
        "deny pay when args.to in ['Eve', 'Mallory', 'Trudy']",
        "deny pay when args.fast && args.price < 0",
        "deny pay when has(args.note) && args.note.contains('refund')",
        "deny pay when size(args.tags) > 3",
        "ask pay when args.amount > 2000 || args.price > 99.5",
        "ask pay when args.from.iban.startsWith('XX')",
        "ask effect:destructive when context.agent_depth > 2",
        "rate pay 10 per 1m when args.amount > 1000",
    ])
    .unwrap();
    let (spec, arguments, scopes) = (tool(), arguments(), scopes());
    rules.check([&spec]).unwrap();
    let compiled = rules.for_tool(&spec);
    let call = CallView::new(&arguments).with_principal("ada", &scopes);
    let decisions = 200_000;
    for round in 1..=3 {
        let started = Instant::now();
        for _ in 0..decisions {
            assert!(black_box(compiled.deciding(black_box(&call))).is_none());
        }
        println!("round {round}: {} ns per decision of ten rules", started.elapsed().as_nanos() / decisions);
    }
}
