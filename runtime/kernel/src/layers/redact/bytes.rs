//! Binary content of results, which records usually omit.

use serde_json::Value;

use crate::call::result::{Content, ResourceData, ToolResult};

/// Returns a copy of the result in which images, audio and files are replaced by their length.
#[doc(hidden)]
pub fn without_binary(result: &ToolResult) -> ToolResult {
    let length = |data: &String| match data.starts_with('[') {
        // Already replaced: this is not base64.
        true => data.clone(),
        false => format!("[BASE64: {} characters]", data.len()),
    };
    let content = result.content.iter().map(|content| match content {
        Content::Image { data, mime_type } => {
            Content::Image { data: length(data), mime_type: mime_type.clone() }
        }
        Content::Audio { data, mime_type } => {
            Content::Audio { data: length(data), mime_type: mime_type.clone() }
        }
        Content::Resource { uri, mime_type, data: ResourceData::Base64(data) } => Content::Resource {
            uri: uri.clone(),
            mime_type: mime_type.clone(),
            data: ResourceData::Base64(length(data)),
        },
        other => other.clone(),
    });
    ToolResult {
        content: content.collect(),
        details: result.details.clone(),
        child_loop_id: result.child_loop_id.clone(),
        control: result.control.clone(),
        ..ToolResult::default()
    }
}

/// Puts the binary content of a result back into its recorded content.
pub(super) fn restore_bytes(result: &ToolResult, recorded: &mut Value) {
    for (index, content) in result.content.iter().enumerate() {
        let (pointer, data) = match content {
            Content::Image { data, .. } | Content::Audio { data, .. } => ("data", data),
            Content::Resource { data: ResourceData::Base64(data), .. } => ("resource/blob", data),
            _ => continue,
        };
        if let Some(slot) = recorded.pointer_mut(&format!("/{index}/{pointer}")) {
            *slot = Value::from(data.as_str());
        }
    }
}
