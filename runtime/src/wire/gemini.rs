//! Google Gemini, `generateContent`.
//!
//! The wire has names like `functionCall`; Python programs hold the same values as `function_call`. Both are read.

use serde_json::{Value, json};

use super::content::{self, IMAGES, Media, MediaKind, TEXT_ONLY};
use super::read::{Call, Item, Turn, WireProblem, text, text_id, unknown};
use super::tools::{named, object};
use super::{AnswerOptions, Format, is_made_up};
use crate::call::ToolResponse;
use crate::schema::dialect::GEMINI;
use crate::spec::ToolSpec;

pub(super) const FORMAT: Format = Format {
    name: "gemini",
    dialect: &GEMINI,
    ids_optional: true,
    turn,
    item,
    answers,
    tool,
    list: |tools| Value::Array(vec![object([("functionDeclarations", Value::Array(tools))])]),
};

fn turn(response: &Value) -> Result<Turn<'_>, WireProblem> {
    if let Value::Array(parts) = response {
        return Ok(Turn::blocks(parts));
    }
    if let Some(candidates) = response.get("candidates") {
        return match candidates.get(0) {
            Some(candidate) => of_candidate(candidate, "/candidates/0"),
            None => Err(WireProblem::new("/candidates", "holds no candidate")),
        };
    }
    if response.get("content").is_some() {
        return of_candidate(response, "");
    }
    if response.get("parts").is_some() || response.get("role").is_some() {
        return Turn::list(response, "", "parts", false);
    }
    if function_call(response).is_some() {
        return Ok(Turn::single(response));
    }
    Err(unknown("Gemini"))
}

fn of_candidate<'v>(candidate: &'v Value, pointer: &str) -> Result<Turn<'v>, WireProblem> {
    let cut = ["finishReason", "finish_reason"].iter().any(|key| text(candidate, key) == "MAX_TOKENS");
    match candidate.get("content") {
        Some(content @ Value::Object(_)) => Turn::list(content, &format!("{pointer}/content"), "parts", cut),
        // A candidate that was stopped has no content.
        None | Some(Value::Null) if candidate.is_object() => Ok(Turn::none()),
        None => Err(WireProblem::new(pointer, "is not an object")),
        Some(_) => Err(WireProblem::new(format!("{pointer}/content"), "is not an object")),
    }
}

fn function_call(part: &Value) -> Option<&Value> {
    let call = part.get("functionCall").or_else(|| part.get("function_call"));
    call.filter(|call| !call.is_null())
}

fn item(part: &Value) -> Item<'_> {
    let Some(call) = function_call(part) else { return Item::Skip };
    let goes_on = ["willContinue", "will_continue"].iter().find_map(|key| call.get(key)?.as_bool());
    Item::Call(Call {
        id: text_id(call, "id"),
        id_pointer: "/functionCall/id",
        name: text(call, "name"),
        arguments: call.get("args"),
        cut: goes_on == Some(true),
    })
}

fn answers(responses: &[ToolResponse], options: &AnswerOptions<'_>) -> Vec<Value> {
    let parts: Vec<Value> = responses.iter().map(|response| answer(response, options)).collect();
    vec![object([("role", "user".into()), ("parts", Value::Array(parts))])]
}

fn answer(response: &ToolResponse, options: &AnswerOptions<'_>) -> Value {
    let why_not = options.text_only.then_some(TEXT_ONLY);
    let (text, media) = content::text_and_media(response, why_not, media);
    let mut out = json!({});
    if !is_made_up(&response.id) {
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

/// The media types that Gemini 3 takes in the answer of a function (pydantic-ai 2.68.0, `models/google.py`).
fn media(media: &Media<'_>) -> Option<Value> {
    let is_image = media.kind != MediaKind::Audio
        && media.mime_type != "image/gif"
        && IMAGES.contains(&media.mime_type.as_str());
    let taken = is_image || media.is_pdf();
    taken.then(|| json!({ "inlineData": { "mimeType": media.mime_type, "data": media.data } }))
}

fn tool(spec: &ToolSpec, schema: Value, _strict: bool) -> Value {
    let mut tool = named(spec);
    // An object without properties is refused.
    let properties = schema.get("properties").and_then(Value::as_object);
    if properties.is_none_or(|properties| !properties.is_empty()) {
        tool["parameters"] = schema;
    }
    tool
}
