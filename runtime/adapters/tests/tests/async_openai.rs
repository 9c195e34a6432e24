//! The adapter for async-openai: its client, and a model behind Chat Completions and Responses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use adapter_tests::FakeModel;
use adapter_tests::tools::{PICTURE, toolbox, turn_of};
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs,
    CreateChatCompletionResponse,
};
use async_openai::types::responses::{CreateResponseArgs, InputItem, InputParam, Response};
use serde_json::{Value, json};
use toolgen_async_openai::{AdapterError, Chat, Responses};
use toolgen_runtime::CancellationToken;
use toolgen_runtime::schema::dialect::OPENAI_STRICT;
use toolgen_runtime::wire::WireFormat;

fn client(model: &FakeModel) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(&model.url).with_api_key("key"))
}

fn chat_reply(message: Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5.1",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason, "logprobs": null }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    })
}

fn chat_calls(calls: &[(&str, Value)], finish_reason: &str) -> Value {
    let call = |(number, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        json!({ "id": format!("call_{number}"), "type": "function", "function": function })
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    chat_reply(json!({ "role": "assistant", "content": null, "tool_calls": calls }), finish_reason)
}

fn read(reply: Value) -> CreateChatCompletionResponse {
    serde_json::from_value(reply).unwrap()
}

/// Returns the text of each tool result.
fn told(messages: &[ChatCompletionRequestMessage]) -> Vec<String> {
    messages[1..].iter().map(|message| json!(message)["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn chat_calls_tools_through_the_toolbox() {
    let model = FakeModel::start([
        chat_calls(
            &[
                ("add", json!({ "a": 17, "b": 25 })),
                ("add", json!({ "a": "x", "b": 1_000 })),
                ("delete_all", json!({})),
                ("fail", json!({})),
            ],
            "tool_calls",
        ),
        chat_reply(json!({ "role": "assistant", "content": "It is 42." }), "stop"),
    ]);
    let (toolbox, _) = toolbox();
    let chat = Chat::new(&toolbox);
    let mut messages = vec![ChatCompletionRequestUserMessage::from("17 + 25?").into()];
    let text = loop {
        let mut request = CreateChatCompletionRequestArgs::default();
        request.model("gpt-5.1").messages(messages.clone()).tools(chat.tools().unwrap());
        let response = client(&model).chat().create(request.build().unwrap()).await.unwrap();
        match chat.answer(&response).await.unwrap() {
            answers if answers.is_empty() => break response.choices[0].message.content.clone(),
            answers => messages.extend(answers),
        }
    };
    assert_eq!(text.as_deref(), Some("It is 42."));

    let requests = model.requests();
    assert_eq!(requests[0]["tools"], WireFormat::OpenAiChat.tools(toolbox.specs()).unwrap());
    let sent = requests[1]["messages"].as_array().unwrap();
    assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{\"a\":17,\"b\":25}");
    let answer = |number: usize| {
        let answer = &sent[number + 2];
        assert_eq!(
            (&answer["role"], &answer["tool_call_id"]),
            (&json!("tool"), &json!(format!("call_{number}")))
        );
        answer["content"].as_str().unwrap()
    };
    assert_eq!(answer(0), "42");
    assert!(answer(1).starts_with("Error: Invalid arguments: /a: "), "{}", answer(1));
    assert!(answer(2).starts_with("Error: "), "a rule forbids it: {}", answer(2));
    assert_eq!(answer(3), "Error: There is no paper.");
}

#[tokio::test]
async fn truncated_chat_reply_gets_responses() {
    let chat = Chat::new(&toolbox().0);
    let calls = [("add", json!({ "a": 1, "b": 2 })), ("add", json!({ "a": 1, "b": 2 }))];
    let answers = chat.answer(&read(chat_calls(&calls, "length"))).await.unwrap();
    let told = told(&answers);
    assert_eq!(told[0], "3");
    assert!(told[1].contains("cut off"), "{}", told[1]);
}

#[tokio::test]
async fn response_without_a_choice_is_an_error() {
    let mut reply = chat_calls(&[], "stop");
    reply["choices"] = json!([]);
    let why = Chat::new(&toolbox().0).answer(&read(reply)).await.unwrap_err();
    assert!(matches!(why, AdapterError::Response(_)), "{why}");
}

#[tokio::test]
async fn large_result_adds_the_read_result_tool() {
    let (toolbox, _) = toolbox();
    let chat = Chat::new(&toolbox);
    let names = || -> Vec<String> {
        let tools = chat.tools().unwrap();
        tools.iter().map(|tool| json!(tool)["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!names().contains(&"read_result".to_owned()));
    let answers = chat.answer(&read(chat_calls(&[("log", json!({}))], "tool_calls"))).await.unwrap();
    assert!(told(&answers)[0].contains("Call read_result with"), "{}", told(&answers)[0]);
    assert!(names().contains(&"read_result".to_owned()));
}

#[tokio::test]
async fn context_cancels_calls_and_sets_their_principal() {
    let (toolbox, waiting) = toolbox();
    let token = CancellationToken::new();
    let chat = Chat::new(&toolbox).in_turn(turn_of("ada").with_cancel(token.clone()));
    let who = chat.answer(&read(chat_calls(&[("whoami", json!({}))], "tool_calls"))).await.unwrap();
    assert_eq!(told(&who), ["ada"]);
    let calls = read(chat_calls(&[("wait", json!({}))], "tool_calls"));
    let call = tokio::spawn(async move { chat.answer(&calls).await });
    waiting.reaches(1).await;
    token.cancel();
    assert_eq!(told(&call.await.unwrap().unwrap()), ["Error: Cancelled"]);
    waiting.reaches(0).await;
}

#[test]
fn strict_schemas_can_be_requested() {
    let (toolbox, _) = toolbox();
    let tools = Chat::new(&toolbox).in_dialect(&OPENAI_STRICT).tools().unwrap();
    assert_eq!(json!(tools)[0]["function"]["strict"], true);
    let tools = Responses::new(&toolbox).in_dialect(&OPENAI_STRICT).tools().unwrap();
    assert_eq!(json!(tools)[0]["strict"], true);
}

fn response(output: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5.1",
        "output": output, "parallel_tool_calls": true, "tools": [], "tool_choice": "auto",
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
    })
}

#[tokio::test]
async fn responses_call_tools_through_the_toolbox() {
    let model = FakeModel::start([
        response(json!([
            { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA" },
            { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "status": "completed",
              "arguments": "{\"a\":17,\"b\":25}" },
            { "type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "picture", "status": "completed",
              "arguments": "{}" },
        ])),
        response(json!([{
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "It is 42.", "annotations": [] }],
        }])),
    ]);
    let (toolbox, _) = toolbox();
    let responses = Responses::new(&toolbox);
    let question = json!({ "type": "message", "role": "user", "content": "17 + 25?" });
    let mut input: Vec<InputItem> = vec![serde_json::from_value(question).unwrap()];
    let last: Response = loop {
        let mut request = CreateResponseArgs::default();
        request.model("gpt-5.1").input(InputParam::Items(input.clone())).tools(responses.tools().unwrap());
        let response = client(&model).responses().create(request.build().unwrap()).await.unwrap();
        match responses.answer(&response).await.unwrap() {
            answers if answers.is_empty() => break response,
            answers => input.extend(answers),
        }
    };
    assert_eq!(last.output_text().as_deref(), Some("It is 42."));

    let requests = model.requests();
    assert_eq!(requests[0]["tools"], WireFormat::OpenAiResponses.tools(toolbox.specs()).unwrap());
    let sent = &requests[1]["input"];
    assert_eq!((&sent[1]["type"], &sent[1]["encrypted_content"]), (&json!("reasoning"), &json!("gAAAA")));
    assert_eq!((&sent[2]["call_id"], &sent[2]["name"]), (&json!("call_1"), &json!("add")));
    assert_eq!(sent[4]["output"], "42");
    let picture = sent[5]["output"].as_array().unwrap();
    let image = picture.iter().find(|part| part["type"] == "input_image").unwrap();
    assert_eq!(image["image_url"], format!("data:image/png;base64,{PICTURE}"));
}
