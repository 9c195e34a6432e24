//! Anthropic Messages.

use serde_json::{Value, json};
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_kernel::schema::dialect::{ANTHROPIC, Dialect};
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::spec::hints::Callers;

use super::ToolResultOptions;
use super::calls::{Item, ParsedCall, arguments, text};
use super::content::{self, Media};
use super::format::{Conversation, Format};
use super::layout::{Layout, ResponseEnd, StopReason};
use super::plan::{CacheTtl, PlanOptions};
use super::properties::{Property, ToolProperties};
use super::request::{CallPolicy, NO_ANY_OF, Request, ToolChoice};
use super::tools::{self, object};
use super::turn::{Usage, count};

pub(super) static FORMAT: Format = Format {
    name: "anthropic",
    dialect: &ANTHROPIC,
    ids_optional: false,
    layout: Layout {
        title: "Anthropic Messages",
        path: &["content"],
        is_block: |block| !matches!(text(block, "type"), "" | "message" | "error"),
        is_piece,
        ending,
        ..Layout::EMPTY
    },
    item,
    answer: tool_result,
    message: "content",
    tool,
    properties: &[Property::Examples, Property::Callers, Property::EagerInput],
    set_properties,
    strict_programs: false,
    arrange,
    beside: |message| message.get("content").and_then(Value::as_str).map(single_text).into_iter().collect(),
    usage,
    keep: |message, blocks| keep(message, blocks, "content"),
    carry: |message| match message.pointer("/container/id") {
        // The form that merges with the skills of a container in the options of a model.
        Some(id) => json!({ "container": { "id": id } }),
        None => Value::Null,
    },
    assemble: super::stream::anthropic::assemble,
    conversation: Some(Conversation {
        user: |text| json!({ "type": "text", "text": text }),
        model,
        request,
        policy,
    }),
    ..Format::EMPTY
};

fn ending(message: &Value) -> ResponseEnd<'_> {
    let word = text(message, "stop_reason");
    let stop = match word {
        "" => StopReason::Unknown,
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolCalls,
        "pause_turn" => StopReason::Paused,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refused,
        _ => StopReason::Failed,
    };
    ResponseEnd { stop, word }
}

/// Returns the content of a message whose content is a single string.
fn single_text(text: &str) -> (&'static str, Item<'_>) {
    ("text", Item::Text(text.into()))
}

/// Reads the token counts. Anthropic counts cached tokens separately.
fn usage(message: &Value) -> Usage {
    let tokens = |key: &str| count(message, &format!("/usage/{key}"));
    let cached = tokens("cache_read_input_tokens");
    let input =
        tokens("input_tokens").saturating_add(cached).saturating_add(tokens("cache_creation_input_tokens"));
    Usage::new(input, tokens("output_tokens"), cached, tokens("output_tokens_details/thinking_tokens"))
}

/// Returns an assistant message with its blocks under a key, or no message if there are no blocks. Some content of
/// replies is rejected when it is sent back: text without visible characters, and arguments that are not an object.
pub(super) fn keep(message: &Value, blocks: &[Value], key: &str) -> Vec<Value> {
    let content = match message.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Value::from(text.as_str()),
        _ => blocks.iter().filter(|block| !is_blank(block)).map(with_object_input).collect(),
    };
    if content.as_array().is_some_and(Vec::is_empty) {
        return Vec::new();
    }
    vec![object([("role", "assistant".into()), (key, content)])]
}

fn is_blank(block: &Value) -> bool {
    // Text blocks of Bedrock have no type.
    let is_text = matches!(text(block, "type"), "" | "text");
    is_text && block.get("text").and_then(Value::as_str).is_some_and(|text| text.trim().is_empty())
}

/// Returns a block whose arguments are an object. Anthropic documents this form for arguments that are not valid JSON.
fn with_object_input(block: &Value) -> Value {
    let mut block = block.clone();
    let call = if block.get("toolUse").is_some() { &mut block["toolUse"] } else { &mut block };
    if let Some(input) = call.get_mut("input").filter(|input| !input.is_object()) {
        *input = match input.take() {
            Value::Null => json!({}),
            invalid => json!({ "INVALID_JSON": invalid }),
        };
    }
    block
}

fn model(message: &str, calls: &[ToolCall]) -> Vec<Value> {
    let text = (!message.trim().is_empty()).then(|| json!({ "type": "text", "text": message }));
    let calls = calls.iter().map(|call| {
        let (id, input) = (call.id.as_str(), arguments(call));
        object([
            ("type", "tool_use".into()),
            ("id", id.into()),
            ("name", call.name.as_str().into()),
            ("input", input),
        ])
    });
    let content: Vec<Value> = text.into_iter().chain(calls).collect();
    keep(&Value::Null, &content, "content")
}

/// Default for the maximum number of output tokens. Anthropic requires a value.
const MAX_TOKENS: u64 = 4096;

fn request(request: Request<'_>) -> Value {
    Request::body([
        ("model", request.model.into()),
        ("max_tokens", MAX_TOKENS.into()),
        ("system", request.system.into()),
        ("tools", request.tools),
        ("messages", Value::Array(request.messages)),
        ("stream", if request.stream { Value::Bool(true) } else { Value::Null }),
    ])
}

fn is_piece(event: &Value) -> bool {
    let kind = text(event, "type");
    kind.starts_with("content_block_") || kind.starts_with("message_")
}

fn item(block: &Value) -> Item<'_> {
    match text(block, "type") {
        "tool_use" => Item::Call(ParsedCall::of(block, "id", "/id", "input").by_program(block, "tool_id")),
        "text" => Item::Text(text(block, "text").into()),
        "thinking" => Item::Thinking(text(block, "thinking").into()),
        // The vendor runs `server_tool_use` and `mcp_tool_use`.
        _ => Item::Skip,
    }
}

fn tool_result(response: &ToolResponse, options: &ToolResultOptions<'_>) -> Value {
    let is_error = response.is_error();
    if let Some(value) = content::for_program(response) {
        return json!({ "type": "tool_result", "tool_use_id": response.id.as_str(), "content": value });
    }
    let text_only_reason = content::text_only_reason(response, options);
    let mut blocks =
        content::blocks(response, text_only_reason, |text| json!({ "type": "text", "text": text }), media);
    let content = match (references(response, options), blocks.as_mut_slice()) {
        (Some(references), _) => references,
        (None, [single]) if single["type"] == "text" => single["text"].take(),
        _ => Value::Array(blocks),
    };
    let (kind, id) = ("tool_result".into(), response.id.as_str().into());
    let mut out = object([("type", kind), ("tool_use_id", id), ("content", content)]);
    if is_error {
        out["is_error"] = Value::Bool(true);
    }
    out
}

/// Returns references to the tools that a search tool found. No other content is allowed next to them: the vendor
/// shows the tools to the model.
fn references(response: &ToolResponse, options: &ToolResultOptions<'_>) -> Option<Value> {
    if response.is_error() || options.search != Some(response.name.as_str()) {
        return None;
    }
    let tools = response.outcome.as_ref().ok()?.details.get("tools")?.as_array()?;
    let by_name = tools.iter().filter_map(|tool| tool.get("name").filter(|name| name.is_string()));
    let reference = |name: &Value| object([("type", "tool_reference".into()), ("tool_name", name.clone())]);
    let references: Vec<Value> = by_name.map(reference).collect();
    (!references.is_empty()).then_some(Value::Array(references))
}

fn media(media: &Media<'_>) -> Option<Value> {
    let kind = if media.is_image() {
        "image"
    } else if media.is_pdf() {
        "document"
    } else {
        return None;
    };
    let source = json!({ "type": "base64", "media_type": media.mime_type, "data": media.data });
    Some(object([("type", kind.into()), ("source", source)]))
}

fn tool(spec: &ToolSpec, schema: Value, dialect: &Dialect) -> Value {
    tools::named_tool(spec, "input_schema", schema, dialect)
}

/// The tool that runs programs of the model (anthropic-sdk-python 2.14.0, `code_execution_tool_20260521_param.py`).
const CODE_EXECUTION: &str = "code_execution_20260521";

fn set_properties(tool: &mut Value, properties: ToolProperties) {
    if !properties.examples.is_empty() {
        tool["input_examples"] = Value::Array(properties.examples);
    }
    // The default is `direct`.
    match properties.callers {
        Some(Callers::Programs) => tool["allowed_callers"] = json!([CODE_EXECUTION]),
        Some(Callers::Both) => tool["allowed_callers"] = json!(["direct", CODE_EXECUTION]),
        Some(Callers::Model) | None => {}
    }
    // A program cannot call a strict tool.
    if let (true, Value::Object(members)) = (tool.get("allowed_callers").is_some(), &mut *tool) {
        members.shift_remove("strict");
    }
    if properties.eager_input {
        tool["eager_input_streaming"] = true.into();
    }
}

/// Lets another version of the tool that runs programs call a tool.
fn rename_caller(tool: &mut Value, version: &str) {
    let callers = tool.get_mut("allowed_callers").and_then(Value::as_array_mut);
    for caller in callers.into_iter().flatten().filter(|caller| **caller == CODE_EXECUTION) {
        *caller = version.into();
    }
}

fn arrange(tools: Vec<Value>, options: &PlanOptions) -> Vec<Value> {
    let mut tools = match &options.deferred {
        Some(deferred) => deferred.anthropic(tools),
        None => tools,
    };
    if tools.iter().any(|tool| tool.get("allowed_callers").is_some()) {
        match options.vendor_tool_of("code_execution_") {
            None => tools.insert(0, json!({ "type": CODE_EXECUTION, "name": "code_execution" })),
            Some(version) => tools.iter_mut().for_each(|tool| rename_caller(tool, version)),
        }
    }
    // A deferred tool cannot be a cache point.
    let last = tools.iter_mut().rfind(|tool| tool.get("defer_loading") != Some(&Value::Bool(true)));
    if let (Some(ttl), Some(tool)) = (options.cache, last) {
        tool["cache_control"] = match ttl {
            CacheTtl::FiveMinutes => json!({ "type": "ephemeral" }),
            CacheTtl::OneHour => json!({ "type": "ephemeral", "ttl": "1h" }),
        };
    }
    tools
}

fn policy(policy: CallPolicy<'_>) -> Result<Value, &'static str> {
    let mut choice = match policy.choice {
        None | Some(ToolChoice::Auto | ToolChoice::Validated) => json!({ "type": "auto" }),
        Some(ToolChoice::None) => json!({ "type": "none" }),
        Some(ToolChoice::Required) => json!({ "type": "any" }),
        Some(ToolChoice::Tool(name)) => json!({ "type": "tool", "name": name.as_str() }),
        Some(ToolChoice::AnyOf(_)) => return Err(NO_ANY_OF),
    };
    if policy.parallel == Some(false) && policy.runs_programs() {
        return Err("cannot forbid parallel calls where programs call tools");
    }
    if let Some(ToolChoice::Tool(name)) = policy.choice
        && policy
            .tool(name)
            .and_then(|tool| tool.get("allowed_callers")?.as_array())
            .is_some_and(|callers| callers.iter().all(|caller| *caller != "direct"))
    {
        return Err("cannot require a tool that only programs may call");
    }
    if let (Some(parallel), false) = (policy.parallel, policy.choice == Some(&ToolChoice::None)) {
        choice["disable_parallel_tool_use"] = Value::Bool(!parallel);
    }
    Ok(json!({ "tool_choice": choice }))
}
