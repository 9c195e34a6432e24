//! Google Gemini, `generateContent`.
//!
//! The wire format uses names such as `functionCall`; Python programs use `function_call`. Both are accepted.

use serde_json::{Value, json};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_kernel::schema::dialect::{Dialect, GEMINI, Nulls};
use toolgen_kernel::spec::ToolSpec;

use super::calls::{Item, ParsedCall, arguments, text};
use super::content::{self, IMAGES, Media, MediaKind, TEXT_ONLY};
use super::format::{Conversation, Format};
use super::layout::{Layout, ResponseEnd, StopReason};
use super::properties::Property;
use super::request::{CallPolicy, Request, ToolChoice, parts};
use super::tools::{name_and_description, object};
use super::turn::{Usage, count};
use super::{ToolResultOptions, is_generated};

pub(super) static FORMAT: Format = Format {
    name: "gemini",
    dialect: &GEMINI,
    ids_optional: true,
    layout: Layout {
        title: "Gemini",
        path: &["candidates", "0", "content", "parts"],
        // A candidate that was stopped has no content.
        optional: "content",
        message: &["role"],
        is_block: |part| function_call(part).is_some(),
        ending,
        ..Layout::EMPTY
    },
    item,
    answer: tool_result,
    message: "parts",
    tool,
    properties: &[Property::OutputSchema],
    set_properties: |tool, properties| {
        if let Some(schema) = properties.output_schema {
            tool["responseJsonSchema"] = schema;
        }
    },
    list: |tools| Value::Array(vec![object([("functionDeclarations", Value::Array(tools))])]),
    usage,
    keep,
    assemble: super::stream::gemini::assemble,
    conversation: Some(Conversation { user: |text| json!({ "text": text }), model, request, policy }),
    ..Format::EMPTY
};

fn ending(candidate: &Value) -> ResponseEnd<'_> {
    let reasons = ["finishReason", "finish_reason"].map(|key| text(candidate, key));
    let word = reasons.into_iter().find(|reason| !reason.is_empty()).unwrap_or_default();
    let stop = match word {
        "" | "FINISH_REASON_UNSPECIFIED" => return rejected_prompt(candidate),
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR" => StopReason::Refused,
        _ => StopReason::Failed,
    };
    ResponseEnd { stop, word }
}

/// Returns the ending of a response whose prompt was rejected: it has no candidates.
fn rejected_prompt(response: &Value) -> ResponseEnd<'_> {
    let feedback = response.get("promptFeedback").or_else(|| response.get("prompt_feedback"));
    let reason = |feedback| ["blockReason", "block_reason"].map(|key| text(feedback, key));
    let word = feedback.map(reason).into_iter().flatten().find(|word| !word.is_empty());
    word.map_or(ResponseEnd::UNKNOWN, |word| ResponseEnd { stop: StopReason::Refused, word })
}

/// Reads the token counts. Gemini counts thoughts separately from candidates, and tool results separately from the
/// prompt.
fn usage(response: &Value) -> Usage {
    let tokens = |camel: &str, snake: &str| {
        count(response, &format!("/usageMetadata/{camel}"))
            .max(count(response, &format!("/usage_metadata/{snake}")))
    };
    let thoughts = tokens("thoughtsTokenCount", "thoughts_token_count");
    let prompt = tokens("promptTokenCount", "prompt_token_count");
    let input = prompt.saturating_add(tokens("toolUsePromptTokenCount", "tool_use_prompt_token_count"));
    let output = tokens("candidatesTokenCount", "candidates_token_count").saturating_add(thoughts);
    Usage::new(input, output, tokens("cachedContentTokenCount", "cached_content_token_count"), thoughts)
}

fn keep(content: &Value, parts: &[Value]) -> Vec<Value> {
    if parts.is_empty() {
        return Vec::new();
    }
    if content.get("role").is_some() {
        return vec![content.clone()];
    }
    vec![object([("role", "model".into()), ("parts", parts.to_vec().into())])]
}

/// The signature that Google documents for a call that another model made. Gemini 3 rejects calls of the current turn
/// that have no signature.
const UNSIGNED_CALL: &str = "skip_thought_signature_validator";

fn model(message: &str, calls: &[ToolCall]) -> Vec<Value> {
    let text = (!message.is_empty()).then(|| json!({ "text": message }));
    let calls = calls.iter().enumerate().map(|(index, call)| {
        let (id, name) = (call.id.as_str().into(), call.name.as_str().into());
        let mut part =
            object([("functionCall", object([("id", id), ("name", name), ("args", arguments(call))]))]);
        // Of parallel calls, only the first is signed.
        if index == 0 {
            part["thoughtSignature"] = UNSIGNED_CALL.into();
        }
        part
    });
    keep(&Value::Null, &text.into_iter().chain(calls).collect::<Vec<_>>())
}

fn request(mut request: Request<'_>) -> Value {
    // Without functions, the list contains an empty declaration.
    if let Value::Array(tools) = &mut request.tools {
        tools.retain(|tool| tool.get("functionDeclarations").is_none_or(|functions| *functions != json!([])));
    }
    let system = match parts(request.system) {
        Value::Null => Value::Null,
        parts => object([("parts", parts)]),
    };
    Request::body([
        ("systemInstruction", system),
        ("tools", request.tools),
        ("contents", Value::Array(request.messages)),
    ])
}

fn function_call(part: &Value) -> Option<&Value> {
    let call = part.get("functionCall").or_else(|| part.get("function_call"));
    call.filter(|call| !call.is_null())
}

fn item(part: &Value) -> Item<'_> {
    let Some(call) = function_call(part) else {
        return match part.get("text") {
            Some(Value::String(thought)) if part.get("thought") == Some(&Value::Bool(true)) => {
                Item::Thinking(thought.into())
            }
            Some(Value::String(message)) => Item::Text(message.into()),
            _ => Item::Skip,
        };
    };
    let continues = ["willContinue", "will_continue"].iter().find_map(|key| call.get(key)?.as_bool());
    Item::Call(ParsedCall::of(call, "id", "/functionCall/id", "args").cut_if(continues == Some(true)))
}

fn tool_result(response: &ToolResponse, options: &ToolResultOptions<'_>) -> Value {
    let text_only_reason = options.text_only.then_some(TEXT_ONLY);
    let (text, media) = content::text_and_media(response, text_only_reason, media);
    let mut out = json!({});
    if !is_generated(&response.id) {
        out["id"] = Value::from(response.id.as_str());
    }
    out["name"] = Value::from(response.name.as_str());
    let key = if response.is_error() { "error" } else { "output" };
    out["response"] = json!({ key: text });
    if !media.is_empty() {
        out["parts"] = Value::Array(media);
    }
    object([("functionResponse", out)])
}

/// The media types that Gemini 3 accepts in a function response (pydantic-ai 2.68.0, `models/google.py`).
fn media(media: &Media<'_>) -> Option<Value> {
    let is_image = media.kind != MediaKind::Audio
        && media.mime_type != "image/gif"
        && IMAGES.contains(&media.mime_type.as_str());
    let is_supported = is_image || media.is_pdf();
    is_supported.then(|| json!({ "inlineData": { "mimeType": media.mime_type, "data": media.data } }))
}

fn tool(spec: &ToolSpec, schema: Value, dialect: &Dialect) -> Value {
    let mut tool = name_and_description(spec);
    // Gemini rejects an object without properties.
    let properties = schema.get("properties").and_then(Value::as_object);
    if properties.is_none_or(|properties| !properties.is_empty()) {
        // One field takes the subset of OpenAPI, the other JSON Schema.
        let key = if dialect.nulls == Nulls::Keyword { "parameters" } else { "parametersJsonSchema" };
        tool[key] = schema;
    }
    tool
}

fn policy(policy: CallPolicy<'_>) -> Result<Value, &'static str> {
    if policy.parallel.is_some() {
        return Err("has no parameter for parallel calls");
    }
    let names = |names: &[Text]| names.iter().map(|name| Value::from(name.as_str())).collect::<Value>();
    let config = match policy.choice {
        None => return Ok(Value::Null),
        Some(ToolChoice::Auto) => json!({ "mode": "AUTO" }),
        Some(ToolChoice::Validated) => json!({ "mode": "VALIDATED" }),
        Some(ToolChoice::None) => json!({ "mode": "NONE" }),
        Some(ToolChoice::Required) => json!({ "mode": "ANY" }),
        Some(ToolChoice::Tool(name)) => {
            json!({ "mode": "ANY", "allowedFunctionNames": names(std::slice::from_ref(name)) })
        }
        Some(ToolChoice::AnyOf(tools)) => json!({ "mode": "ANY", "allowedFunctionNames": names(tools) }),
    };
    Ok(json!({ "toolConfig": { "functionCallingConfig": config } }))
}
