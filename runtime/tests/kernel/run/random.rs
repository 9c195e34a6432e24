//! Random replies of a model.

use proptest::prelude::*;

use super::{Ran, builder, calls, run_in};
use crate::prelude::*;

fn call() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        Just(("shell", json!({"cmd": "ls"}))),
        Just(("shell", json!({"cmd": "break"}))),
        Just(("shell", json!("{\"cmd\": "))),
        Just(("submit_plan", json!({"plan": "bad"}))),
        Just(("submit_plan", json!({"plan": "p"}))),
        Just(("ask_question", json!({"question": "?"}))),
        Just(("report", json!(null))),
        Just(("nobody", json!([]))),
    ]
}

fn turn() -> impl Strategy<Value = ModelTurn> {
    (prop::collection::vec(call(), 0..5), any::<bool>(), any::<bool>()).prop_map(|(made, cut, text)| {
        let numbered = made.into_iter().map(|(name, args)| calls([(name, args)]).calls.remove(0));
        let turn = ModelTurn::calls(numbered).with_text(if text { "hm" } else { "" });
        if cut { turn.truncated() } else { turn }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_call_gets_one_response_in_order(turns in prop::collection::vec(turn(), 0..8), nudges in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let toolbox = builder(&Ran::default()).build().unwrap();
            let options = LoopOptions::new().with_max_iterations(5);
            let options = if nudges { options.with_nudge("Use a tool.") } else { options };
            // Checks the transcript before each turn and at the end.
            let run = run_in(&toolbox, turns, &Turn::new("turn"), &options).await;
            assert!(run.iterations <= 5);
        });
    }
}
