//! Calls, responses and specifications, in the notation of the cases.

use toolgen_runtime::ResourceData;
use toolgen_runtime::schema::shape::read::read_document;

use crate::prelude::*;

/// An ID as generated for a call that has none.
pub(crate) fn made_up_id() -> String {
    let calls = WireFormat::Gemini.tool_calls(&json!([{"functionCall": {"name": "x"}}])).unwrap();
    calls[0].id.to_string()
}

fn content(block: &Value) -> Content {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (data, mime_type) = (text(&block["data"]), text(&block["mimeType"]));
    match block["type"].as_str().unwrap() {
        "text" => Content::Text(text(&block["text"])),
        "image" => Content::Image { data, mime_type },
        "audio" => Content::Audio { data, mime_type },
        "resource" => {
            let resource = &block["resource"];
            let data = match resource.get("blob") {
                Some(blob) => ResourceData::Base64(text(blob)),
                None => ResourceData::Text(text(&resource["text"])),
            };
            Content::Resource { uri: text(&resource["uri"]), mime_type: text(&resource["mimeType"]), data }
        }
        other => panic!("no content: {other}"),
    }
}

/// A response in the notation of a case; the ID `*` is a generated one.
pub(crate) fn response(written: &Value) -> ToolResponse {
    let (id, name) = (written["id"].as_str().unwrap(), written["name"].as_str().unwrap());
    let id = if id == "*" { made_up_id() } else { id.to_owned() };
    let call = ToolCall::new(id, name, json!({}));
    if let Some(reason) = written["skipped"].as_str() {
        return ToolResponse::skipped(&call, reason);
    }
    let outcome = if let Some(reason) = written["error"].as_str() {
        Err(ToolError::failed(reason))
    } else if written["not_found"] == true {
        Err(ToolError::NotFound { name: name.to_owned(), suggestion: None })
    } else {
        let blocks = written["content"].as_array().unwrap();
        let result = ToolResult::empty().with_details(written["details"].clone());
        Ok(blocks.iter().map(content).fold(result, ToolResult::with_content))
    };
    ToolResponse::new(&call, outcome)
}

/// A specification with these schemas.
pub(crate) fn spec(name: &str, description: &str, input: &Value, output: Option<&Value>) -> ToolSpec {
    let mut problems = Vec::new();
    let (shape, defs) = read_document(input, &mut problems);
    let output = output.map(|output| read_document(output, &mut problems).0.into());
    assert_eq!(problems, []);
    ToolSpec {
        name: ToolName::parse(name.to_owned()).unwrap(),
        description: Text::from(description.to_owned()),
        input: shape.into(),
        output,
        defs,
        effects: Effects::NONE,
        ..ToolSpec::EMPTY
    }
}
