//! OpenAI Chat Completions.
//!
//! Imitations are read as well: of the message alone, arguments as an object, and calls without ids, whose answers
//! carry the name of the tool instead, as Ollama has it.

use serde_json::{Value, json};

use super::content::{self, TEXT_ONLY};
use super::read::{Call, Item, Turn, WireProblem, text, text_id, unknown};
use super::tools::{named, object};
use super::{AnswerOptions, Format, is_made_up};
use crate::call::ToolResponse;
use crate::schema::dialect::OPENAI;
use crate::spec::ToolSpec;

pub(super) const FORMAT: Format = Format {
    name: "openai-chat",
    dialect: &OPENAI,
    ids_optional: true,
    turn,
    item,
    answers,
    tool,
    list: Value::Array,
};

fn turn(response: &Value) -> Result<Turn<'_>, WireProblem> {
    if let Value::Array(calls) = response {
        return Ok(Turn::blocks(calls));
    }
    if let Some(choices) = response.get("choices") {
        return match choices.get(0) {
            Some(choice) => of_choice(choice, "/choices/0"),
            None => Err(WireProblem::new("/choices", "holds no choice")),
        };
    }
    if response.get("message").is_some() {
        return of_choice(response, "");
    }
    if response.get("function").is_some() {
        return Ok(Turn::single(response));
    }
    if ["tool_calls", "content", "role"].iter().any(|key| response.get(key).is_some()) {
        return Turn::list(response, "", "tool_calls", false);
    }
    Err(unknown("OpenAI Chat Completions"))
}

fn of_choice<'v>(choice: &'v Value, pointer: &str) -> Result<Turn<'v>, WireProblem> {
    let pointer = format!("{pointer}/message");
    match choice.get("message") {
        Some(message @ Value::Object(_)) => {
            // Ollama says `done_reason`, Mistral has a second limit.
            let reasons = ["finish_reason", "done_reason"].map(|key| text(choice, key));
            let cut = reasons.iter().any(|reason| matches!(*reason, "length" | "model_length"));
            Turn::list(message, &pointer, "tool_calls", cut)
        }
        Some(_) => Err(WireProblem::new(pointer, "is not an object")),
        None => Err(WireProblem::new(pointer, "is missing")),
    }
}

fn item(block: &Value) -> Item<'_> {
    let function = block.get("function");
    // Calls of other types are of tools that are not functions.
    if function.is_none() && text(block, "type") != "function" {
        return Item::Skip;
    }
    let function = function.unwrap_or(&Value::Null);
    Item::Call(Call {
        id: text_id(block, "id"),
        id_pointer: "/id",
        name: text(function, "name"),
        arguments: function.get("arguments"),
        cut: false,
    })
}

fn answers(responses: &[ToolResponse], _: &AnswerOptions<'_>) -> Vec<Value> {
    let answer = |response: &ToolResponse| {
        let (told, _) = content::text_and_media(response, Some(TEXT_ONLY), |_| None);
        let told = content::flagged_text(response, told);
        let (key, name) = if is_made_up(&response.id) {
            ("tool_name", &response.name)
        } else {
            ("tool_call_id", &response.id)
        };
        json!({ "role": "tool", key: name.as_str(), "content": told })
    };
    responses.iter().map(answer).collect()
}

fn tool(spec: &ToolSpec, schema: Value, strict: bool) -> Value {
    let mut function = named(spec);
    function["parameters"] = schema;
    if strict {
        function["strict"] = Value::Bool(true);
    }
    object([("type", "function".into()), ("function", function)])
}
