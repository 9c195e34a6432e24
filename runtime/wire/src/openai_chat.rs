//! OpenAI Chat Completions.
//!
//! Compatible hosts are supported: a response that is only a message, arguments as an object, and calls without IDs,
//! whose results contain the name of the tool instead, as in Ollama. The `function_call` of OpenAI's first models is
//! supported as well.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolgen_kernel::call::blocked::Blocked;
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_kernel::schema::dialect::{Dialect, OPENAI};
use toolgen_kernel::spec::ToolSpec;

use super::ToolResultOptions;
use super::calls::{Item, ParsedCall, text, text_id};
use super::content::{self, TEXT_ONLY};
use super::format::{Conversation, Format};
use super::ids::{Id, is_generated};
use super::layout::{Layout, ResponseEnd, StopReason};
use super::properties::{Property, ToolProperties, move_input_to_description, text_format};
use super::request::Request;
use super::stream::openai_chat::{THOUGHTS, assemble};
use super::tools::{self, object};
use super::turn::{Usage, count};

pub(super) static FORMAT: Format = Format {
    name: "openai-chat",
    dialect: &OPENAI,
    ids_optional: true,
    layout: Layout {
        title: "OpenAI Chat Completions",
        path: &["choices", "0", "message", "tool_calls"],
        message: &["content", "role", "function_call"],
        lone: "function_call",
        is_block: |call| call.get("function").is_some() || call.get("custom").is_some(),
        is_piece,
        ending,
        ..Layout::EMPTY
    },
    item,
    answer: tool_result,
    message: "",
    tool,
    properties: &[Property::InputFormat],
    set_properties,
    beside,
    usage,
    keep,
    assemble,
    conversation: Some(Conversation {
        user: |text| json!({ "role": "user", "content": text }),
        model,
        request,
        policy: |policy| {
            policy.of_openai(
                |kind, name| json!({ "type": kind, kind: { "name": name } }),
                |tools| {
                    let allowed = json!({ "mode": "required", "tools": tools });
                    json!({ "type": "allowed_tools", "allowed_tools": allowed })
                },
            )
        },
    }),
    ..Format::EMPTY
};

fn ending(choice: &Value) -> ResponseEnd<'_> {
    // Ollama uses `done_reason`; Mistral has a second limit.
    let reasons = ["finish_reason", "done_reason"].map(|key| text(choice, key));
    let stop_reason = |word: &str| match word {
        "" => StopReason::Unknown,
        "length" | "model_length" => StopReason::MaxTokens,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        word => STOP_PREFIXES
            .iter()
            .find(|(prefix, _)| word.starts_with(prefix))
            .map_or(StopReason::EndTurn, |(_, stop)| *stop),
    };
    let [first, second] = reasons.map(|word| ResponseEnd { stop: stop_reason(word), word });
    // A compatible host may send both.
    if first.stop == StopReason::Unknown || (second.stop.is_early() && !first.stop.is_truncated()) {
        second
    } else {
        first
    }
}

/// The prefixes of finish reasons that mean the model was stopped. Many hosts have their own terms for other endings,
/// so all other reasons count as the model's own. `content_filter` is OpenAI's, `function_call_filter` Gemini's in
/// this format, `error` is used by Mistral and OpenRouter, `sensitive` and `network_error` by Zhipu, and
/// `insufficient_system_resource` by DeepSeek.
const STOP_PREFIXES: [(&str, StopReason); 6] = [
    ("content_filter", StopReason::Refused),
    ("function_call_filter", StopReason::Refused),
    ("error", StopReason::Failed),
    ("sensitive", StopReason::Refused),
    ("network_error", StopReason::Failed),
    ("insufficient_system_resource", StopReason::Failed),
];

/// Returns the content of a message other than its calls: text or parts, a refusal, and the reasoning that many hosts
/// show.
fn beside(message: &Value) -> Vec<(&'static str, Item<'_>)> {
    let mut items = Vec::new();
    for key in THOUGHTS {
        if let Some(Value::String(thought)) = message.get(key).filter(|thought| **thought != "") {
            items.push((key, Item::Thinking(thought.into())));
        }
    }
    match message.get("content") {
        Some(Value::String(reply)) => items.push(("text", Item::Text(reply.into()))),
        Some(Value::Array(parts)) => items.extend(parts.iter().map(part)),
        _ => {}
    }
    if let Some(Value::String(refusal)) = message.get("refusal") {
        items.push(("refusal", Item::Text(refusal.into())));
    }
    items
}

/// Parses a part of a message in the form of Mistral.
fn part(part: &Value) -> (&'static str, Item<'_>) {
    match text(part, "type") {
        "text" => ("text", Item::Text(text(part, "text").into())),
        "thinking" => {
            let thoughts = part.get("thinking").and_then(Value::as_array).into_iter().flatten();
            ("thinking", Item::Thinking(thoughts.map(|thought| text(thought, "text")).collect()))
        }
        _ => ("part", Item::Skip),
    }
}

/// Reads the token counts; the second names are Ollama's.
fn usage(response: &Value) -> Usage {
    let tokens = |key: &str| count(response, &format!("/usage/{key}"));
    Usage::new(
        tokens("prompt_tokens").max(count(response, "/prompt_eval_count")),
        tokens("completion_tokens").max(count(response, "/eval_count")),
        tokens("prompt_tokens_details/cached_tokens"),
        tokens("completion_tokens_details/reasoning_tokens"),
    )
}

fn keep(message: &Value, calls: &[Value]) -> Vec<Value> {
    if !message.is_object() {
        return if calls.is_empty() {
            Vec::new()
        } else {
            vec![json!({ "role": "assistant", "tool_calls": calls })]
        };
    }
    // A message without any of these is rejected.
    let has_content = ["content", "tool_calls", "function_call", "refusal", "audio"].into_iter().any(|key| {
        message.get(key).is_some_and(|value| !value.is_null() && *value != "" && *value != json!([]))
    });
    if has_content { vec![message.clone()] } else { Vec::new() }
}

fn model(text: &str, calls: &[ToolCall]) -> Vec<Value> {
    let calls = calls.iter().map(|call| {
        let arguments = call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned);
        let function = json!({ "name": call.name.as_str(), "arguments": arguments });
        json!({ "id": call.id.as_str(), "type": "function", "function": function })
    });
    let calls: Vec<Value> = calls.collect();
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    keep(&message, &[])
}

fn request(request: Request<'_>) -> Value {
    let system = (!request.system.is_empty()).then(|| json!({ "role": "system", "content": request.system }));
    let messages: Vec<Value> = system.into_iter().chain(request.messages).collect();
    let (stream, options) = match request.stream {
        true => (Value::Bool(true), json!({ "include_usage": true })),
        false => (Value::Null, Value::Null),
    };
    Request::body([
        ("model", request.model.into()),
        ("messages", messages.into()),
        ("tools", request.tools),
        ("stream", stream),
        ("stream_options", options),
    ])
}

fn is_piece(chunk: &Value) -> bool {
    text(chunk, "object") == "chat.completion.chunk" || chunk.pointer("/choices/0/delta").is_some()
}

fn item(block: &Value) -> Item<'_> {
    let kind = text(block, "type");
    // The legacy `function_call` of a message has neither.
    if kind.is_empty() && block.get("function").is_none() {
        return Item::Call(ParsedCall {
            kind: Id::Function,
            ..ParsedCall::of(block, "id", "/id", "arguments")
        });
    }
    let id = text_id(block, "id");
    if let Some(custom) = block.get("custom") {
        return Item::Call(ParsedCall {
            id,
            arguments: custom_tool_arguments(custom),
            ..ParsedCall::of(custom, "", "/id", "")
        });
    }
    let function = block.get("function").unwrap_or(&Value::Null);
    let mut call = ParsedCall { id, ..ParsedCall::of(function, "", "/id", "arguments") };
    if function.is_null() && kind != "function" {
        call.blocked = Some(Blocked::Malformed(format!("unknown kind of call: `{kind}`").into()));
    }
    Item::Call(call)
}

/// Returns the arguments of a call of a custom tool, whose input is a single string.
pub(super) fn custom_tool_arguments(call: &Value) -> Option<Cow<'_, Value>> {
    Some(Cow::Owned(json!({ "input": call.get("input") })))
}

fn tool_result(response: &ToolResponse, _: &ToolResultOptions<'_>) -> Value {
    let (text_output, _) = content::text_and_media(response, Some(TEXT_ONLY), |_| None);
    let message = content::flagged_text(response, text_output);
    let (role, key, name) = match Id::of(&response.id) {
        (Id::Function, _) => ("function", "name", &response.name),
        _ if is_generated(&response.id) => ("tool", "tool_name", &response.name),
        _ => ("tool", "tool_call_id", &response.id),
    };
    json!({ "role": role, key: name.as_str(), "content": message })
}

fn tool(spec: &ToolSpec, schema: Value, dialect: &Dialect) -> Value {
    let function = tools::named_tool(spec, "parameters", schema, dialect);
    object([("type", "function".into()), ("function", function)])
}

fn set_properties(tool: &mut Value, properties: ToolProperties) {
    if let Some(format) = properties.input_format
        && let Some(Value::Object(mut custom)) = tool.get_mut("function").map(Value::take)
    {
        move_input_to_description(&mut custom);
        custom.shift_remove("strict");
        custom.insert("format".into(), text_format(&format, grammar));
        *tool = object([("type", "custom".into()), ("custom", Value::Object(custom))]);
    }
}

/// Returns the format of a custom tool with a grammar, which is an object of its own.
fn grammar(grammar: Value) -> Value {
    object([("type", "grammar".into()), ("grammar", grammar)])
}
