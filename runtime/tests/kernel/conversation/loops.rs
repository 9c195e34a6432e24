//! The examples of each vendor against a local server that returns recorded replies.

use std::error::Error;
use tokio_rustls::rustls::crypto::ring;

use toolgen_runtime::agent::agent_loop::{Agent, LoopError, ModelError, WireModel};
use toolgen_runtime::schema::dialect::ANTHROPIC_STRICT;
use toolgen_runtime::wire::{StopReason, StreamError};
use toolgen_test_support::http::{self, Request, Server, ok};

use crate::prelude::*;

#[path = "../../../examples/conversation/anthropic.rs"]
mod anthropic;
#[path = "../../../examples/conversation/bedrock.rs"]
mod bedrock;
#[path = "../../../examples/conversation/gemini.rs"]
mod gemini;
#[path = "../../../examples/conversation/ollama.rs"]
mod ollama;
#[path = "../../../examples/conversation/openai_chat.rs"]
mod openai_chat;
#[path = "../../../examples/conversation/openai_responses.rs"]
mod openai_responses;

/// Adds two numbers.
#[tool(read_only, undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn toolbox() -> Toolbox {
    Registry::new(toolset![add]).unwrap().toolbox(Default::default())
}

/// The two requests of an example, and its result.
struct Talk {
    given: String,
    paths: Vec<String>,
    head: String,
    bodies: Vec<Value>,
}

async fn talk(
    replies: [Value; 2],
    ask: impl AsyncFnOnce(&Toolbox, &str, &str) -> Result<String, Box<dyn Error>>,
) -> Talk {
    let _ = ring::default_provider().install_default();
    let responses = replies.iter().map(|reply| match reply.as_array() {
        Some(lines) => {
            ok("application/json", lines.iter().map(|line| format!("{line}\n")).collect::<String>())
        }
        None => http::json(reply),
    });
    let server = Server::in_turn(responses);
    let given = ask(&toolbox(), &server.url, "k-1").await.unwrap();
    let asked = server.seen();
    assert_eq!(asked.len(), 2);
    Talk {
        given,
        paths: asked.iter().map(|request| request.target().to_lowercase()).collect(),
        head: asked[0].head.to_lowercase(),
        bodies: asked.iter().map(Request::json).collect(),
    }
}

#[tokio::test]
async fn openai_chat_completions() {
    let call = json!({"role": "assistant", "content": null, "reasoning_content": "Adding.", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{\"a\":17,\"b\":25}"}}]});
    let replies = [
        json!({"choices": [{"message": call, "finish_reason": "tool_calls"}]}),
        json!({"choices": [{"message": {"role": "assistant", "content": "42."}, "finish_reason": "stop"}]}),
    ];
    let talk = talk(replies, openai_chat::ask).await;
    assert_eq!((talk.given.as_str(), talk.paths[0].as_str()), ("42.", "/v1/chat/completions"));
    assert!(talk.head.contains("authorization: bearer k-1"), "{}", talk.head);
    let body = &talk.bodies[1];
    assert_eq!((&body["model"], &body["tools"][0]["function"]["name"]), (&json!("gpt-5.1"), &json!("add")));
    let user = json!({"role": "user", "content": "What is 17 + 25?"});
    let response = json!({"role": "tool", "tool_call_id": "call_1", "content": "42"});
    assert_eq!(body["messages"], json!([user, call, response]));
}

#[tokio::test]
async fn openai_responses_api() {
    let output = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": "{\"a\":17,\"b\":25}",
         "status": "completed"},
    ]);
    let message =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "42."}]});
    let replies = [
        json!({"status": "completed", "output": output}),
        json!({"status": "completed", "output": [message]}),
    ];
    let talk = talk(replies, openai_responses::ask).await;
    assert_eq!((talk.given.as_str(), talk.paths[0].as_str()), ("42.", "/v1/responses"));
    let user = json!({"role": "user", "content": "What is 17 + 25?"});
    let response = json!({"type": "function_call_output", "call_id": "call_1", "output": "42"});
    assert_eq!(talk.bodies[1]["input"], json!([user, output[0], output[1], response]));
}

#[tokio::test]
async fn anthropic_messages() {
    let content = json!([
        {"type": "thinking", "thinking": "Adding.", "signature": "c2ln"},
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 17, "b": 25}},
    ]);
    let replies = [
        json!({"role": "assistant", "content": content, "stop_reason": "tool_use"}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "42."}], "stop_reason": "end_turn"}),
    ];
    let talk = talk(replies, anthropic::ask).await;
    assert_eq!((talk.given.as_str(), talk.paths[0].as_str()), ("42.", "/v1/messages"));
    assert!(talk.head.contains("x-api-key: k-1\r\nanthropic-version: 2023-06-01"), "{}", talk.head);
    let body = &talk.bodies[1];
    assert!(body["max_tokens"].is_u64() && body["tools"][0]["input_schema"].is_object(), "{body}");
    assert_eq!(body["messages"][1], json!({"role": "assistant", "content": content}));
    let response = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "42"});
    assert_eq!(body["messages"][2], json!({"role": "user", "content": [response]}));
}

#[tokio::test]
async fn gemini_generate_content() {
    let content = json!({"role": "model", "parts": [
        {"functionCall": {"name": "add", "args": {"a": 17, "b": 25}}, "thoughtSignature": "c2ln"}]});
    let replies = [
        json!({"candidates": [{"content": content, "finishReason": "STOP"}]}),
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "42."}]}, "finishReason": "STOP"}]}),
    ];
    let talk = talk(replies, gemini::ask).await;
    assert_eq!(
        (talk.given.as_str(), talk.paths[0].as_str()),
        ("42.", "/v1beta/models/gemini-3-pro:generatecontent")
    );
    let body = &talk.bodies[1];
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "Use the tools."}]}));
    assert_eq!(body["contents"][1], content);
    let reply = json!({"functionResponse": {"name": "add", "response": {"output": "42"}}});
    assert_eq!(body["contents"][2], json!({"role": "user", "parts": [reply]}));
}

#[tokio::test]
async fn bedrock_converse() {
    let message = json!({"role": "assistant", "content": [
        {"reasoningContent": {"reasoningText": {"text": "Adding.", "signature": "c2ln"}}},
        {"toolUse": {"toolUseId": "t-1", "name": "add", "input": {"a": 17, "b": 25}}},
    ]});
    let end = json!({"role": "assistant", "content": [{"text": "42."}]});
    let replies = [
        json!({"output": {"message": message}, "stopReason": "tool_use"}),
        json!({"output": {"message": end}, "stopReason": "end_turn"}),
    ];
    let talk = talk(replies, bedrock::ask).await;
    assert_eq!(
        (talk.given.as_str(), talk.paths[0].as_str()),
        ("42.", "/model/amazon.nova-pro-v1:0/converse")
    );
    let body = &talk.bodies[1];
    assert_eq!((&body["system"][0]["text"], &body["messages"][1]), (&json!("Use the tools."), &message));
    assert!(body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"].is_object(), "{body}");
}

#[tokio::test]
async fn ollama_in_lines() {
    let stated = |message: Value, done: bool| json!({"model": "qwen3", "message": message, "done": done});
    let call = json!({"function": {"name": "add", "arguments": {"a": 17, "b": 25}}});
    let replies = [
        json!([
            stated(json!({"role": "assistant", "content": "", "tool_calls": [call]}), false),
            stated(json!({"role": "assistant", "content": ""}), true)
        ]),
        json!([
            stated(json!({"role": "assistant", "content": "4"}), false),
            stated(json!({"role": "assistant", "content": "2."}), true)
        ]),
    ];
    let talk = talk(replies, ollama::ask).await;
    assert_eq!((talk.given.as_str(), talk.paths[0].as_str()), ("42.", "/api/chat"));
    let body = &talk.bodies[1];
    assert_eq!((&body["stream"], &body["messages"][1]["tool_calls"]), (&json!(true), &json!([call])));
    assert_eq!(body["messages"][2], json!({"role": "tool", "tool_name": "add", "content": "42"}));
}

/// Runs a loop with replies in the format of Anthropic.
async fn over(
    replies: Vec<Value>,
    limits: LoopOptions,
) -> (Result<String, LoopError<ModelError<String>>>, Transcript, StopReason) {
    let toolbox = toolbox();
    let mut replies = replies.into_iter();
    let send = |_: Value| {
        let reply = replies.next();
        async { reply.ok_or_else(|| "the server is gone".to_owned()) }
    };
    let run = Agent::new(WireModel::new(WireFormat::Anthropic, send), &toolbox)
        .with_limits(limits)
        .run("Go.")
        .await;
    let (transcript, stop) = (run.transcript.clone(), run.stop());
    (run.text(), transcript, stop)
}

/// Says in which dialect its arguments are read.
#[tool(undocumented)]
fn shown(ctx: &ToolContext) -> &'static str {
    ctx.dialect().name
}

#[tokio::test]
async fn failing_model_fails_the_loop() {
    let (text, transcript, stop) = over(Vec::new(), LoopOptions::new()).await;
    assert_eq!(text.unwrap_err().to_string(), "the request to the model failed: the server is gone");
    assert_eq!((transcript.turns().count(), stop), (0, StopReason::Failed));
    let call = json!({"content": [{"type": "tool_use", "id": "1", "name": "shown", "input": {}}]});
    let (_, transcript, stop) = over(vec![call], LoopOptions::new()).await;
    assert_eq!((transcript.turns().count(), stop), (1, StopReason::Failed));
}

#[tokio::test]
async fn loop_uses_the_dialect_of_its_format_or_context() {
    let toolbox = Toolbox::builder(&Registry::new(toolset![shown]).unwrap()).build().unwrap();
    let call = json!({"content": [{"type": "tool_use", "id": "1", "name": "shown", "input": {}}]});
    let end = json!({"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"});
    for (strict, dialect) in [(false, "anthropic"), (true, "anthropic-strict")] {
        let mut replies = [call.clone(), end.clone()].into_iter();
        let send = |_: Value| {
            let reply = replies.next();
            async { reply.ok_or("nothing more") }
        };
        let model = WireModel::new(WireFormat::Anthropic, send);
        let model = if strict { model.with_dialect(&ANTHROPIC_STRICT) } else { model };
        let run = Agent::new(model, &toolbox).run("Which?").await;
        let message = run.transcript.iter().find_map(|entry| match entry {
            Entry::Answer(response) => Some(response.text()),
            _ => None,
        });
        assert_eq!(message.as_deref(), Some(dialect));
    }
}

#[tokio::test]
async fn paused_turn_is_continued() {
    let message =
        |text: &str, stop: &str| json!({"content": [{"type": "text", "text": text}], "stop_reason": stop});
    let (text, transcript, stop) =
        over(vec![message("Searching.", "pause_turn"), message("Found.", "end_turn")], LoopOptions::new())
            .await;
    assert_eq!(
        (text.unwrap().as_str(), stop, transcript.turns().count()),
        ("Found.", StopReason::EndTurn, 2)
    );
}

#[tokio::test]
async fn loop_end_reports_the_stop_reason_and_limits_apply() {
    let message = json!({"content": [{"type": "text", "text": "It is"}], "stop_reason": "max_tokens"});
    let (text, _, stop) = over(vec![message], LoopOptions::new()).await;
    assert_eq!((text.unwrap().as_str(), stop), ("It is", StopReason::MaxTokens));
    let call = |id: &str| json!({"content": [{"type": "tool_use", "id": id, "name": "add", "input": {"a": 1, "b": 2}}]});
    let (text, ..) =
        over(vec![call("1"), call("2"), call("3")], LoopOptions::new().with_max_iterations(2)).await;
    assert_eq!(text, Err(LoopError::MaxIterations(2)));
}

#[tokio::test]
async fn loop_error_has_the_reason_of_the_function_or_vendor() {
    let (text, ..) = over(vec![], LoopOptions::new()).await;
    assert_eq!(text.unwrap_err().to_string(), "the request to the model failed: the server is gone");
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let (text, ..) = over(vec![error], LoopOptions::new()).await;
    let reason = text.unwrap_err().to_string();
    assert_eq!(
        reason,
        "the reply of the model: /error: the vendor sent an error instead of a reply: overloaded_error: Overloaded"
    );
    let nameless = json!({"content": [{"type": "tool_use", "name": "add", "input": {}}]});
    let (text, ..) = over(vec![nameless.clone()], LoopOptions::new()).await;
    let reason = text.unwrap_err().to_string();
    assert!(
        reason.starts_with("the model made only calls that cannot be answered; /content/0/id: is missing"),
        "{reason}"
    );

    // If there is another call with a result, it is omitted from the next request.
    let both = json!({"content": [nameless["content"][0], {"type": "tool_use", "id": "t1", "name": "add",
                                                             "input": {"a": 1, "b": 2}}]});
    let end = json!({"content": [{"type": "text", "text": "3."}], "stop_reason": "end_turn"});
    let (text, transcript, _) = over(vec![both, end], LoopOptions::new()).await;
    assert_eq!(text.unwrap(), "3.");
    let messages = transcript.messages(WireFormat::Anthropic).messages;
    assert_eq!(messages[1]["content"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn streaming_loop_requests_streams_and_merges_options() {
    let toolbox = toolbox();
    let mut asked = Vec::new();
    let send = |request: Value, mut stream: toolgen_runtime::wire::Stream| {
        asked.push(request);
        async move {
            stream.push(&json!({"choices": [{"delta": {"content": "Hi."}, "finish_reason": "stop"}]}))?;
            Ok::<_, StreamError>(stream)
        }
    };
    let options = json!({"temperature": 0, "stream_options": {"include_obfuscation": false}});
    let mut agent =
        Agent::new(WireModel::streaming(WireFormat::OpenAiChat, send).with_options(options), &toolbox);
    assert_eq!(agent.run("Hello.").await.text().unwrap(), "Hi.");
    drop(agent);
    let options = json!({"include_usage": true, "include_obfuscation": false});
    assert_eq!(
        (&asked[0]["stream"], &asked[0]["stream_options"], &asked[0]["temperature"]),
        (&json!(true), &options, &json!(0))
    );

    let mcp = Agent::new(
        WireModel::new(WireFormat::Mcp, |request: Value| async { Ok::<_, String>(request) }),
        &toolbox,
    );
    let reason = { mcp }.run("Hello.").await.text().unwrap_err().to_string();
    assert_eq!(reason, "the format `mcp` has calls and results, but no conversation with a model");
}
