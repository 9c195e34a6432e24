//! Values with thousands of levels do not overflow the stack.

use crate::prelude::*;

const LEVELS: usize = 5_000;

fn deep() -> Value {
    // Not with `json!`, which uses stack for each level.
    (0..LEVELS)
        .fold(json!(1), |value, level| if level % 2 == 0 { vec![value].into() } else { under("a", value) })
}

fn under(key: &str, value: Value) -> Value {
    Value::Object(serde_json::Map::from_iter([(key.to_owned(), value)]))
}

/// Takes anything.
#[tool(undocumented)]
fn anything(value: Value) -> String {
    value.to_string()
}

/// Calls another tool.
#[tool]
async fn dig(ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    ctx.call("anything", under("value", deep())).await
}

/// Asks for anything.
#[tool]
fn ask(ctx: &ToolContext) -> ToolResult {
    match ctx.input() {
        Some(response) => ToolResult::json(response.clone()),
        None => ToolResult::empty().with_control(Control::NeedInput(InputRequest::new("Which?", json!({})))),
    }
}

struct Digs;

impl Middleware for Digs {
    fn before<'a>(&'a self, _: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(async { MiddlewareDecision::Modify(under("value", deep())) })
    }
}

impl InputHandler for Digs {
    fn ask<'a>(
        &'a self,
        _: InputQuestion<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
        Box::pin(async { Ok(InputReply::Given(deep())) })
    }
}

/// Runs on the stack of a thread, which is smaller than that of the main thread.
fn on_a_thread<F: Future<Output = ()>>(run: impl FnOnce() -> F + Send + 'static) {
    let run =
        move || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run());
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

fn toolbox() -> ToolboxBuilder {
    let registry = Registry::new(toolset![anything, dig, ask]).unwrap();
    let auditor = Auditor::builder(MemorySink::new()).start().unwrap();
    Toolbox::builder(&registry).layer(auditor).on_event(drop)
}

const TOO_DEEP: &str = "The call was not executed: its arguments are nested more than 128 levels deep.";

#[test]
fn too_deeply_nested_arguments_are_rejected() {
    on_a_thread(|| async {
        let (toolbox, turn) = (toolbox().build().unwrap(), Turn::new("turn"));
        let call = || ToolCall::new("c1", "anything", under("value", deep()));
        let response = toolbox.run(call(), &turn).await;
        assert_eq!(response.text(), TOO_DEEP);
        let dispatched = toolbox.dispatch(vec![call(), call()], &turn, &DispatchOptions::new()).await;
        assert!(dispatched.responses.iter().all(|response| response.text() == TOO_DEEP));
        let response = toolbox.run(ToolCall::new("c2", "dig", json!({})), &turn).await;
        assert_eq!(response.text(), TOO_DEEP);
        let registry = Registry::new(toolset![anything]).unwrap();
        let error = registry
            .call_without_layers("anything", under("value", deep()), &turn.call_context("1", "t"))
            .await
            .unwrap_err();
        assert_eq!(error.code(), "INVALID_INPUT");
        let error =
            registry.call_without_layers("nothing", deep(), &turn.call_context("1", "t")).await.unwrap_err();
        assert_eq!(error.code(), "TOOL_NOT_FOUND");
        // A hundred levels are fine.
        let some = (0..100).fold(json!(1), |value, _| json!([value]));
        let response = toolbox.run(ToolCall::new("c3", "anything", json!({ "value": some })), &turn).await;
        assert!(response.text().starts_with("[[["), "{}", response.text());
    });
}

#[test]
fn loop_reports_too_deep_arguments_to_the_model() {
    on_a_thread(|| async {
        let (toolbox, turn) = (toolbox().build().unwrap(), Turn::new("turn"));
        let mut first = true;
        let mut model = move |_: Transcript| {
            let call = ToolCall::new("c1", "anything", under("value", deep()));
            let turn = if first { ModelTurn::calls([call]) } else { ModelTurn::text("done") };
            first = false;
            async { Ok::<_, String>(turn) }
        };
        let run = run_loop(&toolbox, &mut model, &turn, Transcript::user("dig"), &LoopOptions::new()).await;
        let responses: Vec<String> = run.transcript.last_results().map(ToolResponse::text).collect();
        assert_eq!(responses, [TOO_DEEP]);
    });
}

#[test]
fn middleware_and_input_values_have_the_same_depth_limit() {
    on_a_thread(|| async {
        let turn = Turn::new("turn");
        let digs = toolbox().middleware(Digs).build().unwrap();
        let response = digs.run(ToolCall::new("c1", "anything", json!({"value": 1})), &turn).await;
        assert_eq!(response.outcome.unwrap_err().code(), "INVALID_INPUT");
        let digs = toolbox().input_handler(Digs).build().unwrap();
        let response = digs.run(ToolCall::new("c1", "ask", json!({})), &turn).await;
        assert_eq!(response.outcome.unwrap_err().code(), "INPUT_INVALID");
        let waits = toolbox().build().unwrap();
        let response = waits.run(ToolCall::new("c1", "ask", json!({})), &turn).await;
        let Err(ToolError::InputRequired(pending)) = response.outcome else { panic!("it waits") };
        let error = waits.resume_with_input(*pending, deep(), &turn).await.unwrap_err();
        assert_eq!(error.code(), "INVALID_PARAMS");
    });
}
