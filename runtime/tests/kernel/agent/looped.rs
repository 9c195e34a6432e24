//! Sub-agents that use the small loop.

use toolgen_runtime::agent::agent_loop::WireModel;

use super::{SubAgentBuilder, SubAgentTool, behind, call, call_in, look_up, toolbox, turn, watched};
use crate::prelude::*;

/// Ends with a verdict.
#[tool(undocumented, complete)]
fn verdict(text: String) -> String {
    text
}

/// Never comes back.
#[tool(timeout = "none")]
async fn hang() {
    std::future::pending::<()>().await;
}

/// A sub-agent whose model is a function of the number of the turn.
fn looping(model: impl Fn(u32) -> ModelTurn + Clone + Send + Sync + 'static) -> SubAgentBuilder {
    looping_with(model, |runner| runner)
}

fn looping_with(
    model: impl Fn(u32) -> ModelTurn + Clone + Send + Sync + 'static,
    change: impl FnOnce(LoopOptions) -> LoopOptions,
) -> SubAgentBuilder {
    let runner = LoopRunner::new(move |_: &AgentTask, _: &AgentMonitor| {
        let (model, mut number) = (model.clone(), 0);
        move |_: Transcript| {
            number += 1;
            let text = model(number);
            async { Ok::<_, String>(text) }
        }
    });
    let runner = runner.with_options(change(LoopOptions::new()));
    SubAgentTool::builder("helper", runner).tools(toolset![look_up, verdict, hang])
}

fn look() -> ModelTurn {
    ModelTurn::calls([ToolCall::new("1", "look_up", json!({"what": "it"}))])
}

#[tokio::test]
async fn sub_agent_uses_its_tools_and_reports() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let kept = seen.clone();
    let runner = LoopRunner::new(move |task: &AgentTask, _: &AgentMonitor| {
        kept.lock().unwrap().push(task.system_prompt.to_string());
        let kept = kept.clone();
        move |transcript: Transcript| {
            let message = match transcript.last() {
                Some(Entry::Answer(found)) => ModelTurn::text(format!("Found: {}", found.text())),
                Some(Entry::User(task)) => {
                    kept.lock().unwrap().push(task.clone());
                    look().with_text("Looking.")
                }
                _ => ModelTurn::default(),
            };
            async { Ok::<_, String>(message) }
        }
    });
    let tool = SubAgentTool::builder("helper", runner).system_prompt("You find.").tools(toolset![look_up]);
    let (turn, updates) = watched(turn());
    let result = call_in(&toolbox(tool), json!({"task": "find it"}), &turn).await.outcome.unwrap();
    assert_eq!(result.to_text(), "Found: it is 42");
    assert_eq!(result.details, json!({"sub_agent": "helper", "turns": 2}));
    assert_eq!(*seen.lock().unwrap(), ["You find.", "find it"]);
    assert_eq!(
        *updates.lock().unwrap(),
        ["Looking.", "[sub-agent calling tool: look_up]", "Found: it is 42"]
    );
}

#[tokio::test]
async fn streamed_text_is_not_reported_twice() {
    let runner = LoopRunner::new(|_: &AgentTask, monitor: &AgentMonitor| {
        let monitor = monitor.clone();
        move |_: Transcript| {
            monitor.text("a");
            monitor.text("b");
            async { Ok::<_, String>(ModelTurn::text("ab")) }
        }
    });
    let (turn, updates) = watched(turn());
    let response =
        call_in(&toolbox(SubAgentTool::builder("helper", runner)), json!({"task": "x"}), &turn).await;
    assert_eq!(
        (response.text().as_str(), &updates.lock().unwrap()[..]),
        ("ab", &["a".to_owned(), "b".to_owned()][..])
    );
}

#[tokio::test]
async fn completed_sub_agent_returns_its_text_or_tool_result() {
    let done = || ModelTurn::calls([ToolCall::new("1", "verdict", json!({"text": "guilty"}))]);
    assert_eq!(call(looping(move |_| done())).await.text(), "guilty");
    assert_eq!(call(looping(move |_| done().with_text("So it is."))).await.text(), "So it is.");
}

#[tokio::test]
async fn endless_sub_agent_is_an_error() {
    let error = call(looping(|_| look()).max_turns(4)).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Sub-agent 'helper' reached its limit of 4 turns");
    let error = call(looping(|_| look())).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Sub-agent 'helper' reached its limit of 10 turns");
    let error = call(looping(|_| look().with_tokens(400)).max_tokens(1000)).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Sub-agent 'helper' reached its limit of 1000 tokens");
    let stuck = looping_with(|_| ModelTurn::text("hm"), |options| options.with_nudge("Use a tool."));
    assert_eq!(call(stuck).await.outcome.unwrap_err().code(), "AGENT_LOOPED");
}

#[tokio::test]
async fn model_failure_fails_the_sub_agent_only() {
    let runner = LoopRunner::new(|_: &AgentTask, _: &AgentMonitor| {
        |_: Transcript| async { Err::<ModelTurn, _>("overloaded".to_owned()) }
    });
    let error = call(SubAgentTool::builder("helper", runner)).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Sub-agent 'helper' failed: overloaded");
}

#[tokio::test]
async fn each_task_starts_with_a_new_transcript() {
    let toolbox = toolbox(looping(|number| if number == 1 { look() } else { ModelTurn::text("done") }));
    let turn = turn();
    for loop_id in ["s-1.sub.1", "s-1.sub.2"] {
        let result = call_in(&toolbox, json!({"task": "x"}), &turn).await.outcome.unwrap();
        assert_eq!(result.details["turns"], 2);
        assert_eq!(result.child_loop_id.as_deref(), Some(loop_id));
    }
    // The session of the caller does not contain the calls of the sub-agent.
    assert!(turn.session().unwrap().has_called("helper") && !turn.session().unwrap().has_called("look_up"));
}

struct No(&'static str);

impl Middleware for No {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        let denied = request.spec.name.as_str() == self.0;
        Box::pin(async move {
            if denied { MiddlewareDecision::Deny("not that".to_owned()) } else { MiddlewareDecision::Allow }
        })
    }
}

#[tokio::test]
async fn calls_of_a_sub_agent_pass_the_layers_of_its_caller() {
    let runner = || {
        LoopRunner::new(|_: &AgentTask, _: &AgentMonitor| {
            |transcript: Transcript| async move {
                Ok::<_, String>(match transcript.last() {
                    Some(Entry::Answer(response)) => ModelTurn::text(response.text()),
                    _ => look(),
                })
            }
        })
    };
    let tool = |runner| SubAgentTool::builder("helper", runner).tools(toolset![look_up]).build().unwrap();
    let events = Arc::<Mutex<Vec<String>>>::default();
    let seen = events.clone();
    let guarded = behind(tool(runner()))
        .middleware(No("look_up"))
        .on_event(move |event| {
            let agent = event.agent_id.as_deref().unwrap_or("-").to_owned();
            seen.lock().unwrap().push(format!("{} {} {agent}", event.type_name(), event.name));
        })
        .build()
        .unwrap();
    let task = json!({"task": "x"});
    assert_eq!(call_in(&guarded, task.clone(), &turn()).await.text(), "not that");
    let events = events.lock().unwrap().clone();
    assert_eq!(
        events,
        [
            "tool_call helper -",
            "update helper -",
            "tool_call look_up helper",
            "error look_up helper",
            "update helper -",
            "tool_response helper -"
        ]
    );
    let own =
        runner().with_toolbox(|task: &AgentTask| task.toolbox_builder().middleware(No("look_up")).build());
    let stricter = behind(tool(own)).build().unwrap();
    assert_eq!(call_in(&stricter, task, &turn()).await.text(), "not that");
}

#[tokio::test(start_paused = true)]
async fn cancellation_reaches_calls_of_the_sub_agent() {
    let token = CancellationToken::new();
    let toolbox = toolbox(looping(|_| ModelTurn::calls([ToolCall::new("1", "hang", json!({}))])));
    let turn = turn().with_cancel(token.clone());
    let (response, ()) = tokio::join!(call_in(&toolbox, json!({"task": "x"}), &turn), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(response.outcome, Err(ToolError::Cancelled));
}

#[tokio::test]
async fn agent_can_delegate_within_its_own_loop() {
    let toolbox = toolbox(looping(|number| if number == 1 { look() } else { ModelTurn::text("it is 42") }));
    let mut number = 0;
    let mut model = |transcript: Transcript| {
        number += 1;
        let message = match (number, transcript.last()) {
            (1, _) => ModelTurn::calls([
                ToolCall::new("a", "helper", json!({"task": "one"})),
                ToolCall::new("b", "helper", json!({})),
            ]),
            (_, Some(Entry::Answer(last))) => ModelTurn::text(last.text()),
            _ => ModelTurn::default(),
        };
        async { Ok::<_, String>(message) }
    };
    let context = Turn::new("turn");
    let run = run_loop(&toolbox, &mut model, &context, Transcript::user("go"), &LoopOptions::new()).await;
    let missing = "Invalid arguments: Missing required 'task' parameter";
    assert_eq!(run.outcome, Ok(LoopEnd::Text(missing.to_owned())));
    let messages: Vec<String> = run.transcript.last_results().map(ToolResponse::text).collect();
    assert_eq!(messages, ["it is 42", missing]);
}

#[tokio::test]
async fn services_of_the_caller_reach_tools_of_the_sub_agent() {
    /// Tells what it was lent.
    #[tool]
    fn lent(number: Service<u8>) -> String {
        number.to_string()
    }
    let runner = LoopRunner::new(|_: &AgentTask, _: &AgentMonitor| {
        |transcript: Transcript| async move {
            Ok::<_, String>(match transcript.last() {
                Some(Entry::Answer(response)) => ModelTurn::text(response.text()),
                _ => ModelTurn::calls([ToolCall::new("1", "lent", json!({}))]),
            })
        }
    });
    let tool = SubAgentTool::builder("helper", runner).tools(toolset![lent]).build().unwrap();
    let context = ToolboxContext::new().with_service(Arc::new(7_u8));
    let toolbox = behind(tool).context(context).build().unwrap();
    assert_eq!(call_in(&toolbox, json!({"task": "x"}), &turn()).await.text(), "7");
}

#[tokio::test]
async fn progress_of_inner_tools_is_not_forwarded() {
    /// Reports as it goes.
    #[tool]
    fn chatty(progress: toolgen_runtime::Progress) {
        progress.update(ToolResult::text("of the tool"));
        progress.report("a line of the tool");
    }
    let runner = LoopRunner::new(|_: &AgentTask, _: &AgentMonitor| {
        |transcript: Transcript| async move {
            Ok::<_, String>(match transcript.last() {
                Some(Entry::Answer(_)) => ModelTurn::text("done"),
                _ => ModelTurn::calls([ToolCall::new("1", "chatty", json!({}))]),
            })
        }
    });
    let (turn, updates) = watched(turn());
    let tool = SubAgentTool::builder("helper", runner).tools(toolset![chatty]);
    assert_eq!(call_in(&toolbox(tool), json!({"task": "x"}), &turn).await.text(), "done");
    assert_eq!(*updates.lock().unwrap(), ["[sub-agent calling tool: chatty]", "done"]);
}

#[tokio::test]
async fn error_names_the_inner_call_waiting_for_approval() {
    struct Asks;
    impl Middleware for Asks {
        fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
            let asks = request.spec.name.as_str() == "look_up";
            let decision = if asks {
                MiddlewareDecision::NeedApproval("It looks.".to_owned())
            } else {
                MiddlewareDecision::Allow
            };
            Box::pin(ready(decision))
        }
    }
    let helper = looping(|_| look()).build().unwrap();
    let toolbox = behind(helper).middleware(Asks).build().unwrap();
    let error = call_in(&toolbox, json!({"task": "look"}), &turn()).await.outcome.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Sub-agent 'helper' was aborted: its call of 'look_up' waits. The call was not executed: it needs an \
         approval. It looks."
    );
    assert_eq!(error.code(), "APPROVAL_REQUIRED");
    assert!(error.operator_text().ends_with(
        "A sub-agent cannot be resumed: set an approver (`ToolboxBuilder::approver`) that decides while it runs."
    ));
    // Unless the model can continue without the call.
    let goes_on = LoopRunner::new(|_: &AgentTask, _: &AgentMonitor| {
        |transcript: Transcript| {
            let message = match transcript.last() {
                Some(Entry::Answer(_)) => ModelTurn::text("I could not look."),
                _ => look(),
            };
            async { Ok::<_, String>(message) }
        }
    });
    let goes_on = SubAgentTool::builder("helper", goes_on.continue_when_waiting()).tools(toolset![look_up]);
    let toolbox = behind(goes_on.build().unwrap()).middleware(Asks).build().unwrap();
    assert_eq!(call_in(&toolbox, json!({"task": "look"}), &turn()).await.text(), "I could not look.");
}

/// Says in which dialect the model was shown it.
#[tool(undocumented, read_only)]
fn shown_in(ctx: &ToolContext) -> String {
    ctx.dialect().name.to_owned()
}

#[tokio::test]
async fn sending_function_gets_the_tools_of_the_agent() {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&sent);
    let runner = LoopRunner::new(move |_: &AgentTask, _: &AgentMonitor| {
        let sent = Arc::clone(&kept);
        WireModel::new(WireFormat::OpenAiChat, move |request: Value| {
            let last = request["messages"].as_array().unwrap().last().unwrap().clone();
            sent.lock().unwrap().push(request);
            let call = json!({ "id": "1", "type": "function", "function": { "name": "shown_in", "arguments": "{}" } });
            let message = match last["role"].as_str() {
                Some("tool") => json!({ "role": "assistant", "content": last["content"] }),
                _ => json!({ "role": "assistant", "tool_calls": [call] }),
            };
            ready(Ok::<_, String>(json!({ "choices": [{ "message": message }] })))
        })
    });
    let agent = SubAgentTool::builder("helper", runner).tools(toolset![shown_in, look_up]).build().unwrap();
    let rules = PolicyRules::builder().exclude(["look_*"]).build().unwrap();
    let toolbox = behind(agent).rules(rules).build().unwrap();
    // The caller's own model received plain JSON Schema.
    let response = call_in(&toolbox, json!({ "task": "look" }), &turn()).await;
    assert_eq!(response.text(), "openai");
    let sent = sent.lock().unwrap();
    let names: Vec<&Value> =
        sent[0]["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["shown_in"], "tools that the rules forbid are not offered");
}
