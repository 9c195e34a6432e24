//! Anthropic Messages.

use serde_json::{Value, json};

use super::calls::{Call, Ending, Item, Layout, text};
use super::content::{self, Media};
use super::tools::{self, object};
use super::{AnswerOptions, Format};
use crate::call::ToolResponse;
use crate::schema::dialect::{ANTHROPIC, Dialect};
use crate::spec::ToolSpec;

pub(super) const FORMAT: Format = Format {
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
    answer,
    message: "content",
    tool,
    list: Value::Array,
};

fn ending(message: &Value) -> Ending<'_> {
    match text(message, "stop_reason") {
        "" | "end_turn" | "stop_sequence" | "tool_use" | "pause_turn" => Ending::Whole,
        "max_tokens" | "model_context_window_exceeded" => Ending::Cut,
        why => Ending::Stopped(why),
    }
}

fn is_piece(event: &Value) -> bool {
    let kind = text(event, "type");
    kind.starts_with("content_block_") || kind.starts_with("message_")
}

fn item(block: &Value) -> Item<'_> {
    // The provider runs `server_tool_use` and `mcp_tool_use`.
    if text(block, "type") != "tool_use" {
        return Item::Skip;
    }
    Item::Call(Call::of(block, "id", "/id", "input"))
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

fn tool(spec: &ToolSpec, schema: Value, dialect: &Dialect) -> Value {
    tools::written(spec, "input_schema", schema, dialect)
}
