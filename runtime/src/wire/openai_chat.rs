//! OpenAI Chat Completions.
//!
//! Imitations are supported too: a message alone, arguments as an object, and calls without IDs, whose answers carry
//! the name of the tool instead, as in Ollama. So is the `function_call` of OpenAI's first models.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::calls::{Call, Ending, Item, Layout, text, text_id};
use super::content::{self, TEXT_ONLY};
use super::ids::{Id, is_made_up};
use super::tools::{self, object};
use super::{AnswerOptions, Format};
use crate::call::ToolResponse;
use crate::call::blocked::Blocked;
use crate::schema::dialect::{Dialect, OPENAI};
use crate::spec::ToolSpec;

pub(super) const FORMAT: Format = Format {
    name: "openai-chat",
    dialect: &OPENAI,
    ids_optional: true,
    layout: Layout {
        title: "OpenAI Chat Completions",
        path: &["choices", "0", "message", "tool_calls"],
        message: &["content", "role", "function_call"],
        lone: "function_call",
        is_block: |call| call.get("function").is_some() || call.get("custom").is_some(),
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

fn ending(choice: &Value) -> Ending<'_> {
    // Ollama uses `done_reason`; Mistral has a second limit.
    let reasons = ["finish_reason", "done_reason"].map(|key| text(choice, key));
    if reasons.iter().any(|reason| matches!(*reason, "length" | "model_length")) {
        return Ending::Cut;
    }
    let stopped = |reason: &&str| STOPPED.iter().any(|stop| reason.starts_with(stop));
    reasons.into_iter().find(stopped).map_or(Ending::Whole, Ending::Stopped)
}

/// The prefixes of finish reasons that mean the model was stopped. Many hosts have their own words for other ends, so
/// all other reasons count as the model's own. `content_filter` is OpenAI's, `function_call_filter` Gemini's in this
/// format, `error` is used by Mistral and OpenRouter, `sensitive` and `network_error` by Zhipu, and
/// `insufficient_system_resource` by DeepSeek.
const STOPPED: [&str; 6] = [
    "content_filter",
    "function_call_filter",
    "error",
    "sensitive",
    "network_error",
    "insufficient_system_resource",
];

fn is_piece(chunk: &Value) -> bool {
    text(chunk, "object") == "chat.completion.chunk" || chunk.pointer("/choices/0/delta").is_some()
}

fn item(block: &Value) -> Item<'_> {
    let kind = text(block, "type");
    // The old `function_call` of a message has neither.
    if kind.is_empty() && block.get("function").is_none() {
        return Item::Call(Call { kind: Id::Function, ..Call::of(block, "id", "/id", "arguments") });
    }
    let id = text_id(block, "id");
    if let Some(custom) = block.get("custom") {
        return Item::Call(Call { id, arguments: given(custom), ..Call::of(custom, "", "/id", "") });
    }
    let function = block.get("function").unwrap_or(&Value::Null);
    let mut call = Call { id, ..Call::of(function, "", "/id", "arguments") };
    if function.is_null() && kind != "function" {
        call.blocked = Some(Blocked::Malformed(format!("there are no calls of the kind `{kind}`").into()));
    }
    Item::Call(call)
}

/// Returns the arguments of a custom tool's call, which has a single text.
pub(super) fn given(call: &Value) -> Option<Cow<'_, Value>> {
    Some(Cow::Owned(json!({ "input": call.get("input") })))
}

fn answer(response: &ToolResponse, _: &AnswerOptions<'_>) -> Value {
    let (told, _) = content::text_and_media(response, Some(TEXT_ONLY), |_| None);
    let told = content::flagged_text(response, told);
    let (role, key, name) = match Id::of(&response.id) {
        (Id::Function, _) => ("function", "name", &response.name),
        _ if is_made_up(&response.id) => ("tool", "tool_name", &response.name),
        _ => ("tool", "tool_call_id", &response.id),
    };
    json!({ "role": role, key: name.as_str(), "content": told })
}

fn tool(spec: &ToolSpec, schema: Value, dialect: &Dialect) -> Value {
    let function = tools::written(spec, "parameters", schema, dialect);
    object([("type", "function".into()), ("function", function)])
}
