//! Tools that request input.

use super::call;
use crate::prelude::*;

/// Orders something, once it knows the size and the colour.
#[tool(undocumented, timeout = "50ms")]
async fn order(what: String, ctx: &ToolContext) -> ToolResult {
    let ask = |message: &str, schema: Value| {
        ToolResult::empty().with_control(Control::NeedInput(InputRequest::new(message, schema)))
    };
    match ctx.inputs() {
        [] => ask(
            "Which size?",
            json!({"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}, "required": ["size"]}),
        ),
        [_] => ask("Which colour?", json!({"enum": ["red", "blue"]})),
        [size, colour, ..] => ToolResult::text(format!("{what} {} {colour}", size["size"])),
    }
}

/// Never knows enough.
#[tool]
fn insatiable() -> InputRequest {
    InputRequest::new("More?", json!({}))
}

/// Orders a table.
#[tool]
async fn order_table(ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    assert!(ctx.inputs().is_empty());
    ctx.call("order", json!({"what": "table"})).await
}

/// Answers from a list, and records the questions.
#[derive(Clone)]
struct From(Arc<Mutex<Vec<InputReply>>>, Arc<Mutex<Vec<String>>>);

impl From {
    fn list(mut responses: Vec<InputReply>) -> From {
        responses.reverse();
        From(Arc::new(Mutex::new(responses)), Arc::default())
    }
}

impl InputHandler for From {
    fn ask<'a>(
        &'a self,
        question: InputQuestion<'a>,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
        let problems: Vec<&str> = question.problems.iter().map(|problem| &*problem.pointer).collect();
        let asked = format!("{} {} {problems:?}", question.request.message, question.attempt);
        self.1.lock().unwrap().push(asked);
        let response = self.0.lock().unwrap().pop();
        Box::pin(async move { response.ok_or_else(|| ToolError::failed("nobody is there")) })
    }
}

fn toolbox() -> ToolboxBuilder {
    Toolbox::builder(&Registry::new(toolset![order, insatiable, order_table]).unwrap())
}

fn given(value: Value) -> InputReply {
    InputReply::Given(value)
}

#[tokio::test]
async fn tool_asks_in_steps_and_runs_with_all_inputs() {
    let from = From::list(vec![given(json!({"size": 3.0})), given(json!("blue"))]);
    let toolbox = toolbox().input_handler(from.clone()).build().unwrap();
    assert_eq!(call(&toolbox, "order", json!({"what": "chair"})).await.text(), "chair 3 \"blue\"");
    assert_eq!(*from.1.lock().unwrap(), ["Which size? 1 []", "Which colour? 1 []"]);
}

#[tokio::test]
async fn inputs_belong_to_the_call_that_asked() {
    let from = From::list(vec![given(json!({"size": 3})), given(json!("blue"))]);
    let toolbox = toolbox().input_handler(from).build().unwrap();
    assert_eq!(call(&toolbox, "order_table", json!({})).await.text(), "table 3 \"blue\"");
}

#[tokio::test]
async fn invalid_input_is_requested_again_with_all_problems() {
    let from = From::list(vec![
        given(json!({"size": 0, "sise": 1})),
        given(json!("three")),
        given(json!({"size": 3})),
        given(json!("green")),
        given(json!("red")),
    ]);
    let toolbox = toolbox().input_handler(from.clone()).build().unwrap();
    assert_eq!(call(&toolbox, "order", json!({"what": "chair"})).await.text(), "chair 3 \"red\"");
    let asked = from.1.lock().unwrap().clone();
    assert!(asked[1].starts_with("Which size? 2 [\"/size\""), "{asked:?}");
    assert_eq!(asked[2..], ["Which size? 3 [\"\"]", "Which colour? 1 []", "Which colour? 2 [\"\"]"]);

    let from = From::list(vec![given(json!({"size": 0})); 9]);
    let toolbox = super::input::toolbox().input_handler(from.clone()).build().unwrap();
    let error = call(&toolbox, "order", json!({"what": "chair"})).await.outcome.unwrap_err();
    assert_eq!(error.code(), "INPUT_INVALID");
    assert_eq!(from.1.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn number_of_questions_is_limited() {
    let from = From::list(vec![given(json!({})); 99]);
    let toolbox = toolbox().input_handler(from.clone()).build().unwrap();
    let error = call(&toolbox, "insatiable", json!({})).await.outcome.unwrap_err();
    assert_eq!(error.code(), "INPUT_ROUNDS");
    assert_eq!(from.1.lock().unwrap().len(), 8);
}

#[tokio::test]
async fn input_handler_may_decline_fail_or_panic() {
    struct Panics;
    impl InputHandler for Panics {
        fn ask<'a>(
            &'a self,
            _question: InputQuestion<'a>,
            _ctx: &'a ToolContext,
        ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
            panic!("secret")
        }
    }
    async fn text(builder: ToolboxBuilder) -> String {
        call(&builder.build().unwrap(), "order", json!({"what": "chair"})).await.text()
    }
    let declined = text(toolbox().input_handler(From::list(vec![InputReply::Declined]))).await;
    assert_eq!(declined, "The tool needs input that was not given: Which size?");
    assert_eq!(text(toolbox().input_handler(From::list(vec![]))).await, "nobody is there");
    assert_eq!(text(toolbox().input_handler(Panics)).await, "asking for input failed");
}

async fn pending(toolbox: &Toolbox, turn: &Turn) -> PendingInputCall {
    let response = toolbox.run(ToolCall::new("c1", "order", json!({"what": "chair"})), turn).await;
    assert!(matches!(response.control(), Control::NeedInput(request) if request.message == "Which size?"));
    let Err(ToolError::InputRequired(pending)) = response.outcome else { panic!("it ran") };
    *pending
}

#[tokio::test]
async fn call_waits_as_plain_data_without_an_input_handler() {
    for builder in [toolbox(), toolbox().input_handler(From::list(vec![InputReply::Later]))] {
        let toolbox = builder.build().unwrap();
        let turn = Turn::new("turn").with_session(Session::new("s"));
        let waiting = pending(&toolbox, &turn).await;
        assert!(!turn.session().unwrap().has_called("order"));
        let kept = serde_json::to_string(&waiting).unwrap();
        let waiting: PendingInputCall = serde_json::from_str(&kept).unwrap();
        let wrong = toolbox.resume_with_input(waiting.clone(), json!({}), &turn).await.unwrap_err();
        assert_eq!(wrong.code(), "MISSING_PARAMETER");
        // An input handler would be asked for the rest; here there is none.
        let next = toolbox.resume_with_input(waiting, json!({"size": 2}), &turn).await.unwrap();
        let Err(ToolError::InputRequired(next)) = next.outcome else { continue };
        assert_eq!((next.request.message.as_str(), next.inputs.len()), ("Which colour?", 1));
        let last = toolbox.resume_with_input(*next, json!("red"), &turn).await.unwrap();
        assert_eq!((last.id.as_str(), last.text().as_str()), ("c1", "chair 2 \"red\""));
        assert!(turn.session().unwrap().has_called("order"));
    }
}

#[tokio::test]
async fn model_sees_the_required_input() {
    let response = call(&toolbox().build().unwrap(), "order", json!({"what": "chair"})).await;
    let text = response.text();
    assert!(text.starts_with("The call was not finished: it needs input. Which size? {"), "{text}");
    assert!(response.is_error() && text.contains("\"minimum\":1"));
    assert_eq!(response.to_json()["error_code"], "INPUT_REQUIRED");
}

#[tokio::test]
async fn nested_call_waiting_for_input_fails() {
    let response = call(&toolbox().build().unwrap(), "order_table", json!({})).await;
    let error = response.outcome.unwrap_err();
    assert!(!matches!(error, ToolError::InputRequired(_)));
    assert_eq!(error.code(), "INPUT_REQUIRED");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_input_does_not_count_as_tool_time() {
    struct Slow;
    impl InputHandler for Slow {
        fn ask<'a>(
            &'a self,
            question: InputQuestion<'a>,
            _ctx: &'a ToolContext,
        ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
            let response =
                if question.request.message == "Which size?" { json!({"size": 1}) } else { json!("red") };
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(60)).await;
                Ok(given(response))
            })
        }
    }
    let toolbox = toolbox().input_handler(Slow).build().unwrap();
    assert_eq!(call(&toolbox, "order", json!({"what": "bed"})).await.text(), "bed 1 \"red\"");
    let turn = Turn::new("turn");
    let token = turn.cancel().clone();
    let (response, ()) =
        tokio::join!(toolbox.run(ToolCall::new("c1", "order", json!({"what": "bed"})), &turn), async {
            tokio::time::sleep(Duration::from_secs(90)).await;
            token.cancel();
        });
    assert_eq!(response.outcome, Err(ToolError::Cancelled));
}
