//! OpenAI Responses.

use serde_json::{Value, json};

use super::calls::{Call, Ending, Item, Layout, text};
use super::content::{self, Media, TEXT_ONLY};
use super::ids::Id;
use super::openai_chat::given;
use super::tools::{named, object};
use super::{AnswerOptions, Format};
use crate::call::ToolResponse;
use crate::schema::dialect::{Dialect, OPENAI};
use crate::spec::ToolSpec;

pub(super) const FORMAT: Format = Format {
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
    answer,
    message: "",
    tool,
    list: Value::Array,
};

fn ending(response: &Value) -> Ending<'_> {
    let why = response.get("incomplete_details").map(|details| text(details, "reason"));
    match (text(response, "status"), why.unwrap_or_default()) {
        (_, "max_output_tokens") => Ending::Cut,
        ("failed" | "cancelled", "") => Ending::Stopped(text(response, "status")),
        ("incomplete", "") => Ending::Stopped("incomplete"),
        (_, "") => Ending::Whole,
        (_, why) => Ending::Stopped(why),
    }
}

/// Whether the value is a stream event, or a response that is still in progress.
fn is_piece(value: &Value) -> bool {
    let unfinished = matches!(text(value, "status"), "in_progress" | "queued");
    match text(value, "type") {
        "" => unfinished && value.get("output").is_some(),
        kind => kind.starts_with("response."),
    }
}

fn item(item: &Value) -> Item<'_> {
    let cut = matches!(text(item, "status"), "incomplete" | "in_progress");
    let call = Call::of(item, "call_id", "/call_id", "arguments").cut_if(cut);
    match text(item, "type") {
        "function_call" => Item::Call(call),
        "custom_tool_call" => Item::Call(Call { kind: Id::Custom, arguments: given(item), ..call }),
        kind @ ("computer_call" | "local_shell_call" | "shell_call" | "apply_patch_call") => {
            Item::Foreign(kind)
        }
        // Other items are not calls, or the provider runs them.
        _ => Item::Skip,
    }
}

fn answer(response: &ToolResponse, options: &AnswerOptions<'_>) -> Value {
    let why_not = options.text_only.then_some(TEXT_ONLY);
    let (told, media) = content::text_and_media(response, why_not, media);
    let told = content::flagged_text(response, told);
    let output = if media.is_empty() {
        Value::String(told)
    } else {
        let text = (!told.is_empty()).then(|| json!({ "type": "input_text", "text": told }));
        text.into_iter().chain(media).collect()
    };
    let (kind, id) = match Id::of(&response.id) {
        (Id::Custom, id) => ("custom_tool_call_output", id),
        (_, id) => ("function_call_output", id),
    };
    object([("type", kind.into()), ("call_id", id.into()), ("output", output)])
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
    if let (Value::Object(tool), Value::Object(named)) = (&mut tool, named(spec)) {
        tool.extend(named);
    }
    // Without the key, the server makes the schema strict itself, and a model has to invent optional values.
    tool["parameters"] = schema;
    tool["strict"] = Value::Bool(dialect.strict);
    tool
}
