//! The server's side of the Model Context Protocol.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::content::{self, TEXT_ONLY};
use super::read::{Call, Item, Layout, text};
use super::tools::{named, object};
use super::{AnswerOptions, Format};
use crate::call::ToolResponse;
use crate::call::blocked::MALFORMED_CALL;
use crate::call::error::ToolError;
use crate::call::result::Content;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::render::render_output;
use crate::schema::shape::{Kind, Shape, find_def};
use crate::spec::{Effects, Network, ToolSpec};

pub(super) const FORMAT: Format = Format {
    name: "mcp",
    dialect: &JSON_SCHEMA,
    ids_optional: false,
    // A list is a batch, as revision 2025-03-26 had it.
    layout: Layout {
        title: "MCP",
        is_block: |request| request.get("jsonrpc").is_some() || request.get("method").is_some(),
        ..Layout::EMPTY
    },
    item,
    answer,
    message: "",
    tool,
    list: |tools| object([("tools", Value::Array(tools))]),
};

fn item(request: &Value) -> Item<'_> {
    if text(request, "method") != "tools/call" {
        return Item::Skip;
    }
    let params = request.get("params").unwrap_or(&Value::Null);
    Item::Call(Call { id: read_id(request), ..Call::of(params, "", "/id", "arguments") })
}

/// A JSON-RPC id is a text or a number, and `1` is not `"1"`: a text that could be taken for a number, or for a
/// quoted text, is quoted.
fn read_id(request: &Value) -> Result<Option<Cow<'_, str>>, ()> {
    match request.get("id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if written_id(id) == *id => Ok(Some(Cow::Borrowed(id))),
        Some(id @ (Value::String(_) | Value::Number(_))) => Ok(Some(Cow::Owned(id.to_string()))),
        Some(_) => Err(()),
    }
}

fn written_id(id: &str) -> Value {
    match serde_json::from_str(id) {
        Ok(written @ (Value::Number(_) | Value::String(_))) => written,
        _ => Value::from(id),
    }
}

fn answer(response: &ToolResponse, options: &AnswerOptions<'_>) -> Value {
    let id = written_id(&response.id);
    if let Err(why) = &response.outcome
        && is_of_protocol(why)
    {
        let error = json!({ "code": -32602, "message": why.to_string() });
        return json!({ "jsonrpc": "2.0", "id": id, "error": error });
    }
    object([("jsonrpc", "2.0".into()), ("id", id), ("result", result(response, options))])
}

/// Whether the request itself was wrong; what a tool could not do is its result.
fn is_of_protocol(why: &ToolError) -> bool {
    matches!(why, ToolError::NotFound { .. }) || why.code() == MALFORMED_CALL
}

/// The result of `tools/call`: `content`, `structuredContent` if the specification declares an object as the result
/// and the details are one, and `isError`.
#[must_use]
pub fn result(response: &ToolResponse, options: &AnswerOptions<'_>) -> Value {
    let content: Vec<Value> = if options.text_only {
        content::blocks(response, Some(TEXT_ONLY), |text| Content::Text(text).to_json(), |_| None)
    } else {
        response.content().iter().map(Content::to_json).collect()
    };
    let mut out = object([("content", Value::Array(content))]);
    let is_error = response.is_error();
    if let (Ok(result), false) = (&response.outcome, is_error) {
        let spec = options.specs.and_then(|specs| specs(&response.name));
        if result.details.is_object() && spec.is_some_and(gives_object) {
            out["structuredContent"] = result.details.clone();
        }
    }
    if is_error {
        out["isError"] = Value::Bool(true);
    }
    out
}

/// Whether the specification says that results are objects: revision 2025-11-25 knows no other structured content.
fn gives_object(spec: &ToolSpec) -> bool {
    let mut shape: Option<&Shape> = spec.output.as_deref();
    // More references than there are names are a cycle.
    for _ in 0..=spec.defs.len() {
        match shape.map(|shape| &shape.kind) {
            Some(Kind::Ref(name)) => shape = find_def(&spec.defs, name),
            Some(Kind::Object(_)) => return true,
            _ => return false,
        }
    }
    false
}

fn tool(spec: &ToolSpec, schema: Value, _strict: bool) -> Value {
    let mut tool = named(spec);
    if !spec.label.is_empty() {
        tool["title"] = Value::from(spec.label.as_str());
    }
    tool["inputSchema"] = schema;
    if let (Some(output), true) = (&spec.output, gives_object(spec)) {
        // Plain JSON Schema refuses nothing; without a schema results are just not structured.
        let rendered = render_output(output, &spec.defs, &JSON_SCHEMA);
        if let Ok(Value::Object(mut schema)) = rendered.map(|rendered| rendered.schema) {
            // A reference to an object does not say so itself.
            schema.entry("type").or_insert_with(|| Value::from("object"));
            tool["outputSchema"] = Value::Object(schema);
        }
    }
    tool["annotations"] = annotations(&spec.effects);
    tool
}

/// The hints of revision 2025-03-26 and later. Each is said: the defaults of the protocol are the worst.
fn annotations(effects: &Effects) -> Value {
    json!({
        "readOnlyHint": effects.read_only,
        "destructiveHint": effects.destructive,
        "idempotentHint": effects.idempotent,
        "openWorldHint": effects.open_world || effects.network == Network::Any,
    })
}
