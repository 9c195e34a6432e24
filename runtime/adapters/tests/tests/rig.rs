//! The adapter for rig: an agent of rig, and a model behind Anthropic's Messages and OpenAI's Chat Completions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use adapter_tests::FakeModel;
use adapter_tests::tools::{PICTURE, toolbox, turn_of};
use rig_agent::{Agent, AgentBuilder};
use rig_core::providers::anthropic::AnthropicConfig;
use rig_core::tool::{ContextValue, DynamicTool, ToolErrorKind};
use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::{ANTHROPIC, JSON_SCHEMA};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{CancellationToken, Turn};

fn says(content: Value) -> Value {
    let stop = if content[0]["type"] == "tool_use" { "tool_use" } else { "end_turn" };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 },
    })
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(number, (name, input)): (usize, &(&str, Value))| json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": input });
    says(calls.iter().enumerate().map(call).collect())
}

fn text(text: &str) -> Value {
    says(json!([{ "type": "text", "text": text }]))
}

fn agent(model: &FakeModel, tools: Vec<DynamicTool>) -> Agent {
    let model =
        AnthropicConfig::new("key").with_base_url(&model.url).client().completion("claude-sonnet-5-5");
    AgentBuilder::new(model).dynamic_tools(tools).build()
}

/// The code that the pages show.
#[tokio::test]
async fn model_corrects_an_invalid_call() {
    let model = FakeModel::start([
        calls(&[("add", json!({ "a": "seventeen", "b": 25 }))]),
        calls(&[("add", json!({ "a": 17, "b": 25 }))]),
        text("It is 42."),
    ]);
    let (toolbox, _) = toolbox();
    let spoken =
        AnthropicConfig::new("key").with_base_url(&model.url).client().completion("claude-sonnet-5-5");
    let agent =
        AgentBuilder::new(spoken).dynamic_tools(toolgen_rig::tools(&toolbox)).default_max_turns(10).build();
    assert_eq!(agent.prompt("17 + 25?").await.unwrap().to_string(), "It is 42.");
    assert!(model.requests()[1].to_string().contains("expected an integer"));
}

fn named<'t>(tools: &'t [DynamicTool], name: &str) -> &'t DynamicTool {
    tools.iter().find(|tool| tool.name().as_str() == name).unwrap()
}

#[tokio::test]
async fn agent_calls_tools_through_the_toolbox() {
    let model = FakeModel::start([
        calls(&[
            ("add", json!({ "a": 17, "b": 25 })),
            ("add", json!({ "a": "x", "b": 1_000 })),
            ("fail", json!({})),
            ("picture", json!({})),
        ]),
        text("It is 42."),
    ]);
    let (toolbox, _) = toolbox();
    let answer = agent(&model, toolgen_rig::tools(&toolbox)).prompt("17 + 25?").max_turns(3).await.unwrap();
    assert_eq!(answer.to_string(), "It is 42.");

    let requests = model.requests();
    let sent = requests[0]["tools"].as_array().unwrap();
    let mine = WireFormat::Anthropic.tools_in(&JSON_SCHEMA, toolbox.specs_with_on_demand()).unwrap();
    assert_eq!(sent.len(), mine.as_array().unwrap().len());
    for (sent, mine) in sent.iter().zip(mine.as_array().unwrap()) {
        let keys = ["name", "description", "input_schema"];
        assert_eq!(keys.map(|key| &sent[key]), keys.map(|key| &mine[key]));
    }
    assert!(sent.iter().any(|tool| tool["name"] == "read_result"));
    assert!(!sent.iter().any(|tool| tool["name"] == "delete_all"), "a rule forbids it");

    let answers = requests[1]["messages"][2]["content"].as_array().unwrap();
    let answer = |number: usize| (answers[number]["content"].clone(), answers[number]["is_error"] == true);
    let alone = |text: &str| json!([{ "type": "text", "text": text }]);
    assert_eq!(answer(0), (alone("42"), false));
    let (wrong, is_error) = answer(1);
    let told = wrong[0]["text"].as_str().unwrap();
    assert!(told.starts_with("Invalid arguments: /a: ") && told.contains("\n/b: "), "{told}");
    assert!(is_error);
    assert_eq!(answer(2), (alone("There is no paper."), true));
    assert_eq!(
        answer(3).0,
        json!([
            { "type": "text", "text": "A dot." },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PICTURE } },
            { "type": "text", "text": "[audio audio/wav, 3 bytes, not shown: this format supports only text]" },
        ])
    );
}

#[tokio::test]
async fn rig_hooks_get_the_error() {
    let tools = toolgen_rig::tools(&toolbox().0);
    let why = named(&tools, "fail").execute(json!({})).await.unwrap_err();
    assert_eq!((why.code(), why.message()), (Some("OUT_OF_PAPER"), "tray 2"));
    assert_eq!(why.model_feedback(), Some("There is no paper."));
    let why = named(&tools, "add").execute(json!({})).await.unwrap_err();
    assert_eq!((why.kind(), why.code()), (ToolErrorKind::InvalidArgs, Some("MISSING_PARAMETER")));
}

#[tokio::test]
async fn large_result_is_read_to_its_end() {
    let tools = toolgen_rig::tools(&toolbox().0);
    let cut = named(&tools, "log").execute(json!({})).await.unwrap().render();
    let (_, call) = cut.split_once("Call read_result with ").unwrap();
    let call = call.split_once(" to read on.").unwrap().0.replace("\\\"", "\"");
    let rest = named(&tools, "read_result").execute(serde_json::from_str(&call).unwrap()).await.unwrap();
    assert!(rest.render().contains("line"), "{}", rest.render());
}

#[tokio::test]
async fn dropped_agent_cancels_its_calls() {
    let model = FakeModel::start([calls(&[("wait", json!({}))])]);
    let (toolbox, waiting) = toolbox();
    let agent = agent(&model, toolgen_rig::tools(&toolbox));
    let asked = tokio::spawn(async move { agent.prompt("Wait.").max_turns(2).await });
    waiting.reaches(1).await;
    asked.abort();
    waiting.reaches(0).await;
}

#[tokio::test]
async fn context_token_cancels_calls() {
    let (toolbox, waiting) = toolbox();
    let token = CancellationToken::new();
    let fired = token.clone();
    let turn = move |_: &rig_core::tool::ToolContext| Turn::new("t").with_cancel(token.clone());
    let tools = toolgen_rig::tools_in(&toolbox, &ANTHROPIC, turn).unwrap();
    let call = tokio::spawn(async move { named(&tools, "wait").execute(json!({})).await });
    waiting.reaches(1).await;
    fired.cancel();
    assert_eq!(call.await.unwrap().unwrap_err().kind(), ToolErrorKind::Cancelled);
    waiting.reaches(0).await;
}

#[derive(serde::Serialize, serde::Deserialize)]
struct User(String);

impl ContextValue for User {
    const KEY: &'static str = "user";
}

#[tokio::test]
async fn prompt_context_sets_the_principal() {
    let model = FakeModel::start([calls(&[("whoami", json!({}))]), text("You are Ada.")]);
    let turn = |context: &rig_core::tool::ToolContext| match context.get::<User>() {
        Ok(Some(User(name))) => turn_of(&name),
        _ => Turn::new("turn"),
    };
    let tools = toolgen_rig::tools_in(&toolbox().0, &ANTHROPIC, turn).unwrap();
    let mut context = rig_core::tool::ToolContext::new();
    context.insert(User("ada".to_owned())).unwrap();
    agent(&model, tools).prompt("Who am I?").tool_context(context).max_turns(2).await.unwrap();
    assert_eq!(model.requests()[1]["messages"][2]["content"][0]["content"][0]["text"], "ada");
}
