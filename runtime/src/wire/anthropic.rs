//! Anthropic Messages.

use serde_json::{Value, json};

use super::content::{self, Media};
use super::read::{Call, Item, Turn, WireProblem, text, text_id, unknown};
use super::tools::{named, object};
use super::{AnswerOptions, Format};
use crate::call::ToolResponse;
use crate::schema::dialect::ANTHROPIC;
use crate::spec::ToolSpec;

pub(super) const FORMAT: Format = Format {
    name: "anthropic",
    dialect: &ANTHROPIC,
    ids_optional: false,
    turn,
    item,
    answers,
    tool,
    list: Value::Array,
};

fn turn(message: &Value) -> Result<Turn<'_>, WireProblem> {
    match message {
        Value::Array(blocks) => return Ok(Turn::blocks(blocks)),
        Value::Object(_) => {}
        _ => return Err(unknown("Anthropic Messages")),
    }
    match message.get("content") {
        // A content that is one text.
        Some(Value::String(_)) => Ok(Turn::none()),
        Some(_) if text(message, "type") != "tool_use" => {
            let cut = matches!(text(message, "stop_reason"), "max_tokens" | "model_context_window_exceeded");
            Turn::list(message, "", "content", cut)
        }
        _ if !matches!(text(message, "type"), "" | "message" | "error") => Ok(Turn::single(message)),
        _ => Err(unknown("Anthropic Messages")),
    }
}

fn item(block: &Value) -> Item<'_> {
    // `server_tool_use` and `mcp_tool_use` are run by the provider.
    if text(block, "type") != "tool_use" {
        return Item::Skip;
    }
    Item::Call(Call {
        id: text_id(block, "id"),
        id_pointer: "/id",
        name: text(block, "name"),
        arguments: block.get("input"),
        cut: false,
    })
}

fn answers(responses: &[ToolResponse], options: &AnswerOptions<'_>) -> Vec<Value> {
    content::of_user(responses.iter().map(|response| answer(response, options)))
}

fn answer(response: &ToolResponse, options: &AnswerOptions<'_>) -> Value {
    let is_error = response.is_error();
    let why_not = content::why_text_only(is_error, options);
    let mut blocks =
        content::blocks(response, why_not, |text| json!({ "type": "text", "text": text }), media);
    let content = match blocks.as_mut_slice() {
        [only] if only["type"] == "text" => only["text"].take(),
        _ => Value::Array(blocks),
    };
    let (kind, id) = ("tool_result".into(), response.id.as_str().into());
    let mut out = object([("type", kind), ("tool_use_id", id), ("content", content)]);
    if is_error {
        out["is_error"] = Value::Bool(true);
    }
    out
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

fn tool(spec: &ToolSpec, schema: Value, strict: bool) -> Value {
    let mut tool = named(spec);
    tool["input_schema"] = schema;
    if strict {
        tool["strict"] = Value::Bool(true);
    }
    tool
}
