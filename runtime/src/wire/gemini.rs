//! Google Gemini, `generateContent`.
//!
//! The wire format uses names like `functionCall`, Python programs `function_call`. Both are read.

use serde_json::{Value, json};

use super::calls::{Call, Ending, Item, Layout, text};
use super::content::{self, IMAGES, Media, MediaKind, TEXT_ONLY};
use super::tools::{named, object};
use super::{AnswerOptions, Format, is_made_up};
use crate::call::ToolResponse;
use crate::schema::dialect::{Dialect, GEMINI, Nulls};
use crate::spec::ToolSpec;

pub(super) const FORMAT: Format = Format {
    name: "gemini",
    dialect: &GEMINI,
    ids_optional: true,
    layout: Layout {
        title: "Gemini",
        path: &["candidates", "0", "content", "parts"],
        // A stopped candidate has no content.
        optional: "content",
        message: &["role"],
        is_block: |part| function_call(part).is_some(),
        ending,
        ..Layout::EMPTY
    },
    item,
    answer,
    message: "parts",
    tool,
    list: |tools| Value::Array(vec![object([("functionDeclarations", Value::Array(tools))])]),
};

fn ending(candidate: &Value) -> Ending<'_> {
    let reason = ["finishReason", "finish_reason"].map(|key| text(candidate, key));
    match reason.into_iter().find(|reason| !reason.is_empty()) {
        None | Some("STOP" | "FINISH_REASON_UNSPECIFIED") => Ending::Whole,
        Some("MAX_TOKENS") => Ending::Cut,
        Some(why) => Ending::Stopped(why),
    }
}

fn function_call(part: &Value) -> Option<&Value> {
    let call = part.get("functionCall").or_else(|| part.get("function_call"));
    call.filter(|call| !call.is_null())
}

fn item(part: &Value) -> Item<'_> {
    let Some(call) = function_call(part) else { return Item::Skip };
    let goes_on = ["willContinue", "will_continue"].iter().find_map(|key| call.get(key)?.as_bool());
    Item::Call(Call::of(call, "id", "/functionCall/id", "args").cut_if(goes_on == Some(true)))
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

/// The media types that Gemini 3 accepts in a function's answer (pydantic-ai 2.68.0, `models/google.py`).
fn media(media: &Media<'_>) -> Option<Value> {
    let is_image = media.kind != MediaKind::Audio
        && media.mime_type != "image/gif"
        && IMAGES.contains(&media.mime_type.as_str());
    let taken = is_image || media.is_pdf();
    taken.then(|| json!({ "inlineData": { "mimeType": media.mime_type, "data": media.data } }))
}

fn tool(spec: &ToolSpec, schema: Value, dialect: &Dialect) -> Value {
    let mut tool = named(spec);
    // Gemini refuses an object without properties.
    let properties = schema.get("properties").and_then(Value::as_object);
    if properties.is_none_or(|properties| !properties.is_empty()) {
        // One field holds the subset of OpenAPI, the other JSON Schema.
        let key = if dialect.nulls == Nulls::Keyword { "parameters" } else { "parametersJsonSchema" };
        tool[key] = schema;
    }
    tool
}
