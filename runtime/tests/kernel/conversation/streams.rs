//! Streamed replies: for any split of their bytes, the turn equals that of the whole reply.

use proptest::prelude::*;
use toolgen_runtime::wire::{ModelReply, StopReason, StreamDelta, StreamError, Usage};

use crate::conversation::recorded::{Framing, Recorded, SAID, THOUGHT, all, bytes};
use crate::prelude::*;

fn streamed(format: WireFormat, pieces: &[&[u8]]) -> Result<ModelReply, StreamError> {
    let mut stream = format.stream();
    for piece in pieces {
        stream.push_bytes(piece)?;
    }
    stream.finish()
}

fn pushed(format: WireFormat, events: &[Value]) -> Result<ModelReply, StreamError> {
    let mut stream = format.stream();
    for event in events {
        stream.push(event)?;
    }
    stream.finish()
}

#[test]
fn stream_gives_the_same_turn_as_the_whole_reply() {
    for Recorded { name, format, framings, events, whole } in all() {
        let expected = format.turn(&whole).unwrap();
        assert_eq!((expected.text.as_str(), expected.thinking.as_str()), (SAID, THOUGHT), "{name}");
        assert_eq!(expected.stop, StopReason::ToolCalls, "{name}");
        let names: Vec<&str> = expected.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["add", "clock"], "{name}");
        // The native format of Ollama counts neither.
        let (cached, reasoning) = match name {
            "ollama" => (0, 0),
            "anthropic" | "bedrock" => (10, 0),
            _ => (10, 12),
        };
        assert_eq!(expected.usage, Usage::new(35, 89, cached, reasoning), "{name}");
        assert_eq!(pushed(format, &events), Ok(expected.clone()), "{name}");
        for framing in framings {
            let bytes = bytes(*framing, &events);
            // Events that differ only in framing are cut at fewer places: most of the time is spent on parsing them.
            let step = if *framing == framings[0] { 1 } else { 9 };
            for cut in (0..=bytes.len()).step_by(step) {
                let (head, tail) = bytes.split_at(cut);
                assert_eq!(
                    streamed(format, &[head, tail]),
                    Ok(expected.clone()),
                    "{name} {framing:?} at {cut}"
                );
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(streamed(format, &single), Ok(expected.clone()), "{name} {framing:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn stream_does_not_depend_on_chunks(seed in prop::collection::vec(1usize..40, 1..200)) {
        for Recorded { name, format, framings, events, whole } in all() {
            let expected = format.turn(&whole).unwrap();
            for framing in framings {
                let bytes = bytes(*framing, &events);
                let (mut rest, mut pieces, mut sizes) = (&bytes[..], Vec::new(), seed.iter().cycle());
                while !rest.is_empty() {
                    let (piece, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
                    pieces.push(piece);
                    rest = after;
                }
                prop_assert_eq!(streamed(format, &pieces), Ok(expected.clone()), "{} {:?}", name, framing);
            }
        }
    }
}

#[test]
fn stream_pieces_are_forwarded_immediately() {
    for Recorded { name, format, events, .. } in all() {
        let mut stream = format.stream();
        let pieces: Vec<StreamDelta> = events.iter().flat_map(|event| stream.push(event).unwrap()).collect();
        let text: Vec<&str> = pieces.iter().map(StreamDelta::text).filter(|text| !text.is_empty()).collect();
        assert_eq!(text, ["Let me ", "add – ünïcode ✓."], "{name}");
        let thoughts = pieces.iter().filter(|piece| matches!(piece, StreamDelta::Thinking(_))).count();
        assert_eq!(thoughts, 2, "{name}");
        let calls: Vec<&str> = pieces
            .iter()
            .filter_map(|piece| match piece {
                StreamDelta::Call { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(calls, ["add", "clock"], "{name}");
        assert!(!format!("{pieces:?}").contains("Let me"), "{name}");
        assert!(stream.has_ended(), "{name}");
    }
}

#[test]
fn interrupted_stream_runs_no_incomplete_call() {
    for Recorded { name, format, events, whole, .. } in all() {
        let expected = format.turn(&whole).unwrap();
        let mut interrupted = 0;
        for length in 0..events.len() {
            let mut stream = format.stream();
            for event in &events[..length] {
                stream.push(event).unwrap();
            }
            let Ok(turn) = stream.finish() else {
                assert!(length == 0, "{name} {length}");
                continue;
            };
            // The vendor has sent the stop reason, so only the usage is missing.
            if !matches!(turn.stop, StopReason::Interrupted) {
                assert_eq!(turn.calls, expected.calls, "{name} {length}");
                continue;
            }
            let last = turn.calls.len();
            for (index, call) in turn.calls.iter().enumerate() {
                if index + 1 == last {
                    assert_eq!(call.blocked, Some(Blocked::Truncated), "{name} {length}");
                } else if call.blocked.is_none() {
                    assert_eq!(*call, expected.calls[index], "{name} {length}");
                }
                interrupted += 1;
            }
        }
        assert!(interrupted > 1 || name == "gemini", "{name}");
    }
}

#[test]
fn reply_at_its_token_limit_is_truncated() {
    let anthropic = json!([
        {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {}}},
        {"type": "content_block_start", "index": 0,
         "content_block": {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"a\": 1, \"b"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]);
    let chat = json!([
        {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [
            {"index": 0, "id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1, \"b"}}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]},
    ]);
    let item = json!({"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{\"a\": 1, \"b",
                      "status": "incomplete"});
    let responses = json!([
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.incomplete", "response": {"status": "incomplete", "output": [item],
                                                     "incomplete_details": {"reason": "max_output_tokens"}}},
    ]);
    let gemini = json!([
        {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "add", "args": {"a": 1}}}]},
                         "finishReason": "MAX_TOKENS"}]},
    ]);
    let bedrock = json!([
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t1", "name": "add"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{\"a\": 1, \"b"}}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "max_tokens"}},
    ]);
    let recorded = [
        (WireFormat::Anthropic, anthropic),
        (WireFormat::OpenAiChat, chat),
        (WireFormat::OpenAiResponses, responses),
        (WireFormat::Gemini, gemini),
        (WireFormat::Bedrock, bedrock),
    ];
    for (format, events) in recorded {
        let turn = pushed(format, events.as_array().unwrap()).unwrap();
        assert_eq!(turn.stop, StopReason::MaxTokens, "{format}");
        assert_eq!(turn.calls[0].blocked, Some(Blocked::Truncated), "{format}");
        // It can be sent back: arguments that must be an object are an object.
        let kept = &turn.raw.messages[0];
        for location in ["/content/0/input", "/content/0/toolUse/input"] {
            assert!(kept.pointer(location).is_none_or(Value::is_object), "{format}: {kept}");
        }
    }
}

#[test]
fn refused_reply_runs_no_call() {
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}});
    let refused = [
        (
            WireFormat::OpenAiChat,
            json!([{"choices": [{"index": 0, "delta": {"tool_calls": [call]},
                                                      "finish_reason": "content_filter"}]}]),
            "content_filter",
        ),
        (WireFormat::Gemini, json!([{"promptFeedback": {"blockReason": "SAFETY"}}]), "SAFETY"),
        (
            WireFormat::Gemini,
            json!([{"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}]),
            "PROHIBITED_CONTENT",
        ),
        (
            WireFormat::Anthropic,
            json!([
            {"type": "message_start", "message": {"role": "assistant", "content": []}},
            {"type": "message_delta", "delta": {"stop_reason": "refusal"}}, {"type": "message_stop"}]),
            "refusal",
        ),
        (
            WireFormat::Bedrock,
            json!([{"messageStart": {"role": "assistant"}},
                                     {"messageStop": {"stopReason": "guardrail_intervened"}}]),
            "guardrail_intervened",
        ),
        (
            WireFormat::OpenAiResponses,
            json!([{"type": "response.incomplete", "response": {"status": "incomplete",
            "output": [], "incomplete_details": {"reason": "content_filter"}}}]),
            "content_filter",
        ),
    ];
    for (format, events, word) in refused {
        let turn = pushed(format, events.as_array().unwrap()).unwrap();
        assert_eq!((turn.stop, turn.raw_stop_reason.as_str()), (StopReason::Refused, word), "{format}");
        assert!(
            turn.calls.iter().all(|call| call.blocked == Some(Blocked::Stopped(word.into()))),
            "{format}"
        );
    }
}

#[test]
fn unknown_events_are_ignored() {
    let unknown = [
        json!({"type": "content_block_weather", "index": 90, "sun": true}),
        json!({"type": "response.steer.accepted", "output_index": 90}),
        json!({"weatherReport": {"sun": true}}),
        json!({"object": "chat.completion.weather", "choices": []}),
    ];
    for Recorded { name, format, events, whole, .. } in all() {
        let expected = format.turn(&whole).unwrap();
        for event in &unknown {
            let mut events = events.clone();
            events.insert(2, event.clone());
            assert_eq!(pushed(format, &events), Ok(expected.clone()), "{name} {event}");
        }
    }
}

#[test]
fn stream_errors_have_the_message_of_the_vendor() {
    let messages = [
        (
            WireFormat::Anthropic,
            Framing::Sse,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "overloaded_error: Overloaded",
        ),
        (
            WireFormat::OpenAiChat,
            Framing::Sse,
            json!({"error": {"message": "No such model", "type": "invalid_request_error"}}),
            "invalid_request_error: No such model",
        ),
        (
            WireFormat::OpenAiResponses,
            Framing::Sse,
            json!({"type": "error", "code": "server_error", "message": "Try again"}),
            "server_error: Try again",
        ),
        (
            WireFormat::Gemini,
            Framing::List,
            json!({"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED"}}),
            "RESOURCE_EXHAUSTED: Quota",
        ),
        (
            WireFormat::Bedrock,
            Framing::Frames,
            json!({"throttlingException": {"message": "Too many"}}),
            "throttlingException: Too many",
        ),
    ];
    for (format, framing, event, words) in messages {
        let recorded = all().into_iter().find(|recorded| recorded.format == format).unwrap();
        for before in [0, 3] {
            let events: Vec<Value> = recorded.events[..before].iter().chain([&event]).cloned().collect();
            let reason = streamed(format, &[&bytes(framing, &events)]).unwrap_err().to_string();
            assert!(
                reason.contains(words) && reason.contains("the vendor sent an error instead of a reply"),
                "{format}: {reason}"
            );
            let mut stream = format.stream();
            let _ = stream.push_bytes(&bytes(framing, &events));
            assert_eq!(stream.push_bytes(b"").unwrap_err(), stream.finish().unwrap_err(), "{format}");
        }
    }
    let reason = WireFormat::Anthropic
        .turn(&json!({"type": "error", "error": {"type": "invalid_request_error", "message": "No"}}));
    assert_eq!(
        reason.unwrap_err().to_string(),
        "/error: the vendor sent an error instead of a reply: invalid_request_error: No"
    );
}

#[test]
fn gemini_arguments_in_parts_are_joined() {
    let part = |call: Value| json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}}]});
    let events = [
        part(json!({"id": "f1", "name": "book", "willContinue": true,
                    "partialArgs": [{"jsonPath": "$.rooms[0].name", "stringValue": "Blue ", "willContinue": true}]})),
        part(json!({"partialArgs": [{"jsonPath": "$.rooms[0].name", "stringValue": "room"},
                                    {"jsonPath": "$['nights']", "numberValue": 2}], "willContinue": true})),
        part(json!({"partialArgs": [{"jsonPath": "$.paid", "boolValue": true}]})),
        json!({"candidates": [{"finishReason": "STOP"}]}),
    ];
    let turn = pushed(WireFormat::Gemini, &events).unwrap();
    assert_eq!(turn.calls.len(), 1);
    assert_eq!(turn.calls[0].arguments, json!({"rooms": [{"name": "Blue room"}], "nights": 2, "paid": true}));
    assert_eq!(turn.calls[0].blocked, None);
}

#[test]
fn mcp_requests_are_single_events() {
    let request = |id: u64| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                                   "params": {"name": "add", "arguments": {"a": id}}})
    };
    let turn = streamed(WireFormat::Mcp, &[&bytes(Framing::Lines, &[request(1), request(2)])]).unwrap();
    let ids: Vec<&str> = turn.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["1", "2"]);
}

/// Prints the recordings for `tests/conversation/validate.py`, if it requests them.
#[test]
fn recordings_are_written_for_vendor_libraries() {
    let Ok(path) = std::env::var("TOOLGEN_CONVERSATIONS") else { return };
    let recorded: Vec<Value> = all()
        .into_iter()
        .map(|recorded| {
            let frames = recorded.framings.contains(&Framing::Frames);
            let frames = frames.then(|| bytes(Framing::Frames, &recorded.events));
            json!({"name": recorded.name, "format": recorded.format.name(), "events": recorded.events,
                   "whole": recorded.whole, "frames": frames})
        })
        .collect();
    let programs = crate::conversation::programs::all().into_iter().map(|program| {
        json!({"name": format!("{}, program", program.format), "format": program.format.name(),
               "events": program.events, "whole": program.whole, "frames": null})
    });
    let recorded: Vec<Value> = recorded.into_iter().chain(programs).collect();
    let mut requests = crate::conversation::transcripts::requests();
    requests.extend(crate::conversation::programs::requests());
    let offers = crate::wire::properties_of_tools::offers();
    let conversations = json!({"recorded": recorded, "requests": requests, "offers": offers});
    std::fs::write(path, conversations.to_string()).unwrap();
}
