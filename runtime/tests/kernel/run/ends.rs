//! How a loop ends.

use toolgen_runtime::agent::agent_loop::{DEFAULT_MAX_ITERATIONS, LoopError};
use toolgen_runtime::agent::state_map::StateMap;
use toolgen_runtime::wire::Usage;

use super::{Ran, answers, assert_answered, builder, calls, run, run_in, shell_call, stopped_by};
use crate::prelude::*;

#[tokio::test]
async fn text_without_calls_ends_the_loop() {
    let (run, ran) = run([ModelTurn::text("hello")]).await;
    assert_eq!((run.outcome, run.iterations), (Ok(LoopEnd::Text("hello".to_owned())), 1));
    assert!(ran.is_empty());
    let (run, ran) = super::run([shell_call("ls"), ModelTurn::text("done")]).await;
    assert_eq!((run.outcome, run.iterations), (Ok(LoopEnd::Text("done".to_owned())), 2));
    assert_eq!(ran, ["ls"]);
}

fn signal(end: Result<LoopEnd, LoopError<String>>) -> String {
    match end {
        Ok(LoopEnd::Completed(completed)) => format!("{} {}", completed.call_id, completed.signal),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn completion_tool_ends_the_loop_after_its_turn() {
    let turn = calls([("submit_plan", json!({"plan": "p"})), ("shell", json!({"cmd": "after"}))]);
    let (run, ran) = run([turn, shell_call("never")]).await;
    let Ok(LoopEnd::Completed(completed)) = &run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!((completed.tool.as_str(), completed.signal.as_str()), ("submit_plan", "PLAN_REVIEW"));
    assert_eq!(completed.data, json!({"plan": "p", "next_state": "PLAN_REVIEW"}));
    assert_eq!(ran, ["after"]);
    assert_eq!(run.iterations, 1);
}

#[tokio::test]
async fn first_of_several_signals_wins() {
    let turn = calls([
        ("submit_plan", json!({"plan": "bad"})),
        ("done", json!({})),
        ("submit_plan", json!({"plan": "good"})),
    ]);
    let (run, _) = run([turn]).await;
    assert_eq!(signal(run.outcome), "c2 PREPARE_MERGE");
}

#[tokio::test]
async fn completion_without_a_state_ends_the_loop() {
    assert_eq!(signal(run([calls([("stop", json!({}))])]).await.0.outcome), "c1 ");
}

#[tokio::test]
async fn failed_completion_lets_the_model_retry() {
    let try_with = |plan: &str| calls([("submit_plan", json!({ "plan": plan }))]);
    let (run, _) = run([try_with(""), try_with("bad"), try_with("good")]).await;
    assert_eq!(run.iterations, 3);
    assert_eq!(signal(run.outcome), "c1 PLAN_REVIEW");
}

#[tokio::test]
async fn signal_selects_a_state() {
    let ran = Ran::default();
    let toolbox = builder(&ran).build().unwrap();
    let states =
        StateMap::builder().on("PLAN_REVIEW", 1).on("PREPARE_MERGE", 2).build(toolbox.specs()).unwrap();
    let (run, _) = run([calls([("done", json!({}))])]).await;
    let Ok(LoopEnd::Completed(completed)) = run.outcome else { panic!() };
    assert_eq!(states.next(&completed.signal), Ok(&2));
}

#[tokio::test]
async fn default_limit_is_ten_iterations() {
    let (run, ran) = run((0..99).map(|number| shell_call(&number.to_string()))).await;
    assert_eq!(run.outcome, Err(LoopError::MaxIterations(10)));
    assert_eq!(LoopError::<String>::MaxIterations(10).to_string(), "maximum tool iterations (10) exceeded");
    assert_eq!((run.iterations, ran.len()), (DEFAULT_MAX_ITERATIONS, 10));
    let options = LoopOptions::new().with_max_iterations(2);
    let toolbox = builder(&Ran::default()).build().unwrap();
    let turn = Turn::new("turn");
    let run = run_in(&toolbox, (0..9).map(|_| shell_call("x")), &turn, &options).await;
    assert_eq!(run.outcome.unwrap_err().to_string(), "maximum tool iterations (2) exceeded");
    // The last results are still in the transcript.
    assert_eq!(run.transcript.len(), 5);
}

#[tokio::test]
async fn failing_model_ends_the_loop_and_keeps_the_transcript() {
    let (run, _) = run([shell_call("ls")]).await;
    assert_eq!(run.outcome, Err(LoopError::Model("nothing more to say".to_owned())));
    assert_eq!(run.transcript.len(), 3);
}

#[tokio::test]
async fn model_using_no_tool_twice_ends_the_loop() {
    let ran = Ran::default();
    let toolbox = builder(&ran).build().unwrap();
    let options = LoopOptions::new().with_nudge("Use a tool.");
    let turn = Turn::new("turn");
    let text = || ModelTurn::text("hm");
    let run = run_in(&toolbox, [text(), text()], &turn, &options).await;
    assert_eq!((run.outcome, run.iterations), (Err(LoopError::NoToolCalls), 2));
    // A tool call in between resets the count.
    let turns = [text(), shell_call("a"), text(), calls([("done", json!({}))])];
    assert_eq!(signal(run_in(&toolbox, turns, &turn, &options).await.outcome), "c1 PREPARE_MERGE");
}

#[tokio::test(start_paused = true)]
async fn cancellation_ends_the_loop_during_a_model_request() {
    let token = CancellationToken::new();
    let toolbox = builder(&Ran::default()).build().unwrap();
    let mut thinking = |_: Transcript| std::future::pending::<Result<ModelTurn, String>>();
    let (context, options) = (stopped_by(&token), LoopOptions::new());
    let looped = run_loop(&toolbox, &mut thinking, &context, Transcript::new(), &options);
    let (run, ()) = tokio::join!(looped, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(run.outcome, Err(LoopError::Cancelled));
    let again = run_loop(&toolbox, &mut thinking, &context, Transcript::new(), &options).await;
    assert_eq!((again.outcome, again.iterations), (Err(LoopError::Cancelled), 0));
}

#[tokio::test(start_paused = true)]
async fn cancellation_ends_the_loop_during_tool_calls() {
    let token = CancellationToken::new();
    let toolbox = builder(&Ran::default()).build().unwrap();
    let turn = calls([("shell", json!({"cmd": "a"})), ("hang", json!({})), ("hang", json!({}))]);
    let (context, options) = (stopped_by(&token), LoopOptions::new());
    let looped = run_in(&toolbox, [turn], &context, &options);
    let (run, ()) = tokio::join!(looped, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(run.outcome, Err(LoopError::Cancelled));
    assert_eq!(answers(&run)[1..], ["Cancelled", "Cancelled"]);
    assert_answered(&run.transcript);
}

/// A turn with this usage, in tokens.
fn cost(mut turn: ModelTurn, input: u64, output: u64) -> ModelTurn {
    turn.usage = Usage::new(input, output, input, 0);
    turn
}

#[tokio::test]
async fn token_limit_ends_the_loop() {
    let ran = Ran::default();
    let toolbox = builder(&ran).build().unwrap();
    let turn = Turn::new("turn");
    let options = LoopOptions::new().with_max_tokens(100);
    let turns = || (1..9).map(|number| cost(shell_call(&number.to_string()), 30, 10));
    let run = run_in(&toolbox, turns(), &turn, &options).await;
    assert_eq!(run.outcome, Err(LoopError::MaxTokens(100)));
    assert_eq!(LoopError::<String>::MaxTokens(100).to_string(), "maximum tokens (100) exceeded");
    // The turn that reached the limit was paid for: its calls are run and answered.
    assert_eq!((run.iterations, ran.all().len(), run.transcript.usage().total()), (3, 3, 120));
    // Usage before the run does not count, and a text ends the loop regardless of its usage.
    let mut model = super::Script::new([cost(shell_call("a"), 90, 9), cost(ModelTurn::text("done"), 200, 1)]);
    let again = run_loop(&toolbox, &mut model, &turn, run.transcript, &options).await;
    assert_eq!((again.outcome, again.iterations), (Ok(LoopEnd::Text("done".to_owned())), 2));
}

#[tokio::test(start_paused = true)]
async fn time_limit_ends_the_loop_and_every_call_has_a_response() {
    let toolbox = builder(&Ran::default()).build().unwrap();
    let turn = Turn::new("turn");
    let max = Duration::from_secs(5);
    let options = LoopOptions::new().with_max_time(max);
    let begin = Instant::now();
    let mut thinking = |_: Transcript| std::future::pending::<Result<ModelTurn, String>>();
    let run = run_loop(&toolbox, &mut thinking, &turn, Transcript::user("?"), &options).await;
    assert_eq!((run.outcome, begin.elapsed()), (Err(LoopError::MaxTime(max)), max));
    assert_eq!(LoopError::<String>::MaxTime(max).to_string(), "maximum time (5s) exceeded");
    let calls = calls([("shell", json!({"cmd": "a"})), ("hang", json!({}))]);
    let run = run_in(&toolbox, [calls], &turn, &options).await;
    assert_eq!((&run.outcome, begin.elapsed()), (&Err(LoopError::MaxTime(max)), 2 * max));
    assert_eq!(answers(&run)[1..], ["Cancelled"]);
    assert_answered(&run.transcript);
    // The caller's token still belongs to the caller, and fires before the timeout.
    let token = CancellationToken::new();
    let context = stopped_by(&token);
    let looped = run_loop(&toolbox, &mut thinking, &context, Transcript::new(), &options);
    let (run, ()) = tokio::join!(looped, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(run.outcome, Err(LoopError::Cancelled));
    let run = run_in(&toolbox, [ModelTurn::text("hello")], &turn, &options).await;
    assert_eq!((run.outcome, turn.is_cancelled()), (Ok(LoopEnd::Text("hello".to_owned())), false));
}
