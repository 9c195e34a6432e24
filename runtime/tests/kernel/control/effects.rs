//! Effects, and the ready-made tool `ask_question`.

use toolgen_runtime::layers::control::{Answerer, AskQuestion, EFFECT_FAILED, EFFECT_UNHANDLED, Question};

use super::call;
use crate::prelude::*;

/// Notifies.
#[tool(undocumented, timeout = "50ms")]
async fn notify(text: String) -> Effect {
    Effect::new("notify", json!({ "text": text }))
}

/// Hands over.
#[tool(complete(next_state = "HANDED_OVER"))]
fn hand_over() -> ToolResult {
    ToolResult::text("never seen")
        .with_control(Control::Effect(Effect::new("notify", json!({"text": "over"}))))
}

/// Fails and asks for an effect all the same.
#[tool]
fn failing() -> ToolResult {
    ToolResult::json(json!({"success": false}))
        .with_control(Control::Effect(Effect::new("notify", json!(null))))
}

fn toolbox() -> ToolboxBuilder {
    let tools = Registry::new(toolset![notify, hand_over, failing]).unwrap().to_builder().add(AskQuestion);
    Toolbox::builder(&tools.seal().unwrap())
}

fn notifying() -> Toolbox {
    let handler = |effect: Effect, ctx: ToolContext| async move {
        Ok(ToolResult::json(json!({"told": effect.data["text"], "by": ctx.tool_name.as_str()})))
    };
    toolbox().effect("notify", handler).build().unwrap()
}

#[tokio::test]
async fn outcome_of_an_effect_is_the_result() {
    let response = call(&notifying(), "notify", json!({"text": "hi"})).await;
    assert_eq!(response.outcome.as_ref().unwrap().details, json!({"told": "hi", "by": "notify"}));
    assert_eq!(response.control(), Control::Continue);
}

#[tokio::test]
async fn completion_tool_completes_after_its_effect_succeeds() {
    let response = call(&notifying(), "hand_over", json!({})).await;
    assert!(matches!(response.control(), Control::Complete { signal, .. } if signal == "HANDED_OVER"));
    let refusing = |_: Effect, _: ToolContext| async { Err(ToolError::failed("nobody is there")) };
    let toolbox = toolbox().effect("notify", refusing).build().unwrap();
    let response = call(&toolbox, "hand_over", json!({})).await;
    assert_eq!((response.text().as_str(), response.control()), ("nobody is there", Control::Continue));
}

#[tokio::test]
async fn unhandled_effect_is_reported() {
    let response = call(&toolbox().build().unwrap(), "notify", json!({"text": "hi"})).await;
    let error = response.outcome.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        ("the effect 'notify' has no handler", EFFECT_UNHANDLED)
    );
}

#[tokio::test]
async fn failing_effect_handler_fails_the_call() {
    async fn code(builder: ToolboxBuilder) -> String {
        let response = call(&builder.build().unwrap(), "notify", json!({"text": "hi"})).await;
        assert!(!response.text().contains("secret"));
        response.outcome.unwrap_err().code().to_owned()
    }
    let panics = |_: Effect, _: ToolContext| async { panic!("secret") };
    assert_eq!(code(toolbox().effect("notify", panics)).await, EFFECT_FAILED);
    let asks = |effect: Effect, _: ToolContext| async move {
        Ok(ToolResult::empty().with_control(Control::Effect(effect)))
    };
    assert_eq!(code(toolbox().effect("notify", asks)).await, EFFECT_FAILED);
}

#[tokio::test]
async fn error_result_requests_no_effect() {
    let response = call(&notifying(), "failing", json!({})).await;
    assert!(response.is_error());
    assert_eq!(response.control(), Control::Continue);
}

#[tokio::test(start_paused = true)]
async fn effect_has_no_timeout_and_ends_with_the_turn() {
    let slow = |_: Effect, _: ToolContext| async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(ToolResult::text("at last"))
    };
    let toolbox = toolbox().effect("notify", slow).build().unwrap();
    assert_eq!(call(&toolbox, "notify", json!({"text": "hi"})).await.text(), "at last");

    let turn = Turn::new("turn");
    let token = turn.cancel().clone();
    let (response, ()) =
        tokio::join!(toolbox.run(ToolCall::new("c1", "notify", json!({"text": "hi"})), &turn), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            token.cancel();
        });
    assert_eq!(response.outcome, Err(ToolError::Cancelled));
}

/// Records the questions.
#[derive(Clone, Default)]
struct Architect(Arc<Mutex<Vec<Question>>>);

impl Answerer for Architect {
    fn answer<'a>(
        &'a self,
        question: &'a Question,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.0.lock().unwrap().push(question.clone());
        Box::pin(async {
            if question.question.contains("day") {
                Err(ToolError::failed("busy"))
            } else {
                Ok("B-trees".into())
            }
        })
    }
}

#[tokio::test]
async fn question_effect_is_answered_in_the_known_format() {
    let architect = Architect::default();
    let toolbox = toolbox().answerer(architect.clone()).build().unwrap();
    let asked = json!({"question": "Which index?", "context": "A table of events.", "urgency": "high"});
    let response = call(&toolbox, "ask_question", asked).await;
    assert_eq!(response.text(), "Question: Which index?\nAnswer: B-trees");
    let seen = architect.0.lock().unwrap().remove(0);
    assert_eq!((seen.context.as_str(), seen.urgency.as_str()), ("A table of events.", "high"));
    // A missing answer is also a result of the call.
    assert_eq!(call(&toolbox, "ask_question", json!({"question": "What day?"})).await.text(), "busy");
    let error = call(&toolbox, "ask_question", json!({})).await.outcome.unwrap_err();
    assert_eq!(error.code(), "MISSING_PARAMETER");
}
