//! Spans of agents, models and sub-agents.

use serde_json::Value;
use toolgen_runtime::agent::agent_loop::{
    Agent, Entry, LoopOptions, ModelTurn, Transcript, WireModel, run_loop,
};
use toolgen_runtime::agent::sub_agent::{AgentMonitor, AgentTask, LoopRunner, SubAgentTool};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{Session, ToolboxContext};

use crate::prelude::*;
use crate::receiver::{Telemetry, attribute, attributes, failed};

/// Adds two numbers.
#[tool(undocumented, read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Simulates Anthropic: calls `add`, then reports the result.
async fn reply(request: Value) -> Result<Value, String> {
    let answered = request["messages"].as_array().unwrap().len() > 1;
    Ok(if answered {
        json!({"content": [{"type": "text", "text": "It is 3."}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 20, "output_tokens": 5}})
    } else {
        let call = json!({"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1, "b": 2}});
        json!({"content": [call], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 3}})
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn loop_span_contains_its_turns_and_calls() {
    let telemetry = Telemetry::start();
    let registry = Registry::new(toolset![add]).unwrap();
    let context = ToolboxContext::new().with_agent_id("clerk");
    let toolbox = Toolbox::builder(&registry).context(context).layer(telemetry.otel()).build().unwrap();
    let turn =
        Turn::new("turn").with_session(Session::new("s-1")).with_dialect(WireFormat::Anthropic.dialect());
    let mut agent =
        Agent::new(WireModel::new(WireFormat::Anthropic, reply).with_model("claude-test"), &toolbox)
            .with_turn(turn);
    assert_eq!(agent.run("1 + 2?").await.text().unwrap(), "It is 3.");
    let spans = telemetry.spans();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["invoke_agent clerk", "chat claude-test", "execute_tool add", "chat claude-test"]);
    let [agent, first, call, last] = &spans[..] else { panic!("{names:?}") };
    assert!([first, call, last].iter().all(|span| span.parent_span_id == agent.span_id));
    assert_eq!(
        attributes(&agent.attributes),
        [
            "gen_ai.agent.name=clerk",
            "gen_ai.conversation.id=s-1",
            "gen_ai.operation.name=invoke_agent",
            "gen_ai.request.model=claude-test",
            "gen_ai.usage.input_tokens=30",
            "gen_ai.usage.output_tokens=8",
        ]
    );
    assert_eq!(
        attributes(&first.attributes),
        [
            "gen_ai.conversation.id=s-1",
            "gen_ai.operation.name=chat",
            "gen_ai.provider.name=anthropic",
            "gen_ai.request.model=claude-test",
            "gen_ai.response.finish_reasons=[tool_call]",
            "gen_ai.usage.input_tokens=10",
            "gen_ai.usage.output_tokens=3",
        ]
    );
    assert_eq!((agent.kind, first.kind), (1, 3), "internal, client");
    assert!(!format!("{spans:?}").contains("It is 3."), "content is off");
    let metrics = telemetry.metrics();
    let of = |name: &str| crate::receiver::points(&metrics[name]);
    let model = [
        "gen_ai.operation.name=chat",
        "gen_ai.provider.name=anthropic",
        "gen_ai.request.model=claude-test",
        "gen_ai.token.modality=unknown",
    ];
    let model = model.map(str::to_owned).to_vec();
    assert_eq!(of("gen_ai.client.inference.usage.input_tokens"), [(model.clone(), 1, 30.0)]);
    assert_eq!(of("gen_ai.client.inference.usage.output_tokens"), [(model.clone(), 1, 8.0)]);
    let turns = &of("gen_ai.client.inference.duration")[0];
    assert_eq!((&turns.0[..], turns.1), (&model[..3], 2));
    let named = vec!["gen_ai.agent.name=clerk".to_owned()];
    assert_eq!(of("gen_ai.invoke_agent.inference_calls"), [(named.clone(), 1, 2.0)]);
    assert_eq!(of("gen_ai.invoke_agent.tool_calls"), [(named, 1, 1.0)]);
    assert_eq!(metrics["gen_ai.invoke_agent.tool_calls"].unit, "{tool_call}");
    assert_eq!(metrics["gen_ai.invoke_agent.inference_calls"].unit, "{inference_call}");
    assert_eq!(of("gen_ai.invoke_agent.duration")[0].1, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sub_agent_span_is_inside_its_call_span() {
    let telemetry = Telemetry::start();
    let model = |_: &AgentTask, _: &AgentMonitor| {
        |transcript: Transcript| async move {
            Ok::<_, String>(match transcript.last() {
                Some(Entry::Answer(response)) => ModelTurn::text(response.text()),
                _ => ModelTurn::calls([ToolCall::new("inner", "add", json!({"a": 1, "b": 2}))]),
            })
        }
    };
    let agent =
        SubAgentTool::builder("explore", LoopRunner::new(model)).tools(toolset![add]).build().unwrap();
    let registry = Registry::new([std::sync::Arc::new(agent)]).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(telemetry.otel()).build().unwrap();
    let call = ToolCall::new("outer", "explore", json!({"task": "1 + 2?"}));
    let response = toolbox.run(call, &Turn::new("turn")).await;
    assert_eq!(response.text(), "3", "{response:?}");
    let call = telemetry.span("execute_tool explore");
    let agent = telemetry.span("invoke_agent explore");
    let inner = telemetry.span("execute_tool add");
    assert_eq!(agent.parent_span_id, call.span_id);
    assert_eq!(inner.parent_span_id, agent.span_id);
    assert_eq!(attribute(&inner, "gen_ai.agent.name").as_deref(), Some("explore"));
    let chats = telemetry.spans().into_iter().filter(|span| span.name == "chat");
    assert!(chats.clone().all(|span| span.parent_span_id == agent.span_id) && chats.count() == 2);
    let chat = telemetry.spans().into_iter().find(|span| span.name == "chat").unwrap();
    assert_eq!(attribute(&chat, "gen_ai.provider.name").as_deref(), Some("_OTHER"), "nothing is known of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_loop_span_has_the_reason() {
    let telemetry = Telemetry::start();
    let registry = Registry::new(toolset![add]).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(telemetry.otel()).build().unwrap();
    let turn = Turn::new("turn");
    let mut fails = |_: Transcript| async { Err::<ModelTurn, _>("the key hunter2 is not known") };
    let run = run_loop(&toolbox, &mut fails, &turn, Transcript::user("1 + 2?"), &LoopOptions::new()).await;
    assert!(run.outcome.is_err());
    let spans = telemetry.spans();
    assert_eq!(telemetry.names(), ["invoke_agent", "chat"]);
    for span in &spans {
        assert!(failed(span));
        assert_eq!(attribute(span, "error.type").as_deref(), Some("MODEL_ERROR"));
    }
    assert!(!format!("{spans:?}").contains("hunter2"));
}
