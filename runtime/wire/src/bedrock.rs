//! Amazon Bedrock Converse.

use serde_json::{Value, json};
use toolgen_kernel::base::sha256::sha256;
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_kernel::schema::dialect::{BEDROCK, Dialect};
use toolgen_kernel::spec::ToolSpec;

use super::calls::{Item, ParsedCall, arguments, text};
use super::content::{self, Media, MediaKind};
use super::format::{Conversation, Format};
use super::layout::{Layout, ResponseEnd, StopReason};
use super::plan::{CacheTtl, PlanOptions};
use super::request::{CallPolicy, NO_ANY_OF, Request, ToolChoice, parts};
use super::tools::{self, object};
use super::turn::{Usage, count};
use super::{ToolResultOptions, anthropic};

pub(super) static FORMAT: Format = Format {
    name: "bedrock",
    // Bedrock has few schema rules; each model has the rules of its own vendor. The rules of Claude are the narrowest
    // rules that can still express a whole schema.
    dialect: &BEDROCK,
    ids_optional: false,
    layout: Layout {
        title: "Bedrock Converse",
        path: &["output", "message", "content"],
        is_block: |block| block.get("toolUse").is_some(),
        is_piece: |event| EVENTS.iter().any(|key| event.get(key).is_some()),
        ending,
        ..Layout::EMPTY
    },
    item,
    answer: tool_result,
    message: "content",
    tool,
    arrange,
    list: |tools| object([("tools", Value::Array(tools))]),
    usage,
    keep: |message, blocks| anthropic::keep(message, blocks, "content"),
    assemble: super::stream::bedrock::assemble,
    conversation: Some(Conversation { user: |text| json!({ "text": text }), model, request, policy }),
    ..Format::EMPTY
};

/// The keys of the events of `ConverseStream`.
const EVENTS: [&str; 5] =
    ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"];

fn ending(response: &Value) -> ResponseEnd<'_> {
    let word = text(response, "stopReason");
    let stop = match word {
        "" => StopReason::Unknown,
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "guardrail_intervened" | "content_filtered" => StopReason::Refused,
        _ => StopReason::Failed,
    };
    ResponseEnd { stop, word }
}

/// Reads the token counts. Bedrock counts cached tokens separately.
fn usage(response: &Value) -> Usage {
    let tokens = |key: &str| count(response, &format!("/usage/{key}"));
    let cached = tokens("cacheReadInputTokens");
    let input = tokens("inputTokens").saturating_add(cached).saturating_add(tokens("cacheWriteInputTokens"));
    Usage::new(input, tokens("outputTokens"), cached, 0)
}

fn model(message: &str, calls: &[ToolCall]) -> Vec<Value> {
    let text = (!message.trim().is_empty()).then(|| json!({ "text": message }));
    let calls = calls.iter().map(|call| {
        let (id, name) = (call.id.as_str().into(), call.name.as_str().into());
        object([("toolUse", object([("toolUseId", id), ("name", name), ("input", arguments(call))]))])
    });
    let content: Vec<Value> = text.into_iter().chain(calls).collect();
    anthropic::keep(&Value::Null, &content, "content")
}

fn request(request: Request<'_>) -> Value {
    // `tools` is already a tool configuration; Bedrock rejects one without tools.
    let tools = if request.tools.get("tools").is_some_and(|tools| *tools == json!([])) {
        Value::Null
    } else {
        request.tools
    };
    Request::body([
        ("system", parts(request.system)),
        ("toolConfig", tools),
        ("messages", Value::Array(request.messages)),
    ])
}

fn item(block: &Value) -> Item<'_> {
    let Some(call) = block.get("toolUse").filter(|call| !call.is_null()) else {
        let cited = block.pointer("/citationsContent/content/0/text");
        return match (block.get("text").or(cited), block.pointer("/reasoningContent/reasoningText")) {
            (Some(Value::String(message)), _) => Item::Text(message.into()),
            (_, Some(thought)) => Item::Thinking(text(thought, "text").into()),
            _ => Item::Skip,
        };
    };
    // The vendor runs `server_tool_use`.
    if !text(call, "type").is_empty() {
        return Item::Skip;
    }
    Item::Call(ParsedCall::of(call, "toolUseId", "/toolUse/toolUseId", "input"))
}

fn tool_result(response: &ToolResponse, options: &ToolResultOptions<'_>) -> Value {
    let is_error = response.is_error();
    let text_only_reason = content::text_only_reason(response, options);
    let mut content = content::blocks(response, text_only_reason, |text| json!({ "text": text }), media);
    let documents = content.iter_mut().filter_map(|block| block.get_mut("document"));
    for (index, document) in documents.enumerate() {
        document["name"] = document_name(&response.id, index).into();
    }
    let id = response.id.as_str().into();
    let mut out = object([("toolUseId", id), ("content", Value::Array(content))]);
    // Success is the default, and some models reject the key.
    if is_error {
        out["status"] = Value::from("error");
    }
    object([("toolResult", out)])
}

/// The formats of documents, by media type.
const DOCUMENT_FORMATS: &[(&str, &str)] = &[
    ("application/pdf", "pdf"),
    ("application/msword", "doc"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
];

fn media(media: &Media<'_>) -> Option<Value> {
    if media.is_image() {
        let format = media.mime_type.trim_start_matches("image/");
        return Some(json!({ "image": { "format": format, "source": { "bytes": media.data } } }));
    }
    if media.kind != MediaKind::Resource {
        return None;
    }
    let (_, format) = DOCUMENT_FORMATS.iter().find(|(mime_type, _)| media.mime_type == *mime_type)?;
    Some(json!({ "document": { "format": format, "name": "", "source": { "bytes": media.data } } }))
}

/// Returns a unique document name: Bedrock rejects duplicate names in a conversation. The name consists of letters,
/// digits and hyphens and has no meaning, because a model may treat a name as an instruction.
fn document_name(id: &str, index: usize) -> String {
    format!("document-{:.16}-{}", sha256(id.as_bytes()), index + 1)
}

fn tool(spec: &ToolSpec, schema: Value, dialect: &Dialect) -> Value {
    let schema = object([("json", schema)]);
    object([("toolSpec", tools::named_tool(spec, "inputSchema", schema, dialect))])
}

fn arrange(mut tools: Vec<Value>, options: &PlanOptions) -> Vec<Value> {
    if let (Some(ttl), false) = (options.cache, tools.is_empty()) {
        tools.push(match ttl {
            CacheTtl::FiveMinutes => json!({ "cachePoint": { "type": "default" } }),
            CacheTtl::OneHour => json!({ "cachePoint": { "type": "default", "ttl": "1h" } }),
        });
    }
    tools
}

fn policy(policy: CallPolicy<'_>) -> Result<Value, &'static str> {
    if policy.parallel.is_some() {
        return Err(
            "has no parameter for parallel calls; that of a model goes into `additionalModelRequestFields`",
        );
    }
    let choice = match policy.choice {
        None => return Ok(Value::Null),
        Some(ToolChoice::Auto | ToolChoice::Validated) => json!({ "auto": {} }),
        Some(ToolChoice::Required) => json!({ "any": {} }),
        Some(ToolChoice::Tool(name)) => json!({ "tool": { "name": name.as_str() } }),
        Some(ToolChoice::None) => return Err("cannot forbid calls; offer no tools"),
        Some(ToolChoice::AnyOf(_)) => return Err(NO_ANY_OF),
    };
    Ok(json!({ "toolConfig": { "toolChoice": choice } }))
}
