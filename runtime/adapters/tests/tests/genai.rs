//! The adapter for genai: its client, and models behind Anthropic's Messages and OpenAI's Chat Completions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use adapter_tests::FakeModel;
use adapter_tests::tools::{toolbox, turn_of};
use genai::adapter::AdapterKind;
use genai::chat::{ChatRequest, ChatResponse};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::{Value, json};
use toolgen_genai::Conversation;
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{CancellationToken, Toolbox};

fn client(model: &FakeModel, kind: AdapterKind) -> Client {
    let url = format!("{}/", model.url);
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            let model = ModelIden::new(kind, target.model.model_name);
            let (endpoint, auth) = (Endpoint::from_owned(url.clone()), AuthData::from_single("key"));
            Ok(ServiceTarget { endpoint, auth, model })
        },
    );
    Client::builder().with_service_target_resolver(resolver).build().unwrap()
}

fn claude(content: Value, stop_reason: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": content,
        "stop_reason": stop_reason, "usage": { "input_tokens": 1, "output_tokens": 1 },
    })
}

fn gpt(message: Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5.1",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason }],
    })
}

fn gpt_calls(calls: &[(&str, Value)], finish_reason: &str) -> Value {
    let call = |(number, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        json!({ "id": format!("call_{number}"), "type": "function", "function": function })
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    gpt(json!({ "role": "assistant", "content": null, "tool_calls": calls }), finish_reason)
}

/// Calls a model as a program does, until it makes no more calls.
async fn ask(client: &Client, conversation: &Conversation) -> Option<String> {
    let mut request = ChatRequest::from_user("17 + 25?");
    loop {
        request = request.with_tools(conversation.tools().unwrap());
        let response = client.exec_chat("model", request.clone(), None).await.unwrap();
        match conversation.answer(&response).await {
            answers if answers.is_empty() => return response.into_first_text(),
            answers => request = request.append_messages(answers),
        }
    }
}

#[tokio::test]
async fn claude_calls_tools_through_the_toolbox() {
    let model = FakeModel::start([
        claude(
            json!([
                { "type": "text", "text": "Let me see." },
                { "type": "tool_use", "id": "toolu_0", "name": "add", "input": { "a": 17, "b": 25 } },
                { "type": "tool_use", "id": "toolu_1", "name": "add", "input": { "a": "x", "b": 1_000 } },
                { "type": "tool_use", "id": "toolu_2", "name": "delete_all", "input": {} },
                { "type": "tool_use", "id": "toolu_3", "name": "picture", "input": {} },
            ]),
            "tool_use",
        ),
        claude(json!([{ "type": "text", "text": "It is 42." }]), "end_turn"),
    ]);
    let (toolbox, _) = toolbox();
    let conversation = Conversation::new(&toolbox, AdapterKind::Anthropic);
    let text = ask(&client(&model, AdapterKind::Anthropic), &conversation).await;
    assert_eq!(text.as_deref(), Some("It is 42."));

    let requests = model.requests();
    let mine = WireFormat::Anthropic.tools(toolbox.specs()).unwrap();
    for (sent, mine) in requests[0]["tools"].as_array().unwrap().iter().zip(mine.as_array().unwrap()) {
        let keys = ["name", "description", "input_schema"];
        assert_eq!(keys.map(|key| &sent[key]), keys.map(|key| &mine[key]));
    }
    let messages = &requests[1]["messages"];
    assert_eq!(messages[1]["content"][0]["text"], "Let me see.");
    let answers = &messages[2]["content"];
    let answer = |number: usize| {
        assert_eq!(answers[number]["tool_use_id"], format!("toolu_{number}"));
        answers[number]["content"].as_str().unwrap()
    };
    assert_eq!(answer(0), "42");
    assert!(answer(1).starts_with("Error: Invalid arguments: /a: "), "{}", answer(1));
    assert!(answer(2).starts_with("Error: "), "a rule forbids it: {}", answer(2));
    assert!(answer(3).starts_with("A dot.\n[image image/png, 70 bytes, not shown"), "{}", answer(3));
}

#[tokio::test]
async fn gpt_calls_tools_through_the_toolbox() {
    let model = FakeModel::start([
        gpt_calls(&[("add", json!({ "a": 17, "b": 25 })), ("fail", json!({}))], "tool_calls"),
        gpt(json!({ "role": "assistant", "content": "It is 42." }), "stop"),
    ]);
    let (toolbox, _) = toolbox();
    let text =
        ask(&client(&model, AdapterKind::OpenAI), &Conversation::new(&toolbox, AdapterKind::OpenAI)).await;
    assert_eq!(text.as_deref(), Some("It is 42."));
    let requests = model.requests();
    let mine = WireFormat::OpenAiChat.tools(toolbox.specs()).unwrap();
    let parameters = |tools: &Value| tools[0]["function"]["parameters"].clone();
    assert_eq!(parameters(&requests[0]["tools"]), parameters(&mine));
    let contents: Vec<&Value> =
        requests[1]["messages"].as_array().unwrap()[2..].iter().map(|m| &m["content"]).collect();
    assert_eq!(contents, ["42", "Error: There is no paper."]);
}

/// Parses a reply with genai.
async fn read(reply: Value) -> ChatResponse {
    let model = FakeModel::start([reply]);
    client(&model, AdapterKind::OpenAI).exec_chat("model", ChatRequest::from_user("?"), None).await.unwrap()
}

fn conversation(toolbox: &Toolbox) -> Conversation {
    Conversation::new(toolbox, AdapterKind::OpenAI)
}

#[tokio::test]
async fn truncated_or_filtered_turns_get_responses() {
    let (toolbox, _) = toolbox();
    let calls = [("add", json!({ "a": 1, "b": 2 })), ("add", json!({ "a": 1, "b": 2 }))];
    for (reason, first, last) in [("length", "3", "cut off"), ("content_filter", "stopped", "stopped")] {
        let answers = conversation(&toolbox).answer(&read(gpt_calls(&calls, reason)).await).await;
        let answers = answers[1].content.tool_responses();
        assert!(answers[0].content.contains(first), "{reason}: {}", answers[0].content);
        assert!(answers[1].content.contains(last), "{reason}: {}", answers[1].content);
    }
}

#[tokio::test]
async fn context_cancels_calls_and_sets_their_principal() {
    let (toolbox, waiting) = toolbox();
    let token = CancellationToken::new();
    let conversation = conversation(&toolbox).in_turn(turn_of("ada").with_cancel(token.clone()));
    let who = conversation.answer(&read(gpt_calls(&[("whoami", json!({}))], "tool_calls")).await).await;
    assert_eq!(who[1].content.tool_responses()[0].content, "ada");
    let calls = read(gpt_calls(&[("wait", json!({}))], "tool_calls")).await;
    let call = tokio::spawn(async move { conversation.answer(&calls).await });
    waiting.reaches(1).await;
    token.cancel();
    assert_eq!(call.await.unwrap()[1].content.tool_responses()[0].content, "Error: Cancelled");
    waiting.reaches(0).await;
}
