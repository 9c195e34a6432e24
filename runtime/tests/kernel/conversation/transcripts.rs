//! Transcripts as the messages of each vendor.

use toolgen_runtime::wire::Request;

use crate::conversation::recorded::{Recorded, SAID, all};
use crate::prelude::*;

/// A conversation with the recorded turn, the results of its calls, and a question.
fn transcript(recorded: &Recorded) -> Transcript {
    let turn = recorded.format.turn(&recorded.whole).unwrap();
    let responses = [Ok(ToolResult::text("3")), Err(ToolError::failed("no clock"))];
    let responses: Vec<ToolResponse> =
        turn.calls.iter().zip(responses).map(|(call, outcome)| ToolResponse::new(call, outcome)).collect();
    let mut transcript = Transcript::user("1 + 2, and when?");
    transcript.push(Entry::Model(turn.into()));
    for response in responses {
        transcript.push(Entry::Answer(Box::new(response)));
    }
    transcript.push(Entry::User("Well?".to_owned()));
    transcript
}

const TALKING: [WireFormat; 5] = [
    WireFormat::OpenAiChat,
    WireFormat::OpenAiResponses,
    WireFormat::Anthropic,
    WireFormat::Gemini,
    WireFormat::Bedrock,
];

/// Requests that hold each recorded turn in each format, for the libraries of the vendors.
pub(crate) fn requests() -> Vec<Value> {
    let mut requests = Vec::new();
    for recorded in all() {
        for format in TALKING {
            let messages = transcript(&recorded).messages(format).messages;
            let request = Request::new(messages).with_model("model-1").with_system("Be brief.");
            let request = format.request(request).unwrap();
            requests.push(json!({ "from": recorded.name, "format": format.name(), "request": request }));
        }
    }
    requests
}

/// The blocks of a turn in the messages of a format.
fn said(format: WireFormat, messages: &[Value]) -> Vec<&Value> {
    match format {
        WireFormat::OpenAiChat => vec![&messages[1]],
        WireFormat::OpenAiResponses => messages
            .iter()
            .filter(|item| item["role"] != "user" && item["type"] != "function_call_output")
            .collect(),
        WireFormat::Gemini => messages[1]["parts"].as_array().unwrap().iter().collect(),
        _ => messages[1]["content"].as_array().unwrap().iter().collect(),
    }
}

#[test]
fn turn_round_trips_to_its_own_vendor() {
    for recorded in all() {
        let transcript = transcript(&recorded);
        let rendered = transcript.messages(recorded.format);
        assert_eq!(rendered.lost, [], "{}", recorded.name);
        let location = match recorded.name {
            "openai-chat" => "/choices/0/message",
            "ollama" => "/message",
            "openai-responses" => "/output",
            "anthropic" => "/content",
            "gemini" => "/candidates/0/content/parts",
            _ => "/output/message/content",
        };
        let came = recorded.whole.pointer(location).unwrap();
        let came: Vec<&Value> = came.as_array().map_or_else(|| vec![came], |blocks| blocks.iter().collect());
        let bytes = |blocks: &[&Value]| blocks.iter().map(|block| block.to_string()).collect::<Vec<_>>();
        assert_eq!(bytes(&said(recorded.format, &rendered.messages)), bytes(&came), "{}", recorded.name);
        // Stored and read again, it is the same.
        let stored: Transcript = serde_json::from_str(&serde_json::to_string(&transcript).unwrap()).unwrap();
        assert_eq!(stored.messages(recorded.format), rendered, "{}", recorded.name);
    }
}

#[test]
fn turn_is_converted_for_another_vendor() {
    for recorded in all() {
        for format in TALKING.into_iter().filter(|format| *format != recorded.format) {
            let rendered = transcript(&recorded).messages(format);
            let about = format!("{} as {format}: {:?}", recorded.name, rendered.messages);
            // The parser of the other format reads what was written, except for the IDs.
            let blocks: Vec<Value> = said(format, &rendered.messages).into_iter().cloned().collect();
            let reply =
                if format == WireFormat::OpenAiChat { blocks[0].clone() } else { Value::from(blocks) };
            let again = format.turn(&reply).unwrap();
            if format != WireFormat::OpenAiResponses {
                assert_eq!(again.text, SAID, "{about}");
            }
            assert_eq!(again.thinking, "", "{about}");
            let parsed = |value: &Value| {
                value.as_str().map_or(value.clone(), |text| serde_json::from_str(text).unwrap_or(json!({})))
            };
            let arguments: Vec<Value> = again.calls.iter().map(|call| parsed(&call.arguments)).collect();
            assert_eq!(arguments, [json!({ "a": 1, "b": 2 }), json!({})], "{about}");
            // Every call has its result, under an ID that every vendor accepts.
            let text = Value::from(rendered.messages.clone()).to_string();
            for call in again.calls.iter() {
                assert!(call.id.len() == 9 && call.id.chars().all(|c| c.is_ascii_alphanumeric()), "{about}");
                assert_eq!(text.matches(&format!("\"{}\"", call.id)).count(), 2, "{about}");
            }
            // Losses are reported.
            let lost: Vec<String> = rendered.lost.iter().map(ToString::to_string).collect();
            let only = format!("which only {} can carry", recorded.format);
            assert!(!lost.is_empty() && lost.iter().all(|lost| lost.contains(&only)), "{about}: {lost:?}");
        }
    }
}

#[test]
fn user_and_model_messages_alternate_where_required() {
    for recorded in all() {
        for format in [WireFormat::Anthropic, WireFormat::Gemini, WireFormat::Bedrock] {
            let messages = transcript(&recorded).messages(format).messages;
            let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
            let model = if format == WireFormat::Gemini { "model" } else { "assistant" };
            assert_eq!(roles, ["user", model, "user"], "{} as {format}", recorded.name);
            let key = if format == WireFormat::Gemini { "parts" } else { "content" };
            assert_eq!(messages[2][key].as_array().unwrap().len(), 3, "{} as {format}", recorded.name);
        }
    }
}

#[test]
fn turn_built_by_a_program_is_valid_for_every_vendor() {
    let call = ToolCall::new("call-1", "add", json!({ "a": 1 }));
    let mut transcript = Transcript::user("Go.");
    transcript.push(Entry::Model(ModelTurn::calls([call.clone()])));
    transcript.push(Entry::Answer(Box::new(ToolResponse::new(&call, Ok(ToolResult::text("3"))))));
    transcript.push(Entry::Model(ModelTurn::default()));
    for format in TALKING {
        let rendered = transcript.messages(format);
        // An empty turn is omitted: every vendor rejects it.
        assert_eq!((rendered.messages.len(), rendered.lost.len()), (3, 0), "{format}");
    }
    let gemini = transcript.messages(WireFormat::Gemini).messages;
    assert_eq!(gemini[1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
    let mcp = transcript.messages(WireFormat::Mcp);
    let lost: Vec<&str> = mcp.lost.iter().map(|lost| lost.what.as_str()).collect();
    assert_eq!((mcp.messages.len(), lost), (1, vec!["message", "turn", "turn"]));
}

#[test]
fn debug_output_of_a_transcript_shows_no_content() {
    for recorded in all() {
        let transcript = transcript(&recorded);
        let rendered = transcript.messages(recorded.format);
        let turn = recorded.format.turn(&recorded.whole).unwrap();
        let message = format!("{transcript:?} {rendered:?} {turn:?}");
        for secret in ["1 + 2", "Let me", "\"a\"", "c2lnbmF0dXJl", "Two sums"] {
            assert!(!message.contains(secret), "{} shows {secret}: {message}", recorded.name);
        }
    }
}

#[test]
fn conversation_usage_is_the_sum_of_its_turns() {
    let [one, two] = [&all()[0], &all()[3]].map(transcript);
    let mut both = one.clone();
    for entry in two.iter() {
        both.push(entry.clone());
    }
    assert_eq!(both.usage().total(), one.usage().total() + two.usage().total());
    assert!(one.usage().total() > 0);
}
