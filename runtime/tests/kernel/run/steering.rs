//! Messages of the user while the model is working.

use toolgen_runtime::agent::agent_loop::SteeringMessages;
use toolgen_runtime::agent::dispatch::Strategy;

use super::{Ran, builder, calls, shell_call};
use crate::prelude::*;

fn said(transcript: &Transcript) -> Vec<&str> {
    transcript
        .iter()
        .filter_map(|entry| if let Entry::User(text) = entry { Some(text.as_str()) } else { None })
        .collect()
}

#[tokio::test]
async fn user_message_is_read_before_the_next_turn() {
    let toolbox = builder(&Ran::default()).build().unwrap();
    let messages = SteeringMessages::new();
    let queue = messages.clone();
    let mut turn = 0;
    let mut model = move |_: Transcript| {
        turn += 1;
        if turn <= 2 {
            queue.push(format!("note {turn}"));
        }
        let reply = if turn == 1 { shell_call("a") } else { ModelTurn::text(format!("text {turn}")) };
        async move { Ok::<_, String>(reply) }
    };
    let options = LoopOptions::new().with_messages(messages.clone());
    let context = Turn::new("turn");
    let run = run_loop(&toolbox, &mut model, &context, Transcript::user("go"), &options).await;
    // The text of the second turn did not end the loop, because a message was waiting.
    assert_eq!(run.outcome, Ok(LoopEnd::Text("text 3".to_owned())));
    assert_eq!(said(&run.transcript), ["go", "note 1", "note 2"]);
    assert!(messages.is_empty());
}

#[tokio::test]
async fn message_after_a_completion_stays_in_the_queue() {
    let toolbox = builder(&Ran::default()).build().unwrap();
    let messages = SteeringMessages::new();
    let queue = messages.clone();
    let mut model = move |_: Transcript| {
        queue.push("wait");
        async { Ok::<_, String>(calls([("done", json!({}))])) }
    };
    let options = LoopOptions::new().with_messages(messages.clone());
    let context = Turn::new("turn");
    let run = run_loop(&toolbox, &mut model, &context, Transcript::user("go"), &options).await;
    assert!(matches!(run.outcome, Ok(LoopEnd::Completed(_))));
    assert_eq!(messages.take(), ["wait"]);
}

#[tokio::test]
async fn message_skips_calls_not_started() {
    for (strategy, ran_first) in [(Strategy::Sequential, 1), (Strategy::Parallel, 3)] {
        let ran = Ran::default();
        let toolbox = builder(&ran).build().unwrap();
        let messages = SteeringMessages::new();
        let queue = messages.clone();
        let mut model = move |transcript: Transcript| {
            let reply = match transcript.last() {
                Some(Entry::User(text)) if text == "stop" => ModelTurn::text("stopped"),
                _ => {
                    queue.push("stop");
                    let numbered =
                        [1, 2, 3].map(|id| ToolCall::new(id.to_string(), "shell", json!({"cmd": "x"})));
                    ModelTurn::calls(numbered)
                }
            };
            async { Ok::<_, String>(reply) }
        };
        let dispatch = DispatchOptions::new().with_strategy(strategy);
        let options = LoopOptions::new().with_messages(messages).with_dispatch(dispatch);
        let context = Turn::new("turn");
        let run = run_loop(&toolbox, &mut model, &context, Transcript::user("go"), &options).await;
        super::assert_answered(&run.transcript);
        assert_eq!((run.outcome, ran.all().len()), (Ok(LoopEnd::Text("stopped".to_owned())), ran_first));
        let skipped = run.transcript.last_results().filter(|response| response.skipped);
        assert!(skipped.map(ToolResponse::text).all(|text| text == "Skipped due to queued user message."));
    }
}

#[tokio::test]
async fn program_can_steer_without_a_message() {
    let ran = Ran::default();
    let toolbox = builder(&ran).build().unwrap();
    let dispatch = DispatchOptions::new().with_strategy(Strategy::Sequential).with_steering(|| true);
    let options = LoopOptions::new().with_messages(SteeringMessages::new()).with_dispatch(dispatch);
    let turn = calls([("shell", json!({"cmd": "a"})), ("shell", json!({"cmd": "b"}))]);
    let context = Turn::new("turn");
    let run = super::run_in(&toolbox, [turn, ModelTurn::text("ok")], &context, &options).await;
    assert_eq!((ran.all().len(), run.outcome), (1, Ok(LoopEnd::Text("ok".to_owned()))));
}
