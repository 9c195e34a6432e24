//! Converts the response to `tools/call` into a tool result.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_core::Deserialize;
use serde_json::{Map, Value, json};
use toolgen_kernel::base::media_type::of_content;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::{Content, ResourceData, ToolResult};
use toolgen_kernel::call::structured::{INVALID_OUTPUT, Structured};
use toolgen_kernel::schema::shape::decode::result_problems;
use toolgen_kernel::spec::ToolSpec;

use super::reading::{self, OriginalText};

/// Maximum number of reported schema violations of a result.
const MAX_SHOWN_PROBLEMS: usize = 5;

/// Converts a response into the result of a tool.
///
/// # Errors
///
/// Returns an error with the violations if the result does not match the tool's output schema.
pub(super) fn result(spec: &ToolSpec, mut response: Value) -> Result<ToolResult, ToolError> {
    let original = OriginalText::take(&mut response);
    let content_text = original.part("content");
    let content: Vec<Content> = match response.get_mut("content").map(Value::take) {
        Some(Value::Array(blocks)) => {
            let convert =
                |(index, block): (usize, &Value)| convert_block(block, content_text.part(&index.to_string()));
            blocks.iter().enumerate().map(convert).collect()
        }
        None | Some(Value::Null) => Vec::new(),
        Some(other) => vec![convert_block(&other, content_text)],
    };
    let mut result = ToolResult::empty();
    result.content = content;
    let structured = response.get_mut("structuredContent").map(Value::take).filter(|value| !value.is_null());
    let structured = structured.map(|value| (value, original.part("structuredContent").text()));
    if is_error(&response["isError"]) {
        if result.content.is_empty() {
            let message = structured.map(|(value, text)| text.unwrap_or_else(|| value.to_string()));
            let message = message.unwrap_or_else(|| "the tool failed without a reason".to_owned());
            result.content.push(Content::Text(message));
        }
        result.structured = Structured::Missing("the tool failed".into());
        return Ok(result.with_details(json!({ "success": false })));
    }
    let Some(schema) = &spec.output else {
        let Some((value, text)) = structured else {
            result.structured = Structured::Missing("the tool declares none".into());
            return Ok(result);
        };
        // The structured value is not repeated if the text already contains it.
        if !repeats_value(&result, &value, text.as_deref()) {
            result.content.push(Content::Text(text.clone().unwrap_or_else(|| value.to_string())));
        }
        return Ok(with_value(result, value, text));
    };
    let Some((value, original)) = structured.or_else(|| reading::parse_value(&result.to_text())) else {
        let text = "the tool ran, but its result lacks the structured content of its output schema";
        return Err(invalid(text.to_owned(), &result));
    };
    let problems = result_problems(&value, schema, &spec.defs);
    if !problems.is_empty() {
        let mut text = "the tool ran, but its result does not match its output schema:".to_owned();
        for problem in problems.iter().take(MAX_SHOWN_PROBLEMS) {
            text.push_str(&format!("\n{}", problem.of_result()));
        }
        return Err(invalid(text, &result));
    }
    // The protocol requires that text content repeats the structured value.
    result.content.retain(|content| !matches!(content, Content::Text(_)));
    result.content.insert(0, Content::Text(original.clone().unwrap_or_else(|| value.to_string())));
    Ok(with_value(result, value, original))
}

/// Adds the structured value to a result. The value may report a failure although the tool did not fail. `text` is
/// the original text of the value, if parsing has changed its numbers.
fn with_value(mut result: ToolResult, value: Value, text: Option<String>) -> ToolResult {
    result.details = value;
    let text = if result.is_error() {
        let value = std::mem::take(&mut result.details);
        Some(text.unwrap_or_else(|| value.to_string()))
    } else {
        text
    };
    if let Some(text) = text {
        result.structured = Structured::Json(text.into());
    }
    result
}

fn invalid(text: String, result: &ToolResult) -> ToolError {
    let detail = format!("{text}\nIts result: {}", result.to_text());
    ToolError::failed_with(INVALID_OUTPUT, text).with_operator_detail(detail)
}

/// Whether the only text of a result is this value, with the same digits.
fn repeats_value(result: &ToolResult, value: &Value, original: Option<&str>) -> bool {
    let mut texts = result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text),
        _ => None,
    });
    match (texts.next(), texts.next()) {
        (Some(text), None) => {
            let is_same = || serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *value);
            original.map_or_else(is_same, |original| reading::compact(text) == original)
                || value.as_str() == Some(text)
                // Some libraries wrap a single text in an object.
                || matches!(value, Value::Object(fields) if single_text(fields) == Some(text))
        }
        _ => false,
    }
}

fn single_text(fields: &Map<String, Value>) -> Option<&str> {
    if fields.len() == 1 { fields.values().next().and_then(Value::as_str) } else { None }
}

/// Whether a result reports a failure. Any value of `isError` other than false counts as a failure.
fn is_error(value: &Value) -> bool {
    match value {
        Value::String(value) => {
            !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "false" | "0" | "no")
        }
        Value::Number(number) => number.as_f64() != Some(0.0),
        value => !matches!(value, Value::Null | Value::Bool(false)),
    }
}

/// Converts a content block. `original` is its original text. Blocks of unknown types, malformed blocks and resource
/// links are kept as JSON. Data for which vendors would reject the whole conversation is replaced by its length.
fn convert_block(block: &Value, original: OriginalText) -> Content {
    let mut repaired = block.clone();
    let has_no_type = repaired["mimeType"].as_str().is_none_or(|mime_type| mime_type.trim().is_empty());
    let kind = repaired["type"].as_str().unwrap_or_default();
    let data = repaired["data"].as_str().filter(|_| has_no_type).and_then(base64);
    if let Some(data) = data.and_then(|data| media_type(kind, &data)) {
        repaired["mimeType"] = data.into();
    }
    let content = match Content::deserialize(&repaired) {
        Ok(Content::Image { data, mime_type }) => {
            base64(&data).map(|data| Content::Image { data, mime_type })
        }
        Ok(Content::Audio { data, mime_type }) => {
            base64(&data).map(|data| Content::Audio { data, mime_type })
        }
        Ok(Content::Resource { uri, mime_type, data: ResourceData::Base64(data) }) => {
            base64(&data).map(|data| Content::Resource { uri, mime_type, data: ResourceData::Base64(data) })
        }
        Ok(Content::Link { .. }) | Err(_) => None,
        Ok(content) => Some(content),
    };
    content.unwrap_or_else(|| {
        let mut shortened_block = block.clone();
        let shortened =
            shorten(&mut shortened_block) | shortened_block.get_mut("resource").is_some_and(shorten);
        Content::Text(if shortened { shortened_block.to_string() } else { original.or_json(block) })
    })
}

/// Replaces the data of a content block by its length. Returns whether the block has data.
fn shorten(block: &mut Value) -> bool {
    let mut has_data = false;
    for key in ["data", "blob"] {
        if let Some(Value::String(data)) = block.get_mut(key) {
            *data = format!("[{} characters]", data.chars().count());
            has_data = true;
        }
    }
    has_data
}

/// Normalizes Base64 to the form that vendors accept: servers may send it with line breaks, in the URL-safe alphabet,
/// without padding, or as a `data:` URL. Returns `None` if the data is empty or is not Base64.
fn base64(data: &str) -> Option<String> {
    let digits = match data.trim_start().strip_prefix("data:") {
        Some(url) => url.split_once(";base64,")?.1,
        None => data,
    };
    let mut normalized: String = digits.chars().filter(|char| !char.is_ascii_whitespace()).collect();
    normalized.truncate(normalized.trim_end_matches('=').len());
    normalized = normalized.replace('-', "+").replace('_', "/");
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if normalized.is_empty() || normalized.len() % 4 == 1 || !normalized.bytes().all(is_digit) {
        return None;
    }
    normalized.push_str(["", "", "==", "="][normalized.len() % 4]);
    Some(normalized)
}

/// Detects the media type of an image or audio from the first bytes of its Base64.
fn media_type(kind: &str, base64: &str) -> Option<&'static str> {
    let head = STANDARD.decode(base64.get(..16).unwrap_or(base64)).ok()?;
    of_content(&head).filter(|media_type| media_type.split('/').next() == Some(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgen_kernel::engine::dynamic::DynamicTool;

    fn declaring(output: Option<&Value>) -> ToolSpec {
        let mut spec = DynamicTool::builder("t", "Does.").spec().unwrap();
        if let Some(output) = output {
            let (shape, defs) = toolgen_kernel::schema::shape::read::read_document(output, &mut Vec::new());
            spec.output = Some(toolgen_kernel::schema::shape::Schema::Tree(shape.into()));
            spec.defs = defs;
        }
        spec
    }

    #[test]
    fn every_kind_of_content_is_preserved() {
        let blocks = json!([
            {"type": "text", "text": "a", "annotations": {"audience": ["user"]}},
            {"type": "image", "data": "AQ==", "mimeType": "image/png"},
            {"type": "audio", "data": "AQ==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "x:/t", "mimeType": "text/plain", "text": "t"}},
            {"type": "resource", "resource": {"uri": "x:/b", "blob": "AA=="}},
            {"type": "resource_link", "uri": "x:/l", "name": "l"},
            {"type": "hologram", "waves": [1]},
            {"type": "image"},
            "loose",
        ]);
        let got = result(&declaring(None), json!({"content": blocks})).unwrap();
        let kinds: Vec<Value> = got.content.iter().map(|content| content.to_json()["type"].clone()).collect();
        let expected = ["text", "image", "audio", "resource", "resource", "text", "text", "text", "text"];
        assert_eq!(kinds, expected);
        let message = got.to_text();
        for part in
            [r#""uri":"x:/l""#, r#"{"type":"hologram","waves":[1]}"#, r#"{"type":"image"}"#, "\"loose\""]
        {
            assert!(message.contains(part), "{message}");
        }
        assert!(!got.is_error());
    }

    #[test]
    fn structured_content_is_not_repeated_as_text() {
        let value = json!({"n": 1, "of": ["a"]});
        let spec = declaring(None);
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        for (content, message) in [
            (text("{ \"of\": [\"a\"], \"n\": 1 }"), "{ \"of\": [\"a\"], \"n\": 1 }"),
            (text("one"), "one\n{\"n\":1,\"of\":[\"a\"]}"),
            (json!([]), "{\"n\":1,\"of\":[\"a\"]}"),
            (Value::Null, "{\"n\":1,\"of\":[\"a\"]}"),
        ] {
            let got = result(&spec, json!({"content": content, "structuredContent": value})).unwrap();
            assert_eq!(got.to_text(), message);
            assert_eq!(got.structured().unwrap().into_owned(), value);
        }
        let wrapped = json!({"content": text("hi"), "structuredContent": {"result": "hi"}});
        assert_eq!(result(&spec, wrapped).unwrap().to_text(), "hi");
    }

    #[test]
    fn declared_output_is_validated_and_becomes_the_result() {
        let output = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let spec = declaring(Some(&output));
        let picture = json!({"type": "image", "data": "AQ==", "mimeType": "image/png"});
        let text = json!({"type": "text", "text": "n is one"});
        let response = json!({"content": [text, picture], "structuredContent": {"n": 1}});
        let got = result(&spec, response).unwrap();
        assert_eq!((got.to_text().as_str(), got.content.len()), ("{\"n\":1}", 2));
        // Older servers send structured content only as text.
        let got = result(&spec, json!({"content": [{"type": "text", "text": "{\"n\": 2}"}]})).unwrap();
        assert_eq!(got.details, json!({"n": 2}));
        for (response, cause) in [
            (json!({"content": [text]}), "lacks the structured content"),
            (json!({"structuredContent": {"n": "x"}}), "/n: "),
            (json!({"structuredContent": {}}), "does not match its output schema"),
        ] {
            let error = result(&spec, response).unwrap_err();
            assert_eq!(error.code(), INVALID_OUTPUT);
            assert!(error.operator_text().contains(cause), "an operator reads the reason as well");
            assert!(error.to_string().contains(cause), "{error}");
        }
        // A failure need not match the output schema.
        for is_error in [json!(true), json!("true"), json!(1), json!({})] {
            let failed = result(&spec, json!({"content": [text], "isError": is_error})).unwrap();
            assert!(failed.is_error() && failed.to_text() == "n is one", "{is_error}");
        }
    }

    #[test]
    fn error_member_of_structured_content_is_not_a_failure() {
        let response = json!({"content": [], "structuredContent": {"error": "none found", "success": false}});
        let got = result(&declaring(None), response.clone()).unwrap();
        assert!(!got.is_error());
        assert_eq!(got.structured().unwrap().into_owned(), response["structuredContent"]);
    }

    #[test]
    fn invalid_binary_content_is_repaired_or_described() {
        let png = "iVBORw0KGgoAAAANSUhEUg==";
        let lines = format!("{}\n{}\r\n", &png[..8], &png[8..]);
        for (block, kept) in [
            (json!({"type": "image", "data": png}), Some((png, "image/png"))),
            (json!({"type": "image", "data": png, "mimeType": ""}), Some((png, "image/png"))),
            (json!({"type": "image", "data": "/9j_-w", "mimeType": 5}), Some(("/9j/+w==", "image/jpeg"))),
            (json!({"type": "image", "data": lines, "mimeType": "image/png"}), Some((png, "image/png"))),
            (
                json!({"type": "image", "data": format!("data:image/png;base64,{png}"), "mimeType": "image/png"}),
                Some((png, "image/png")),
            ),
            (json!({"type": "image", "data": "AQID"}), None),
            (json!({"type": "image", "data": "no base64!", "mimeType": "image/png"}), None),
            (json!({"type": "image", "data": "", "mimeType": "image/png"}), None),
            (json!({"type": "image", "data": "AQIDA", "mimeType": "image/png"}), None),
            (json!({"type": "resource", "resource": {"uri": "x:/y", "blob": "?"}}), None),
            (json!({"type": "resource", "resource": {"blob": "AQID"}}), None),
        ] {
            let got = result(&declaring(None), json!({"content": [block]})).unwrap();
            match (&got.content[0], kept) {
                (Content::Image { data, mime_type }, Some(kept)) => {
                    assert_eq!((data.as_str(), mime_type.as_str()), kept);
                }
                (Content::Text(text), None) => assert!(text.contains(" characters]"), "{text}"),
                other => panic!("{other:?} {block}"),
            }
        }
    }
}
