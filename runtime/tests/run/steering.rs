//! What the user says while the model is at work.

use serde_json::json;
use toolgen_runtime::ToolContext;
use toolgen_runtime::run::{Entry, LoopEnd, LoopOptions, Messages, ModelTurn, Transcript, run_loop};

use super::{Ran, builder, calls, shell_call};

fn said(transcript: &Transcript) -> Vec<&str> {
    transcript
        .iter()
        .filter_map(|entry| if let Entry::User(text) = entry { Some(text.as_str()) } else { None })
        .collect()
}

#[tokio::test]
async fn what_the_user_says_is_read_before_the_next_turn() {
    let provider = builder(&Ran::default()).build().unwrap();
    let messages = Messages::new();
    let queue = messages.clone();
    let mut turn = 0;
    let mut model = move |_: Transcript| {
        turn += 1;
        if turn <= 2 {
            queue.push(format!("note {turn}"));
        }
        let said = if turn == 1 { shell_call("a") } else { ModelTurn::text(format!("text {turn}")) };
        async move { Ok::<_, String>(said) }
    };
    let options = LoopOptions::new().with_messages(messages.clone());
    let context = ToolContext::new("turn", "");
    let run = run_loop(&provider, &mut model, &context, Transcript::user("go"), &options).await;
    // The text of the second turn was not the end, because a message waited.
    assert_eq!(run.outcome, Ok(LoopEnd::Text("text 3".to_owned())));
    assert_eq!(said(&run.transcript), ["go", "note 1", "note 2"]);
    assert!(messages.is_empty());
}

#[tokio::test]
async fn a_message_after_a_completion_stays_in_the_queue() {
    let provider = builder(&Ran::default()).build().unwrap();
    let messages = Messages::new();
    let queue = messages.clone();
    let mut model = move |_: Transcript| {
        queue.push("wait");
        async { Ok::<_, String>(calls([("done", json!({}))])) }
    };
    let options = LoopOptions::new().with_messages(messages.clone());
    let context = ToolContext::new("turn", "");
    let run = run_loop(&provider, &mut model, &context, Transcript::user("go"), &options).await;
    assert!(matches!(run.outcome, Ok(LoopEnd::Completed(_))));
    assert_eq!(messages.take(), ["wait"]);
}
