//! Streams that no vendor sends: they are rejected with a reason, without panics and without unlimited memory.

use proptest::prelude::*;
use toolgen_runtime::wire::StreamError;

use crate::conversation::recorded::{Framing, all, bytes};
use crate::prelude::*;

fn refusal(format: WireFormat, events: &Value) -> String {
    let mut stream = format.stream();
    for event in events.as_array().unwrap() {
        if let Err(error) = stream.push(event) {
            return error.to_string();
        }
    }
    panic!("{format} takes {events}");
}

#[test]
fn contradictory_deltas_are_errors() {
    let start = json!({"type": "message_start", "message": {"content": []}});
    let call = |index: u64, id: &str| {
        json!({"type": "content_block_start", "index": index,
               "content_block": {"type": "tool_use", "id": id, "name": "add", "input": {}}})
    };
    let input = |index: Value| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": "{"}});
    let stop = json!({"type": "content_block_stop", "index": 0});
    let chat = |calls: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]});
    let started = json!({"type": "response.created", "response": {}});
    let added = |index: u64, id: &str| {
        json!({"type": "response.output_item.added", "output_index": index,
               "item": {"type": "function_call", "call_id": id, "name": "add", "arguments": ""}})
    };
    let done = json!({"type": "response.output_item.done", "output_index": 0,
                      "item": {"type": "function_call", "call_id": "other", "name": "add", "arguments": "{}"}});
    let message = json!({"messageStart": {"role": "assistant"}});
    let block =
        |index: u64| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": {"text": "x"}}});
    let partial = |path: &str| {
        json!([{"candidates": [{"content": {"parts": [
            {"functionCall": {"name": "add", "partialArgs": [{"jsonPath": path, "numberValue": 1}]}}]}}]}])
    };
    use WireFormat::{Anthropic, Bedrock, Gemini, OpenAiChat, OpenAiResponses};
    let wrong = [
        (Anthropic, json!([start, start]), "begins a second message"),
        (Anthropic, json!([call(0, "a")]), "comes before the beginning of a reply"),
        (Anthropic, json!([start, call(1, "a")]), "begins block 1, but the next one is 0"),
        (Anthropic, json!([start, call(0, "a"), call(0, "b")]), "begins block 0, but the next one is 1"),
        (Anthropic, json!([start, call(0, "a"), call(1, "a")]), "begins a second call with the ID `a`"),
        (Anthropic, json!([start, call(0, "a"), input(json!(7))]), "is about block 7, which has not begun"),
        (Anthropic, json!([start, call(0, "a"), input(json!(-1))]), "/index: is not the number of a block"),
        (Anthropic, json!([start, call(0, "a"), stop, input(json!(0))]), "has no arguments or has ended"),
        (Anthropic, json!([{"type": "message_start", "message": 5}]), "/message: is not an object"),
        (OpenAiChat, json!([[]]), "is not an object"),
        (
            OpenAiChat,
            json!([chat(json!([{"index": 0, "id": "a", "function": {"name": "add"}},
                                        {"index": 1, "id": "a", "function": {"name": "add"}}]))]),
            "begins a second call with the ID `a`",
        ),
        (
            OpenAiChat,
            json!([chat(json!([{"index": 0, "id": "a", "function": {"name": "add"}},
                                        {"index": 0, "id": "b", "function": {"arguments": "{}"}}]))]),
            "adds to a call with the ID `b`, but that call has another",
        ),
        (OpenAiResponses, json!([started, started]), "begins a second response"),
        (OpenAiResponses, json!([added(0, "a")]), "comes before the beginning of a reply"),
        (OpenAiResponses, json!([started, added(3, "a")]), "begins block 3, but the next one is 0"),
        (
            OpenAiResponses,
            json!([started, added(0, "a"), added(1, "a")]),
            "begins a second call with the ID `a`",
        ),
        (
            OpenAiResponses,
            json!([started, added(0, "a"), done]),
            "ends item 0 with another type or ID than it began with",
        ),
        (OpenAiResponses, json!([{"type": "response.completed"}]), "/response: is not an object"),
        (Bedrock, json!([message, message]), "begins a second message"),
        (Bedrock, json!([message, block(9)]), "is about block 9, which has not begun"),
        (Gemini, json!([5]), "is not an object"),
        (Gemini, partial("rooms"), "has a path that does not resolve"),
        (Gemini, partial("$[99999999]"), "has a path that does not resolve"),
        (Gemini, partial("$.a[0"), "has a path that does not resolve"),
    ];
    for (format, events, reason) in wrong {
        let described = refusal(format, &events);
        assert!(described.contains(reason), "{format} {events}: {described}");
    }
}

#[test]
fn calls_with_missing_or_shared_indices_are_separated_by_id() {
    let chat = |calls: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": null}]});
    for number in [json!(0), Value::Null] {
        let call = |id: &str, a: u64| json!({"index": number, "id": id, "function": {"name": "add", "arguments": format!("{{\"a\":{a}}}")}});
        let mut stream = WireFormat::OpenAiChat.stream();
        for event in [chat(json!([call("a", 1)])), chat(json!([call("b", 2)]))] {
            stream.push(&event).unwrap();
        }
        stream.push(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})).unwrap();
        let turn = stream.finish().unwrap();
        let ids: Vec<&str> = turn.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(turn.calls[1].arguments, json!("{\"a\":2}"));
    }
}

#[test]
fn stream_size_is_limited() {
    for recorded in all() {
        for framing in recorded.framings {
            let bytes = bytes(*framing, &recorded.events);
            let mut exact = recorded.format.stream().with_limit(bytes.len());
            exact.push_bytes(&bytes).unwrap();
            let mut short = recorded.format.stream().with_limit(bytes.len() - 1);
            assert_eq!(short.push_bytes(&bytes), Err(StreamError::TooLong(bytes.len() - 1)));
            assert!(short.finish().is_err());
        }
    }
    let mut stream = WireFormat::Anthropic.stream().with_limit(1000);
    let long = json!({"type": "ping", "more": "x".repeat(999)});
    assert_eq!(stream.push(&long), Err(StreamError::TooLong(1000)));
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let reason = WireFormat::Gemini.stream().push(&json!({"candidates": deep})).unwrap_err().to_string();
    assert!(reason.contains("nested more than 128 levels"), "{reason}");
}

#[test]
fn invalid_event_bytes_are_errors() {
    let mut frame = bytes(Framing::Frames, &[json!({"messageStart": {}})]);
    frame[20] ^= 1;
    let huge = [0, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0];
    for (wrong, reason) in [
        (&b"data: {\"a\":\n\n"[..], "an event is not JSON"),
        (b"{\"a\": 1} word", "unexpected bytes between its JSON objects"),
        (&frame, "a frame of the AWS event stream is damaged"),
        (&huge, "a frame of the AWS event stream is damaged"),
    ] {
        let message = WireFormat::Bedrock.stream().push_bytes(wrong).unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    }
    for nothing in [&b""[..], b"\n\n", b": waiting\n\n", b"data: [DONE]\n\n"] {
        let mut stream = WireFormat::OpenAiChat.stream();
        stream.push_bytes(nothing).unwrap();
        let reason = stream.finish().unwrap_err().to_string();
        assert!(reason.contains("no events of a reply"), "{reason}");
    }
}

/// Replaces one value anywhere in another.
fn damage(value: &mut Value, steps: &[usize], with: &Value) {
    let Some((step, rest)) = steps.split_first() else {
        *value = with.clone();
        return;
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            let index = step % items.len();
            damage(&mut items[index], rest, with);
        }
        Value::Object(fields) if !fields.is_empty() => {
            let index = step % fields.len();
            damage(fields.values_mut().nth(index).unwrap(), rest, with);
        }
        _ => *value = with.clone(),
    }
}

fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!([{"text": 5}, []])),
        any::<i32>().prop_map(Value::from),
        "[a-z$.\\[\\]{}\"]{0,6}".prop_map(Value::from),
    ]
}

proptest! {
    #[test]
    fn damaged_streams_are_parsed_or_rejected(
        hits in prop::collection::vec((any::<usize>(), prop::collection::vec(any::<usize>(), 1..6), anything()), 1..6),
        order in any::<[usize; 2]>(),
    ) {
        for recorded in all() {
            let mut events = recorded.events.clone();
            for (event, steps, with) in &hits {
                let index = event % events.len();
                damage(&mut events[index], steps, with);
            }
            let length = events.len();
            events.swap(order[0] % length, order[1] % length);
            let mut stream = recorded.format.stream();
            for event in &events {
                let _ = stream.push(event);
            }
            let _ = stream.finish();
        }
    }

    #[test]
    fn arbitrary_bytes_are_parsed_or_rejected(
        noise in prop::collection::vec(any::<u8>(), 0..60), at in any::<usize>(), which in 0usize..6,
    ) {
        let recorded = &all()[which];
        let mut bytes = bytes(recorded.framings[at % recorded.framings.len()], &recorded.events);
        let at = at % bytes.len();
        bytes.splice(at..(at + noise.len()).min(bytes.len()), noise);
        let mut stream = recorded.format.stream();
        let _ = stream.push_bytes(&bytes);
        let _ = stream.finish();
    }
}
