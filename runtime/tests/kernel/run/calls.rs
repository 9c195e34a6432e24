//! Outcomes of the calls of a turn.

use toolgen_runtime::layers::control::{Answerer, Question};

use super::{Ran, Script, answers, assert_answered, builder, calls, run, run_in, shell_call};
use crate::prelude::*;

#[tokio::test]
async fn failing_call_does_not_affect_its_siblings() {
    let turn = calls([
        ("shell", json!({"cmd": "break"})),
        ("nothing", json!({})),
        ("shell", json!({})),
        ("shell", json!({"cmd": "ls"})),
    ]);
    let (run, ran) = run([turn, ModelTurn::text("ok")]).await;
    let messages = answers(&run);
    assert_eq!(messages[..2], ["it broke", "Tool not found: nothing"]);
    assert!(messages[2].starts_with("Invalid arguments: "), "{messages:?}");
    assert!(messages[3].contains("ls"));
    assert_eq!(ran.len(), 2);
    assert_eq!(run.outcome, Ok(LoopEnd::Text("ok".to_owned())));
}

#[tokio::test]
async fn truncated_call_gets_an_error_without_running() {
    let turn = calls([("shell", json!({"cmd": "whole"})), ("shell", json!({"cmd": "cut"}))]).truncated();
    let (run, ran) = run([turn, ModelTurn::text("ok")]).await;
    assert_eq!(ran, ["whole"]);
    assert!(answers(&run)[1].contains("cut off"));
}

#[tokio::test]
async fn truncated_completion_does_not_complete() {
    let (run, _) = run([calls([("done", json!({}))]).truncated(), ModelTurn::text("ok")]).await;
    assert_eq!(run.outcome, Ok(LoopEnd::Text("ok".to_owned())));
}

#[tokio::test]
async fn declared_failure_is_an_error_but_an_exit_code_is_not() {
    let turn = calls([("shell", json!({"cmd": "refuse"})), ("shell", json!({"cmd": "false"}))]);
    let (run, _) = run([turn, ModelTurn::text("ok")]).await;
    let failed: Vec<bool> = run.transcript.last_results().map(ToolResponse::is_error).collect();
    assert_eq!(failed, [true, false]);
}

#[tokio::test]
async fn repeated_failures_are_blocked_within_a_loop() {
    let (run, ran) = run((0..5).map(|_| shell_call("break"))).await;
    assert_eq!(ran.len(), 3);
    assert!(answers(&run)[0].contains("has failed 3 consecutive times"), "{:?}", answers(&run));
}

#[tokio::test]
async fn requirement_is_satisfied_within_its_loop_only() {
    let report = || calls([("report", json!({}))]);
    let (first, _) = run([report(), shell_call("ls"), report()]).await;
    assert_eq!(answers(&first), ["reported"]);
    let (second, _) = run([report()]).await;
    assert!(answers(&second)[0].contains("shell"), "{:?}", answers(&second));
}

#[tokio::test]
async fn session_of_the_context_is_used() {
    let ran = Ran::default();
    let toolbox = builder(&ran).build().unwrap();
    let turn = Turn::new("turn").with_session(Session::new("s"));
    run_in(&toolbox, [shell_call("ls")], &turn, &LoopOptions::new()).await;
    assert!(turn.session().unwrap().has_called("shell"));
    let run = run_in(&toolbox, [calls([("report", json!({}))])], &turn, &LoopOptions::new()).await;
    assert_eq!(answers(&run), ["reported"]);
}

struct Architect;

impl Answerer for Architect {
    fn answer<'a>(
        &'a self,
        _question: &'a Question,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(ready(Ok("yes".to_owned())))
    }
}

#[tokio::test]
async fn question_is_answered_among_its_siblings() {
    let ran = Ran::default();
    let toolbox = builder(&ran).answerer(Architect).build().unwrap();
    let turn = calls([
        ("shell", json!({"cmd": "a"})),
        ("ask_question", json!({"question": "Ready?"})),
        ("shell", json!({"cmd": "b"})),
    ]);
    let context = Turn::new("turn");
    let run = run_in(&toolbox, [turn, ModelTurn::text("ok")], &context, &LoopOptions::new()).await;
    assert_eq!(answers(&run)[1], "Question: Ready?\nAnswer: yes");
    assert_eq!((run.outcome, ran.all().len()), (Ok(LoopEnd::Text("ok".to_owned())), 2));
}

/// Needs a name.
#[tool]
fn greet(ctx: &ToolContext) -> ToolResult {
    match ctx.input() {
        Some(name) => ToolResult::text(format!("Hello {}", name["name"])),
        None => {
            let schema =
                json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            ToolResult::empty().with_control(Control::NeedInput(InputRequest::new("Who?", schema)))
        }
    }
}

/// Nothing.
#[tool]
fn nothing() {}

#[tokio::test]
async fn loop_stops_for_waiting_calls_and_continues_after_resume() {
    let toolbox = Toolbox::builder(&Registry::new(toolset![greet, nothing]).unwrap()).build().unwrap();
    let context = Turn::new("turn");
    let turns = || [calls([("greet", json!({})), ("nothing", json!({}))]), ModelTurn::text("ok")];
    let unaware = run_in(&toolbox, turns(), &context, &LoopOptions::new()).await;
    assert_eq!(unaware.outcome, Ok(LoopEnd::Text("ok".to_owned())));
    assert!(answers(&unaware)[0].contains("Who?"));

    let options = LoopOptions::new().stop_when_waiting();
    let waiting = run_in(&toolbox, turns(), &context, &options).await;
    assert_eq!(waiting.outcome, Ok(LoopEnd::Waiting));
    let mut transcript = waiting.transcript;
    let pending: Vec<PendingInputCall> = transcript
        .last_results()
        .filter_map(|response| match &response.outcome {
            Err(ToolError::InputRequired(pending)) => Some((**pending).clone()),
            _ => None,
        })
        .collect();
    for pending in pending {
        let answer = toolbox.resume_with_input(pending, json!({"name": "Ada"}), &context).await.unwrap();
        assert!(transcript.replace_result(answer));
    }
    assert_answered(&transcript);
    let messages: Vec<String> = transcript.last_results().map(ToolResponse::text).collect();
    assert_eq!(messages, ["Hello \"Ada\"", ""]);
    let rest = &mut Script::new([ModelTurn::text("greeted")]);
    let run = run_loop(&toolbox, rest, &context, transcript, &options).await;
    assert_eq!(run.outcome, Ok(LoopEnd::Text("greeted".to_owned())));
}

#[tokio::test]
async fn turn_may_contain_text_and_calls() {
    let turn = calls([("shell", json!({"cmd": "ls"}))]).with_text("Looking.").with_tokens(7);
    let (run, ran) = run([turn, ModelTurn::text("ok")]).await;
    assert_eq!((run.outcome, ran.len()), (Ok(LoopEnd::Text("ok".to_owned())), 1));
    let same_id =
        ModelTurn::calls([ToolCall::new("x", "nothing", json!({})), ToolCall::new("x", "stop", json!({}))]);
    // Even two calls with the same ID have one result each.
    let (run, _) = super::run([same_id]).await;
    assert_eq!(answers(&run).len(), 2);
}

#[tokio::test]
async fn loop_and_dispatch_futures_are_send() {
    let toolbox = builder(&Ran::default()).build().unwrap();
    let looped = toolbox.clone();
    let run = tokio::spawn(async move {
        let turns = [shell_call("ls"), ModelTurn::text("ok")];
        run_in(&looped, turns, &Turn::new("turn"), &LoopOptions::new()).await.outcome
    });
    assert_eq!(run.await.unwrap(), Ok(LoopEnd::Text("ok".to_owned())));
    let dispatched = tokio::spawn(async move {
        let options = DispatchOptions::new();
        toolbox.dispatch(shell_call("ls").calls, &Turn::new("turn"), &options).await.responses.len()
    });
    assert_eq!(dispatched.await.unwrap(), 1);
}
