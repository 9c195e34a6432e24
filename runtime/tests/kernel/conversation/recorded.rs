//! Streams as each provider writes them, and the reply that it would have sent whole.
//!
//! They have the events of the providers' own libraries (openai-python 3.54.0, anthropic-sdk-python 2.12.0, google-genai
//! 3.4.0, botocore 1.44.5), against whose types `tests/conversation/validate.py` checks them.

use crate::prelude::*;

/// How the events of a stream become bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Framing {
    Sse,
    /// Server-sent events with carriage returns, kinds and comments, and `[DONE]` at the end.
    Decorated,
    /// One JSON value a line.
    Lines,
    /// A list that is printed over many lines.
    List,
    Frames,
}

/// A stream and the whole reply. The model thinks, says something, adds two numbers and asks for the time.
pub(crate) struct Recorded {
    pub(crate) name: &'static str,
    pub(crate) format: WireFormat,
    pub(crate) framings: &'static [Framing],
    pub(crate) events: Vec<Value>,
    pub(crate) whole: Value,
}

pub(crate) fn all() -> Vec<Recorded> {
    use Framing::{Decorated, Frames, Lines, List, Sse};
    use WireFormat::{Anthropic, Bedrock, Gemini, OpenAiChat, OpenAiResponses};
    let of = |name, format, framings, (events, whole): (Value, Value)| {
        let Value::Array(events) = events else { panic!("{name}") };
        Recorded { name, format, framings, events, whole }
    };
    vec![
        of("openai-chat", OpenAiChat, &[Sse, Decorated], chat()),
        of("ollama", OpenAiChat, &[Lines], ollama()),
        of("openai-responses", OpenAiResponses, &[Sse, Decorated], responses()),
        of("anthropic", Anthropic, &[Sse, Decorated], anthropic()),
        of("gemini", Gemini, &[Sse, List], gemini()),
        of("bedrock", Bedrock, &[Frames, Lines], bedrock()),
    ]
}

pub(crate) fn bytes(framing: Framing, events: &[Value]) -> Vec<u8> {
    match framing {
        Framing::Sse => events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect(),
        Framing::Decorated => {
            let event = |event: &Value| {
                let kind = event["type"].as_str().unwrap_or("message");
                format!(": waiting\r\n\r\nevent: {kind}\r\ndata:{event}\r\nid: 7\r\n\r\n").into_bytes()
            };
            events.iter().flat_map(event).chain(*b"data: [DONE]\r\n\r\n").collect()
        }
        Framing::Lines => events.iter().flat_map(|event| format!("{event}\n").into_bytes()).collect(),
        Framing::List => serde_json::to_vec_pretty(events).unwrap(),
        Framing::Frames => events.iter().flat_map(frame).collect(),
    }
}

/// A frame of an AWS event stream, with the headers that Bedrock sends.
fn frame(event: &Value) -> Vec<u8> {
    let (kind, payload) = event.as_object().unwrap().iter().next().unwrap();
    let payload = payload.to_string();
    let mut headers = Vec::new();
    let pairs =
        [(":event-type", kind.as_str()), (":content-type", "application/json"), (":message-type", "event")];
    for (name, value) in pairs {
        headers.push(u8::try_from(name.len()).unwrap());
        headers.extend(name.bytes());
        headers.push(7);
        headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend(value.bytes());
    }
    let number = |number: usize| u32::try_from(number).unwrap().to_be_bytes();
    let mut frame = Vec::new();
    frame.extend(number(12 + headers.len() + payload.len() + 4));
    frame.extend(number(headers.len()));
    frame.extend(crc32(&frame).to_be_bytes());
    frame.extend(headers);
    frame.extend(payload.bytes());
    frame.extend(crc32(&frame).to_be_bytes());
    frame
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

pub(crate) const SAID: &str = "Let me add – ünïcode ✓.";
pub(crate) const THOUGHT: &str = "Two sums.";

fn chat() -> (Value, Value) {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1763800000, "model": "gpt-5.1",
               "service_tier": "default", "system_fingerprint": null,
               "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]})
    };
    let add = |delta: Value| chunk(delta, Value::Null);
    let arguments = |index: u64, more: &str| {
        add(json!({"tool_calls": [{"index": index, "function": {"arguments": more}}]}))
    };
    let mut usage = add(json!({}));
    usage["choices"] = json!([]);
    let tokens = json!({"prompt_tokens": 35, "completion_tokens": 89, "total_tokens": 124,
                        "prompt_tokens_details": {"cached_tokens": 10, "audio_tokens": 0},
                        "completion_tokens_details": {"reasoning_tokens": 12, "audio_tokens": 0}});
    usage["usage"] = tokens.clone();
    let events = json!([
        add(json!({"role": "assistant", "content": "", "refusal": null})),
        add(json!({"reasoning_content": "Two "})),
        add(json!({"reasoning_content": "sums."})),
        add(json!({"content": "Let me "})),
        add(json!({"content": "add – ünïcode ✓."})),
        add(json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
                                   "function": {"name": "add", "arguments": ""}}]})),
        arguments(0, "{\"a\": 1"),
        add(json!({"tool_calls": [{"index": 1, "id": "call_2", "type": "function",
                                   "function": {"name": "clock", "arguments": ""}}]})),
        arguments(0, ", \"b\": 2}"),
        chunk(json!({}), json!("tool_calls")),
        usage,
    ]);
    let whole = json!({"id": "chatcmpl-1", "created": 1763800000, "model": "gpt-5.1", "service_tier": "default",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": SAID, "reasoning_content": THOUGHT, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1, \"b\": 2}"}},
                {"id": "call_2", "type": "function", "function": {"name": "clock", "arguments": ""}},
            ]}}],
        "usage": tokens});
    (events, whole)
}

fn ollama() -> (Value, Value) {
    let event = |message: Value| json!({"model": "qwen3", "created_at": "2026-11-22T21:00:00Z", "message": message, "done": false});
    let calls = json!([{"id": "call_1", "function": {"index": 0, "name": "add", "arguments": {"a": 1, "b": 2}}},
                       {"id": "call_2", "function": {"index": 1, "name": "clock", "arguments": {}}}]);
    let mut end = event(json!({"role": "assistant", "content": ""}));
    let of_end = json!({"done": true, "done_reason": "stop", "prompt_eval_count": 35, "eval_count": 89});
    end.as_object_mut().unwrap().extend(of_end.as_object().unwrap().clone());
    let events = json!([
        event(json!({"role": "assistant", "content": "", "thinking": "Two "})),
        event(json!({"role": "assistant", "content": "", "thinking": "sums."})),
        event(json!({"role": "assistant", "content": "Let me "})),
        event(json!({"role": "assistant", "content": "add – ünïcode ✓."})),
        event(json!({"role": "assistant", "content": "", "tool_calls": [calls[0]]})),
        event(json!({"role": "assistant", "content": "", "tool_calls": [calls[1]]})),
        end,
    ]);
    let mut whole = end_of(&events);
    whole["message"] =
        json!({"role": "assistant", "content": SAID, "thinking": THOUGHT, "tool_calls": calls});
    (events, whole)
}

fn end_of(events: &Value) -> Value {
    events.as_array().unwrap().last().unwrap().clone()
}

fn responses() -> (Value, Value) {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA",
                           "summary": [{"type": "summary_text", "text": THOUGHT}]});
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                         "content": [{"type": "output_text", "text": SAID, "annotations": [], "logprobs": []}]});
    let call = |number: u64, name: &str, arguments: &str, status: &str| {
        json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
               "name": name, "arguments": arguments, "status": status})
    };
    let add = call(1, "add", "{\"a\":1,\"b\":2}", "completed");
    let clock = call(2, "clock", "{}", "completed");
    let mut whole = json!({"id": "resp_1", "object": "response", "created_at": 1763800000, "status": "completed",
        "error": null, "incomplete_details": null, "instructions": null, "model": "gpt-5.1", "metadata": {},
        "parallel_tool_calls": true, "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto", "tools": [],
        "output": [reasoning, message, add, clock],
        "usage": {"input_tokens": 35, "input_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 0},
                  "output_tokens": 89, "output_tokens_details": {"reasoning_tokens": 12}, "total_tokens": 124}});
    let completed = whole.clone();
    let usage = whole["usage"].take();
    (whole["output"], whole["status"]) = (json!([]), json!("in_progress"));
    let begun = whole;
    let with = |item: &Value, changes: Value| {
        let mut item = item.clone();
        item.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        item
    };
    let text = |kind: &str, more: &str| json!({"type": kind, "item_id": "msg_1", "output_index": 1, "content_index": 0, "delta": more, "logprobs": []});
    let empty = json!({"type": "output_text", "text": "", "annotations": [], "logprobs": []});
    let summary = |more: &str| {
        json!({"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0,
               "summary_index": 0, "delta": more})
    };
    let arguments = |more: &str| json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 2, "delta": more});
    let added = |index: u64, item: Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let done = |index: u64, item: &Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    assert!(usage.is_object());
    let mut events = json!([
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        added(0, with(&reasoning, json!({"summary": []}))),
        {"type": "response.reasoning_summary_part.added", "item_id": "rs_1", "output_index": 0, "summary_index": 0,
         "part": {"type": "summary_text", "text": ""}},
        summary("Two "),
        summary("sums."),
        done(0, &reasoning),
        added(1, with(&message, json!({"status": "in_progress", "content": []}))),
        {"type": "response.content_part.added", "item_id": "msg_1", "output_index": 1, "content_index": 0, "part": empty},
        text("response.output_text.delta", "Let me "),
        text("response.output_text.delta", "add – ünïcode ✓."),
        {"type": "response.output_text.done", "item_id": "msg_1", "output_index": 1, "content_index": 0, "text": SAID,
         "logprobs": []},
        done(1, &message),
        added(2, call(1, "add", "", "in_progress")),
        arguments("{\"a\":1"),
        arguments(",\"b\":2}"),
        {"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 2, "name": "add",
         "arguments": "{\"a\":1,\"b\":2}"},
        done(2, &add),
        added(3, call(2, "clock", "", "in_progress")),
        done(3, &clock),
        {"type": "response.completed", "response": completed},
    ]);
    for (number, event) in events.as_array_mut().unwrap().iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    (events, completed)
}

fn anthropic() -> (Value, Value) {
    let usage = |output: u64| {
        json!({"input_tokens": 25, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 10,
               "output_tokens": output})
    };
    let message = |content: Value, stop: Value, output: u64| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": content,
               "stop_reason": stop, "stop_sequence": null, "usage": usage(output)})
    };
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let input =
        |index: u64, more: &str| delta(index, json!({"type": "input_json_delta", "partial_json": more}));
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let events = json!([
        {"type": "message_start", "message": message(json!([]), Value::Null, 1)},
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        {"type": "ping"},
        delta(0, json!({"type": "thinking_delta", "thinking": "Two "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "sums."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2lnbmF0dXJl"})),
        stop(0),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Let me "})),
        delta(1, json!({"type": "text_delta", "text": "add – ünïcode ✓."})),
        stop(1),
        start(2, call("toolu_1", "add", json!({}))),
        input(2, ""),
        input(2, "{\"a\": 1"),
        input(2, ", \"b\": 2}"),
        stop(2),
        start(3, call("toolu_2", "clock", json!({}))),
        input(3, ""),
        stop(3),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
         "usage": {"output_tokens": 89}},
        {"type": "message_stop"},
    ]);
    let content = json!([
        {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmF0dXJl"},
        {"type": "text", "text": SAID},
        call("toolu_1", "add", json!({"a": 1, "b": 2})),
        call("toolu_2", "clock", json!({})),
    ]);
    (events, message(content, json!("tool_use"), 89))
}

fn gemini() -> (Value, Value) {
    let event = |parts: Value, finish: Value, usage: Value| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if finish.is_string() {
            candidate["finishReason"] = finish;
        }
        json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-pro", "responseId": "r1"})
    };
    let begun = json!({"promptTokenCount": 35, "totalTokenCount": 35});
    let usage = json!({"promptTokenCount": 35, "cachedContentTokenCount": 10, "candidatesTokenCount": 77,
                       "thoughtsTokenCount": 12, "totalTokenCount": 124});
    let add = json!({"functionCall": {"id": "fc_1", "name": "add", "args": {"a": 1, "b": 2}},
                     "thoughtSignature": "c2lnbmF0dXJl"});
    let clock = json!({"functionCall": {"id": "fc_2", "name": "clock", "args": {}}});
    let more = |parts: Value| event(parts, Value::Null, begun.clone());
    let events = json!([
        more(json!([{"text": "Two ", "thought": true}])),
        more(json!([{"text": "sums.", "thought": true}])),
        more(json!([{"text": "Let me "}])),
        more(json!([{"text": "add – ünïcode ✓."}])),
        more(json!([add, clock])),
        event(json!([{"text": ""}]), json!("STOP"), usage.clone()),
    ]);
    let parts = json!([{"text": THOUGHT, "thought": true}, {"text": SAID}, add, clock]);
    (events, event(parts, json!("STOP"), usage))
}

fn bedrock() -> (Value, Value) {
    let delta = |index: u64, delta: Value| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta, "p": "abc"}});
    let stop = |index: u64| json!({"contentBlockStop": {"contentBlockIndex": index}});
    let start = |index: u64, id: &str, name: &str| json!({"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": id, "name": name}}}});
    let usage = json!({"inputTokens": 25, "cacheReadInputTokens": 10, "cacheWriteInputTokens": 0, "outputTokens": 89,
                       "totalTokens": 124});
    let events = json!([
        {"messageStart": {"role": "assistant"}},
        delta(0, json!({"reasoningContent": {"text": "Two "}})),
        delta(0, json!({"reasoningContent": {"text": "sums."}})),
        delta(0, json!({"reasoningContent": {"signature": "c2lnbmF0dXJl"}})),
        stop(0),
        delta(1, json!({"text": "Let me "})),
        delta(1, json!({"text": "add – ünïcode ✓."})),
        stop(1),
        start(2, "tooluse_1", "add"),
        delta(2, json!({"toolUse": {"input": "{\"a\": 1"}})),
        delta(2, json!({"toolUse": {"input": ", \"b\": 2}"}})),
        stop(2),
        start(3, "tooluse_2", "clock"),
        delta(3, json!({"toolUse": {"input": ""}})),
        stop(3),
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": usage, "metrics": {"latencyMs": 900}}},
    ]);
    let content = json!([
        {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "c2lnbmF0dXJl"}}},
        {"text": SAID},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "add", "input": {"a": 1, "b": 2}}},
        {"toolUse": {"toolUseId": "tooluse_2", "name": "clock", "input": {}}},
    ]);
    let whole = json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use",
                       "usage": usage, "metrics": {"latencyMs": 900}});
    (events, whole)
}
