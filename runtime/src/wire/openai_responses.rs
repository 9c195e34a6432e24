//! OpenAI Responses.

use serde_json::{Value, json};

use super::content::{self, Media, TEXT_ONLY};
use super::read::{Call, Item, Turn, WireProblem, text, text_id, unknown};
use super::tools::{named, object};
use super::{AnswerOptions, Format};
use crate::call::ToolResponse;
use crate::schema::dialect::OPENAI;
use crate::spec::ToolSpec;

pub(super) const FORMAT: Format = Format {
    name: "openai-responses",
    dialect: &OPENAI,
    ids_optional: false,
    turn,
    item,
    answers,
    tool,
    list: Value::Array,
};

fn turn(response: &Value) -> Result<Turn<'_>, WireProblem> {
    if let Value::Array(items) = response {
        return Ok(Turn::blocks(items));
    }
    if response.get("output").is_some_and(|output| !output.is_string()) {
        let why = response.get("incomplete_details").map(|details| text(details, "reason"));
        return Turn::list(response, "", "output", why == Some("max_output_tokens"));
    }
    if response.get("type").is_some_and(Value::is_string) {
        return Ok(Turn::single(response));
    }
    Err(unknown("OpenAI Responses"))
}

fn item(item: &Value) -> Item<'_> {
    if text(item, "type") != "function_call" {
        return Item::Skip;
    }
    Item::Call(Call {
        id: text_id(item, "call_id"),
        id_pointer: "/call_id",
        name: text(item, "name"),
        arguments: item.get("arguments"),
        cut: matches!(text(item, "status"), "incomplete" | "in_progress"),
    })
}

fn answers(responses: &[ToolResponse], options: &AnswerOptions<'_>) -> Vec<Value> {
    let why_not = options.text_only.then_some(TEXT_ONLY);
    let answer = |response: &ToolResponse| {
        let (told, media) = content::text_and_media(response, why_not, media);
        let told = content::flagged_text(response, told);
        let output = if media.is_empty() {
            Value::String(told)
        } else {
            let text = (!told.is_empty()).then(|| json!({ "type": "input_text", "text": told }));
            text.into_iter().chain(media).collect()
        };
        let (kind, id) = ("function_call_output".into(), response.id.as_str().into());
        object([("type", kind), ("call_id", id), ("output", output)])
    };
    responses.iter().map(answer).collect()
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

fn tool(spec: &ToolSpec, schema: Value, strict: bool) -> Value {
    let mut tool = object([("type", "function".into())]);
    if let (Value::Object(tool), Value::Object(named)) = (&mut tool, named(spec)) {
        tool.extend(named);
    }
    // Without the key the server makes the schema strict by itself, and a model has to invent what is optional.
    tool["parameters"] = schema;
    tool["strict"] = Value::Bool(strict);
    tool
}
