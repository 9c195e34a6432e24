//! The server side of the Model Context Protocol.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolgen_core::internal::json_bytes;
use toolgen_kernel::call::ToolResponse;
use toolgen_kernel::call::blocked::MALFORMED_CALL;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::{Content, ToolResult};
use toolgen_kernel::call::structured::no_structured_result;
use toolgen_kernel::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_kernel::spec::hints::Icon;
use toolgen_kernel::spec::output::StructuredOutput;
use toolgen_kernel::spec::{Effects, Network, ToolSpec};

use super::ToolResultOptions;
use super::calls::{Item, ParsedCall, text};
use super::content::{self, TEXT_ONLY};
use super::format::Format;
use super::layout::Layout;
use super::properties::Property;
use super::tools::{name_and_description, object};

pub(super) static FORMAT: Format = Format {
    name: "mcp",
    dialect: &JSON_SCHEMA,
    ids_optional: false,
    // A list is a batch, as in version 2025-03-26.
    layout: Layout {
        title: "MCP",
        is_block: |request| request.get("jsonrpc").is_some() || request.get("method").is_some(),
        ..Layout::EMPTY
    },
    item,
    answer: tool_result,
    message: "",
    tool,
    // `tool` writes it.
    properties: &[Property::OutputSchema],
    list: |tools| object([("tools", Value::Array(tools))]),
    // Each event of a stream is a request, independent of the others.
    assemble: |assembly, event| {
        match &mut assembly.response {
            Value::Array(batch) => batch.push(event.clone()),
            other => *other = Value::Array(vec![event.clone()]),
        }
        assembly.end();
        Ok(())
    },
    ..Format::EMPTY
};

fn item(request: &Value) -> Item<'_> {
    if text(request, "method") != "tools/call" {
        return Item::Skip;
    }
    let params = request.get("params").unwrap_or(&Value::Null);
    Item::Call(ParsedCall { id: read_id(request), ..ParsedCall::of(params, "", "/id", "arguments") })
}

/// Reads a JSON-RPC ID, which is a string or a number; `1` differs from `"1"`. A string that could be read as a number
/// or as a quoted string is quoted.
fn read_id(request: &Value) -> Result<Option<Cow<'_, str>>, ()> {
    match request.get("id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if id_value(id) == *id => Ok(Some(Cow::Borrowed(id))),
        Some(id @ (Value::String(_) | Value::Number(_))) => Ok(Some(Cow::Owned(id.to_string()))),
        Some(_) => Err(()),
    }
}

fn id_value(id: &str) -> Value {
    match serde_json::from_str(id) {
        Ok(value @ (Value::Number(_) | Value::String(_))) => value,
        _ => Value::from(id),
    }
}

fn tool_result(response: &ToolResponse, options: &ToolResultOptions<'_>) -> Value {
    let id = id_value(&response.id);
    if let Some(text) = refusal(response) {
        let error = json!({ "code": -32602, "message": text });
        return json!({ "jsonrpc": "2.0", "id": id, "error": error });
    }
    object([("jsonrpc", "2.0".into()), ("id", id), ("result", result(response, options))])
}

/// Returns the message of a protocol error, if the request itself is invalid. A failure of the tool is a result
/// instead.
#[doc(hidden)]
pub fn refusal(response: &ToolResponse) -> Option<String> {
    let error = response.outcome.as_ref().err()?;
    // A tool that was called through another tool is named in the arguments of a valid request.
    let is_unknown = matches!(error, ToolError::NotFound { name, .. } if *name == *response.name);
    let is_protocol_error = is_unknown || error.code() == MALFORMED_CALL;
    is_protocol_error.then(|| response.text())
}

/// Renders the result of `tools/call`: `content`, `structuredContent` if the tool declares its output, and `isError`.
/// A value that is not an object, such as an array, is wrapped in an object as its `result`, because the protocol
/// requires an object before 2026-07-28. In the content, the value is not wrapped.
///
/// The protocol requires that a tool with a published `outputSchema` returns a matching result, and its clients reject
/// any other response except an error. So if the structured result is missing, exceeds the limit of results, or does
/// not match, the response is an error with the reason, followed by the content.
///
/// A response that differs from the service's document is still a response. So a tool whose results [may
/// differ](toolgen_kernel::ToolSpec::output_may_differ) from what it declares publishes a tolerant schema, which only
/// declares types. Parts of a result with other types are left out of its `structuredContent`, and a last block of
/// text lists them. If there is no structured result, `structuredContent` is an empty object, and the last block has
/// the reason. The content always has the whole response.
///
/// Responses of a [`Toolbox`](toolgen_kernel::Toolbox) contain what the tool declares; for other responses, set
/// [`specs`](ToolResultOptions::specs).
#[must_use]
pub fn result(response: &ToolResponse, options: &ToolResultOptions<'_>) -> Value {
    let mut content: Vec<Value> = if options.text_only {
        content::blocks(response, Some(TEXT_ONLY), |text| Content::Text(text).to_json(), |_| None)
    } else {
        response.content().iter().map(Content::to_json).collect()
    };
    let mut is_error = response.is_error();
    let mut structured = None;
    if let (Ok(result), false) = (&response.outcome, is_error)
        && let Some(declared) = declared(response, options)
    {
        match structured_content(result, &declared, &mut content) {
            Ok(value) => structured = Some(value),
            Err(error) => {
                is_error = true;
                content.insert(0, Content::Text(no_structured_result(&error)).to_json());
            }
        }
    }
    let mut out = object([("content", Value::Array(content))]);
    if let Some(value) = structured {
        out["structuredContent"] = value;
    }
    if is_error {
        out["isError"] = Value::Bool(true);
    }
    out
}

/// Moves the structured result to a separate block if it follows other text in the same block, as a response body
/// follows its status line: clients without structured content parse JSON from a block (version 2025-06-18,
/// "Structured Content").
fn split_structured_text(blocks: &mut Vec<Value>, structured: &Value) {
    let split = blocks.iter().enumerate().find_map(|(index, block)| {
        let (head, body) = block.get("text")?.as_str()?.split_once("\n\n")?;
        let is_result = serde_json::from_str::<Value>(body).is_ok_and(|body| body == *structured);
        is_result.then(|| (index, [head, body].map(|text| Content::Text(text.to_owned()).to_json())))
    });
    if let Some((index, separated)) = split {
        blocks.splice(index..=index, separated);
    }
}

/// Returns the structured result that the tool of a response declares.
fn declared<'a>(
    response: &'a ToolResponse,
    options: &ToolResultOptions<'_>,
) -> Option<Cow<'a, StructuredOutput>> {
    let from_specs = || options.specs.and_then(|specs| specs(&response.name))?.structured_output();
    response.declared.as_deref().map(Cow::Borrowed).or_else(|| from_specs().map(Cow::Owned))
}

/// Returns the `structuredContent` of a result, and completes its content.
///
/// # Errors
///
/// Returns the reason if the result does not match the declaration although it must.
fn structured_content(
    result: &ToolResult,
    declared: &StructuredOutput,
    content: &mut Vec<Value>,
) -> Result<Value, String> {
    let value = match result.structured() {
        Ok(value) => value.into_owned(),
        Err(reason) if declared.may_differ => {
            content.push(Content::Text(format!("[No structured result: {reason}.]")).to_json());
            return Ok(json!({}));
        }
        Err(reason) => return Err(reason.into_owned()),
    };
    if !declared.may_differ
        && let Some(problem) = declared.problems(&value).first()
    {
        return Err(format!("it does not match the declaration: {}", problem.of_result()));
    }
    split_structured_text(content, &value);
    if !declared.may_differ {
        return Ok(declared.as_object(value));
    }
    let (value, omitted) = declared.conform(value);
    if !omitted.is_empty() {
        content.push(Content::Text(omission_notice(&omitted)).to_json());
    }
    Ok(value)
}

/// The maximum number of omissions that a notice lists.
const MAX_OMISSIONS: usize = 3;

/// Describes the parts that are only in the content.
fn omission_notice(omitted: &[String]) -> String {
    let more = match omitted.len().saturating_sub(MAX_OMISSIONS) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let listed = omitted.get(..MAX_OMISSIONS).unwrap_or(omitted).join("; ");
    format!(
        "[Left out of the structured result, because the types differ from the output schema: {listed}{more}.]"
    )
}

fn tool(spec: &ToolSpec, schema: Value, _: &Dialect) -> Value {
    let mut tool = name_and_description(spec);
    if !spec.label.is_empty() {
        tool["title"] = Value::from(spec.label.as_str());
    }
    tool["inputSchema"] = schema;
    // Calls need the existing members; a result is structured with and without its schema.
    let remaining = spec.slim.ceiling.unwrap_or(usize::MAX).saturating_sub(json_bytes(&tool));
    if let Some(schema) = spec.structured_output().and_then(|output| output.published(remaining)) {
        tool["outputSchema"] = schema;
    }
    tool["annotations"] = annotations(&spec.effects);
    if !spec.hints.icons.is_empty() {
        tool["icons"] = spec.hints.icons.iter().map(Icon::to_json).collect();
    }
    if let Some(meta) = spec.hints.meta() {
        tool["_meta"] = meta;
    }
    tool
}

/// The hints of version 2025-03-26 and later. All hints are written, because the protocol's defaults are the most
/// dangerous values.
fn annotations(effects: &Effects) -> Value {
    json!({
        "readOnlyHint": effects.read_only,
        "destructiveHint": effects.destructive,
        "idempotentHint": effects.idempotent,
        "openWorldHint": effects.open_world || effects.network == Network::Any,
    })
}
