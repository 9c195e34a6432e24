//! Tests of agents that run against a recording: a loop whose model is recorded as well, and sub-agents.

use toolgen_runtime::agent::agent_loop::{Agent, Entry, LoopOptions, ModelTurn, Transcript, WireModel};
use toolgen_runtime::agent::sub_agent::{AgentMonitor, AgentTask, LoopRunner, SubAgentTool};
use toolgen_runtime::wire::WireFormat;

use super::{builder, find_orders, refund, turn, world};
use crate::prelude::*;

/// The replies of a model, as its toolbox passed them on.
fn replies(cents: u32) -> Vec<Value> {
    let called = |calls: Value| json!({"role": "assistant", "stop_reason": "tool_use", "content": calls});
    vec![
        called(json!([{"type": "tool_use", "id": "a", "name": "find_orders", "input": {"customer": "ada"}}])),
        called(json!([
            {"type": "tool_use", "id": "b", "name": "refund", "input": {"order": 7, "cents": cents}},
            {"type": "tool_use", "id": "c", "name": "refund", "input": {"order": 13, "cents": 5}},
        ])),
        json!({"role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Done."}]}),
    ]
}

/// Runs a loop on these replies. Returns the last request, which contains the whole conversation.
async fn conversation(toolbox: &Toolbox, replies: Vec<Value>) -> Value {
    let replies = Arc::new(Mutex::new(replies));
    let last = Arc::<Mutex<Value>>::default();
    let kept = last.clone();
    let send = move |request: Value| {
        *kept.lock().unwrap() = request;
        let reply = replies.lock().unwrap().remove(0);
        async { Ok::<_, String>(reply) }
    };
    let mut agent = Agent::new(WireModel::new(WireFormat::Anthropic, send), toolbox);
    assert_eq!(agent.run("Refund Ada's orders.").await.text().unwrap(), "Done.");
    drop(agent);
    Arc::into_inner(last).unwrap().into_inner().unwrap()
}

async fn recorded(builder: ToolboxBuilder, program: impl AsyncFnOnce(&Toolbox)) -> RecordedRun {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    program(&builder.layer(auditor.clone()).build().unwrap()).await;
    auditor.shutdown().await;
    RecordedRun::from_memory(&sink, &RunSelection::new()).unwrap()
}

#[tokio::test]
async fn loop_replays_its_conversation_without_side_effects() {
    let mut first = Value::Null;
    let run = recorded(builder(), async |toolbox| first = conversation(toolbox, replies(100)).await).await;
    let asked = world::asked();
    assert_eq!((asked, run.calls().len()), (3, 3));
    let replay = Replay::of(run);
    let again = conversation(&builder().layer(replay.clone()).build().unwrap(), replies(100)).await;
    replay.finish().unwrap();
    assert_eq!(again, first);
    assert_eq!(world::asked(), asked);

    let replay = replay.restarted();
    conversation(&builder().layer(replay.clone()).build().unwrap(), replies(99)).await;
    let reason = replay.finish().unwrap_err().to_string();
    assert!(reason.contains("/cents: expected 100, found 99"), "{reason}");
}

/// An agent that finds things out.
fn agent() -> impl toolgen_runtime::AgentTool + 'static {
    let runner = LoopRunner::new(move |_: &AgentTask, _: &AgentMonitor| {
        move |transcript: Transcript| {
            let orders = ToolCall::new("1", "find_orders", json!({"customer": "ada"}));
            let message = match transcript.last() {
                Some(Entry::Answer(found)) => ModelTurn::text(format!("Found: {}", found.text())),
                _ => ModelTurn::calls([orders]),
            };
            async { Ok::<_, String>(message) }
        }
    });
    let runner = runner.with_options(LoopOptions::new());
    SubAgentTool::builder("researcher", runner).tools(toolset![find_orders]).build().unwrap()
}

#[tokio::test]
async fn sub_agent_runs_and_its_calls_are_replayed() {
    let builder = || Toolbox::builder(&Registry::builder().add(agent()).add(refund::tool()).seal().unwrap());
    let ask = async |toolbox: &Toolbox| {
        let call = ToolCall::new("1", "researcher", json!({"task": "Find Ada's orders."}));
        toolbox.run(call, &turn()).await.text()
    };
    let run = recorded(builder(), async |toolbox| drop(ask(toolbox).await)).await;
    let calls: Vec<_> =
        run.calls().iter().map(|call| (call.tool.as_str(), call.inside, call.agent.as_str())).collect();
    assert_eq!(
        calls.iter().map(|call| (call.0, call.1)).collect::<Vec<_>>(),
        [("researcher", None), ("find_orders", Some(1))]
    );
    assert_eq!(world::asked(), 1);

    let replay = Replay::of(run);
    assert_eq!(ask(&builder().layer(replay.clone()).build().unwrap()).await, "Found: ada has 7 and 9 of 10");
    replay.finish().unwrap();
    assert_eq!(world::asked(), 1);
}
