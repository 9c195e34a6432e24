//! OpenAI Responses.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_kernel::schema::dialect::{Dialect, OPENAI};
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::spec::hints::Callers;

use super::ToolResultOptions;
use super::calls::{Item, ParsedCall, text};
use super::content::{self, Media, TEXT_ONLY};
use super::format::{Conversation, Format};
use super::ids::Id;
use super::layout::{Layout, ResponseEnd, StopReason};
use super::openai_chat::custom_tool_arguments;
use super::plan::PlanOptions;
use super::properties::{Property, ToolProperties, move_input_to_description, text_format};
use super::request::Request;
use super::tools::{name_and_description, object};
use super::turn::{Usage, count};

pub(super) static FORMAT: Format = Format {
    name: "openai-responses",
    dialect: &OPENAI,
    ids_optional: false,
    layout: Layout {
        title: "OpenAI Responses",
        path: &["output"],
        is_block: |item| item.get("type").is_some_and(Value::is_string),
        is_piece,
        ending,
        ..Layout::EMPTY
    },
    item,
    answer: tool_result,
    message: "",
    tool,
    properties: &[Property::Callers, Property::OutputSchema, Property::InputFormat],
    set_properties,
    arrange,
    usage,
    assemble: super::stream::openai_responses::assemble,
    conversation: Some(Conversation {
        user: |text| json!({ "role": "user", "content": text }),
        model,
        request,
        policy: |policy| {
            policy.of_openai(
                |kind, name| json!({ "type": kind, "name": name }),
                |tools| json!({ "type": "allowed_tools", "mode": "required", "tools": tools }),
            )
        },
    }),
    ..Format::EMPTY
};

fn ending(response: &Value) -> ResponseEnd<'_> {
    let cause = response.get("incomplete_details").map(|details| text(details, "reason"));
    let (status, cause) = (text(response, "status"), cause.unwrap_or_default());
    let word = if cause.is_empty() { status } else { cause };
    let stop = match (status, cause) {
        (_, "max_output_tokens") => StopReason::MaxTokens,
        (_, "content_filter") => StopReason::Refused,
        ("failed" | "cancelled" | "incomplete", "") => StopReason::Failed,
        ("completed", "") => StopReason::EndTurn,
        (_, "") => StopReason::Unknown,
        (_, _) => StopReason::Failed,
    };
    ResponseEnd { stop, word }
}

fn usage(response: &Value) -> Usage {
    let tokens = |key: &str| count(response, &format!("/usage/{key}"));
    let (cached, reasoning) =
        (tokens("input_tokens_details/cached_tokens"), tokens("output_tokens_details/reasoning_tokens"));
    Usage::new(tokens("input_tokens"), tokens("output_tokens"), cached, reasoning)
}

/// Joins the text of a list of parts, such as the parts of a message or of a summary.
fn join_texts<'v>(item: &'v Value, lists: &[&str], keys: &[&str]) -> Cow<'v, str> {
    let lists = lists.iter().filter_map(|list| item.get(list)?.as_array()).flatten();
    let mut texts = lists.filter_map(|part| keys.iter().find_map(|key| part.get(key)?.as_str()));
    match (texts.next(), texts.next()) {
        (None, _) => "".into(),
        (Some(single), None) => single.into(),
        (Some(first), Some(second)) => {
            [first, second].into_iter().chain(texts).collect::<Vec<_>>().concat().into()
        }
    }
}

fn model(text: &str, calls: &[ToolCall]) -> Vec<Value> {
    let message = (!text.trim().is_empty()).then(|| json!({ "role": "assistant", "content": text }));
    let calls = calls.iter().map(|call| {
        let arguments = call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned);
        let (id, name) = (call.id.as_str(), call.name.as_str());
        json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments })
    });
    message.into_iter().chain(calls).collect()
}

fn request(request: Request<'_>) -> Value {
    Request::body([
        ("model", request.model.into()),
        ("instructions", request.system.into()),
        ("input", Value::Array(request.messages)),
        ("tools", request.tools),
        ("stream", if request.stream { Value::Bool(true) } else { Value::Null }),
    ])
}

/// Whether the value is a stream event, or a response that is still in progress.
fn is_piece(value: &Value) -> bool {
    let is_unfinished = matches!(text(value, "status"), "in_progress" | "queued");
    match text(value, "type") {
        "" => is_unfinished && value.get("output").is_some(),
        kind => kind.starts_with("response."),
    }
}

fn item(item: &Value) -> Item<'_> {
    let is_incomplete = matches!(text(item, "status"), "incomplete" | "in_progress");
    let call = ParsedCall::of(item, "call_id", "/call_id", "arguments");
    let call = call.by_program(item, "caller_id").cut_if(is_incomplete);
    match text(item, "type") {
        "function_call" => Item::Call(call),
        "custom_tool_call" => {
            Item::Call(ParsedCall { kind: Id::Custom, arguments: custom_tool_arguments(item), ..call })
        }
        "message" => Item::Text(join_texts(item, &["content"], &["text", "refusal"])),
        "reasoning" => Item::Thinking(join_texts(item, &["summary", "content"], &["text"])),
        kind @ ("computer_call" | "local_shell_call" | "shell_call" | "apply_patch_call") => {
            Item::Foreign(kind)
        }
        // Other items are not calls, or the vendor runs them.
        _ => Item::Skip,
    }
}

fn tool_result(response: &ToolResponse, options: &ToolResultOptions<'_>) -> Value {
    let text_only_reason = options.text_only.then_some(TEXT_ONLY);
    let (text_output, media) = content::text_and_media(response, text_only_reason, media);
    let message = content::flagged_text(response, text_output);
    let output = if let Some(value) = content::for_program(response) {
        Value::String(value)
    } else if media.is_empty() {
        Value::String(message)
    } else {
        let text = (!message.is_empty()).then(|| json!({ "type": "input_text", "text": message }));
        text.into_iter().chain(media).collect()
    };
    let (kind, id) = match Id::of(&response.id) {
        (Id::Custom, id) => ("custom_tool_call_output", id),
        (_, id) => ("function_call_output", id),
    };
    let mut out = object([("type", kind.into()), ("call_id", id.into()), ("output", output)]);
    if let Some(program) = &response.program {
        out["caller"] = json!({ "type": "program", "caller_id": program.as_str() });
    }
    out
}

fn media(media: &Media<'_>) -> Option<Value> {
    if media.is_image() {
        return Some(json!({ "type": "input_image", "image_url": media.data_url() }));
    }
    media.is_pdf().then(|| {
        let name = media.file_name();
        let name = if name.is_empty() { "document.pdf" } else { name };
        json!({ "type": "input_file", "filename": name, "file_data": media.data_url() })
    })
}

fn tool(spec: &ToolSpec, schema: Value, dialect: &Dialect) -> Value {
    let mut tool = object([("type", "function".into())]);
    if let (Value::Object(tool), Value::Object(by_name)) = (&mut tool, name_and_description(spec)) {
        tool.extend(by_name);
    }
    // Without the key, the server makes the schema strict, and a model has to invent optional values.
    tool["parameters"] = schema;
    tool["strict"] = Value::Bool(dialect.strict);
    tool
}

fn set_properties(tool: &mut Value, properties: ToolProperties) {
    // The default is `direct`.
    match properties.callers {
        Some(Callers::Programs) => tool["allowed_callers"] = json!(["programmatic"]),
        Some(Callers::Both) => tool["allowed_callers"] = json!(["direct", "programmatic"]),
        Some(Callers::Model) | None => {}
    }
    if let Some(schema) = properties.output_schema {
        tool["output_schema"] = schema;
    }
    if let (Some(format), Value::Object(members)) = (properties.input_format, tool) {
        move_input_to_description(members);
        members.shift_remove("strict");
        members.insert("type".into(), "custom".into());
        members.insert("format".into(), text_format(&format, grammar));
    }
}

/// Returns the format of a custom tool with a grammar, whose members are next to its type.
fn grammar(mut grammar: Value) -> Value {
    grammar["type"] = "grammar".into();
    grammar
}

fn arrange(tools: Vec<Value>, options: &PlanOptions) -> Vec<Value> {
    let runs_programs = tools.iter().any(|tool| tool.get("allowed_callers").is_some());
    let mut tools = match &options.deferred {
        Some(deferred) => deferred.responses(tools),
        None => tools,
    };
    if runs_programs && options.vendor_tool_of("programmatic_tool_calling").is_none() {
        tools.insert(0, json!({ "type": "programmatic_tool_calling" }));
    }
    tools
}
