//! The result of a tool call.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value, json};
use toolgen_core::internal::rounded_integers;

use crate::base::data::plain_data;
use crate::base::frozen::Text;
use crate::base::redacted_debug::{Redacted, discreet_debug};
use crate::call::control::Control;
use crate::call::structured::{INVALID_OUTPUT, NOT_JSON, Structured, TOO_LARGE, no_structured_result};
use crate::spec::output::StructuredOutput;

/// The member of the details of a failure that tells operators how to fix it.
#[doc(hidden)]
pub const OPERATOR: &str = "operator";

/// The result of a tool call.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The content that the model sees.
    pub content: Vec<Content>,
    /// Data for the program; never sent to the model.
    pub details: Value,
    /// The ID of the sub-agent loop that produced the result.
    pub child_loop_id: Option<String>,
    /// The request to the agent loop.
    pub control: Control,
    /// The location of the structured value that the tool declares as its result.
    pub structured: Structured,
    /// The paths of the fields that the call selected, see [`ToolSpec::projection`](crate::ToolSpec::projection). Empty
    /// if the result is whole.
    pub selected: Vec<Text>,
}

/// A piece of a result. Binary data is a Base64 string, as all vendors expect.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text(String),
    /// An image.
    Image {
        /// The bytes, as base64.
        data: String,
        /// The media type, such as `image/png`.
        mime_type: String,
    },
    /// An audio clip.
    Audio {
        /// The bytes, as base64.
        data: String,
        /// The media type, such as `audio/wav`.
        mime_type: String,
    },
    /// Anything else, identified by a URI.
    Resource {
        /// The URI.
        uri: String,
        /// The media type. Empty if unknown.
        mime_type: String,
        /// The content.
        data: ResourceData,
    },
    /// A resource that is stored elsewhere, such as a file that a call has written.
    Link {
        /// The URI.
        uri: String,
        /// The name shown to people, such as the file name.
        name: String,
        /// The media type. Empty if unknown.
        mime_type: String,
        /// The size in bytes, if known.
        size: Option<u64>,
    },
}

/// The content of a resource.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceData {
    /// Plain text.
    Text(String),
    /// Bytes, as base64.
    Base64(String),
}

discreet_debug!(ToolResult: content, child_loop_id, control, structured, selected; details);

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Text(text) => f.debug_tuple("Text").field(&Redacted(text)).finish(),
            Content::Image { data, mime_type } => {
                f.debug_struct("Image").field("mime_type", mime_type).field("data", &Redacted(data)).finish()
            }
            Content::Audio { data, mime_type } => {
                f.debug_struct("Audio").field("mime_type", mime_type).field("data", &Redacted(data)).finish()
            }
            Content::Resource { uri, mime_type, data } => f
                .debug_struct("Resource")
                .field("uri", &Redacted(uri))
                .field("mime_type", mime_type)
                .field("data", data)
                .finish(),
            Content::Link { uri, name, mime_type, size } => f
                .debug_struct("Link")
                .field("uri", &Redacted(uri))
                .field("name", &Redacted(name))
                .field("mime_type", mime_type)
                .field("size", size)
                .finish(),
        }
    }
}

impl fmt::Debug for ResourceData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResourceData::Text(text) => f.debug_tuple("Text").field(&Redacted(text)).finish(),
            ResourceData::Base64(data) => f.debug_tuple("Base64").field(&Redacted(data)).finish(),
        }
    }
}

plain_data!(ToolResult: content, details; child_loop_id, control, structured, selected);

impl ToolResult {
    /// Creates an empty result.
    #[must_use]
    pub fn empty() -> ToolResult {
        ToolResult::default()
    }

    /// Creates a result from text for the model.
    pub fn text(text: impl Into<String>) -> ToolResult {
        ToolResult { content: vec![Content::Text(text.into())], ..ToolResult::default() }
    }

    /// Creates a result from a JSON value: compact text for the model, and the unchanged value in `details`.
    #[must_use]
    pub fn json(value: Value) -> ToolResult {
        let text = value.to_string();
        ToolResult { details: value, ..ToolResult::text(text) }
    }

    /// Adds a piece of content.
    #[must_use]
    pub fn with_content(mut self, content: Content) -> ToolResult {
        self.content.push(content);
        self
    }

    /// Sets the details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> ToolResult {
        self.details = details;
        self
    }

    /// Sets the ID of the sub-agent loop that produced the result.
    #[must_use]
    pub fn with_child_loop(mut self, id: impl Into<String>) -> ToolResult {
        self.child_loop_id = Some(id.into());
        self
    }

    /// Sets the request to the agent loop.
    #[must_use]
    pub fn with_control(mut self, control: Control) -> ToolResult {
        self.control = control;
        self
    }

    /// The text content, one piece per line.
    #[must_use]
    pub fn to_text(&self) -> String {
        if let [Content::Text(text)] = self.content.as_slice() {
            return text.clone();
        }
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Like [`to_text`](Self::to_text), but consumes the result.
    #[must_use]
    pub fn into_text(mut self) -> String {
        match self.content.as_mut_slice() {
            [Content::Text(text)] => std::mem::take(text),
            _ => self.to_text(),
        }
    }

    /// Whether the tool itself reports a failure: the details hold `"success": false`, or an `error` without
    /// `"success": true`. An `error` that is `null`, `false`, `0` or empty does not count.
    #[must_use]
    pub fn is_error(&self) -> bool {
        let success = self.details.get("success").and_then(Value::as_bool);
        let error = self.details.get("error").is_some_and(|error| !is_empty(error));
        success == Some(false) || (error && success != Some(true))
    }

    /// Returns what the operator of the program can do about a failure that the result reports (`details.operator`),
    /// such as replacing a rejected credential. For a success without the [structured](Self::structured) result that
    /// the tool declares, returns how the result differs from the declaration. `None` if there is nothing to report.
    #[must_use]
    pub fn operator_text(&self) -> Option<&str> {
        self.details.get(OPERATOR).and_then(Value::as_str).filter(|_| {
            // Otherwise the details may be the value, which may have a member of this name.
            self.is_error() || matches!(self.structured, Structured::Missing(_))
        })
    }

    /// The result as `{"content", "details"}`, with `child_loop_id` if there is one. The content is in MCP form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let content: Vec<Value> = self.content.iter().map(Content::to_json).collect();
        let mut out = json!({ "content": content, "details": self.details });
        if let Some(id) = &self.child_loop_id {
            out["child_loop_id"] = Value::from(id.as_str());
        }
        out
    }

    /// Returns the structured value that the tool declares as its result.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no such value.
    pub fn structured(&self) -> Result<Cow<'_, Value>, Cow<'_, str>> {
        match &self.structured {
            Structured::Details => Ok(Cow::Borrowed(&self.details)),
            Structured::DetailsWithout(added) => {
                let mut value = self.details.clone();
                if let Value::Object(members) = &mut value {
                    members.retain(|name, _| !added.iter().any(|added_name| added_name.as_str() == name));
                }
                Ok(Cow::Owned(value))
            }
            Structured::Json(text) => {
                let value = serde_json::from_str(text).map_err(|error| {
                    let too_large = error.to_string().starts_with("number out of range");
                    Cow::Borrowed(if too_large { TOO_LARGE } else { NOT_JSON })
                })?;
                match rounded_integers(text, &value).is_empty() {
                    true => Ok(Cow::Owned(value)),
                    false => Err(Cow::Borrowed(
                        "it has an integer outside the 64-bit range; only the content has its exact value",
                    )),
                }
            }
            Structured::Missing(reason) => Err(Cow::Borrowed(reason)),
        }
    }

    /// Makes the result an error if its structured value does not match the output schema of its tool, because callers
    /// rely on the schema.
    pub(crate) fn enforce_output_schema(&mut self, declared: &StructuredOutput) {
        if declared.may_differ || self.is_error() || !matches!(self.control, Control::Continue) {
            return;
        }
        let problems = match self.structured() {
            Ok(value) => declared.problems(&value),
            // The content has the value as text.
            Err(_) => return,
        };
        let Some(first) = problems.first() else { return };
        let reason = format!("it does not match the declaration: {}", first.of_result());
        let message = no_structured_result(&reason);
        self.content.insert(0, Content::Text(message.clone()));
        self.details = json!({ "success": false, "error": message, "code": INVALID_OUTPUT });
        self.structured = Structured::Missing(reason.into());
    }

    /// Records that a member of the details was added for the program and is not part of the declared output.
    pub(crate) fn added_to_details(&mut self, name: &'static str) {
        match &mut self.structured {
            Structured::Details => self.structured = Structured::DetailsWithout(vec![name.into()]),
            Structured::DetailsWithout(added) => added.push(name.into()),
            Structured::Json(_) | Structured::Missing(_) => {}
        }
    }
}

impl Content {
    /// The piece in MCP form (`ContentBlock` of version 2025-06-18).
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Content::Text(text) => json!({ "type": "text", "text": text }),
            Content::Image { data, mime_type } => {
                json!({ "type": "image", "data": data, "mimeType": mime_type })
            }
            Content::Audio { data, mime_type } => {
                json!({ "type": "audio", "data": data, "mimeType": mime_type })
            }
            Content::Resource { uri, mime_type, data } => {
                let mut resource = Map::new();
                resource.insert("uri".to_owned(), Value::from(uri.as_str()));
                if !mime_type.is_empty() {
                    resource.insert("mimeType".to_owned(), Value::from(mime_type.as_str()));
                }
                let (key, text) = match data {
                    ResourceData::Text(text) => ("text", text),
                    ResourceData::Base64(text) => ("blob", text),
                };
                resource.insert(key.to_owned(), Value::from(text.as_str()));
                json!({ "type": "resource", "resource": resource })
            }
            Content::Link { uri, name, mime_type, size } => {
                let mut link = json!({ "type": "resource_link", "uri": uri, "name": name });
                if !mime_type.is_empty() {
                    link["mimeType"] = Value::from(mime_type.as_str());
                }
                if let Some(size) = size {
                    link["size"] = Value::from(*size);
                }
                link
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        ToolResult::text(text)
    }
}

impl From<&str> for ToolResult {
    fn from(text: &str) -> Self {
        ToolResult::text(text)
    }
}

impl From<()> for ToolResult {
    fn from((): ()) -> Self {
        ToolResult::empty()
    }
}

impl From<Value> for ToolResult {
    fn from(value: Value) -> Self {
        ToolResult::json(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_serializes_as_mcp_content() {
        let blob = ResourceData::Base64("AA==".into());
        let result = ToolResult::text("a")
            .with_content(Content::Image { data: "AQ==".into(), mime_type: "image/png".into() })
            .with_content(Content::Resource { uri: "x:/y".into(), mime_type: String::new(), data: blob })
            .with_details(json!({"k": 1}))
            .with_child_loop("s.sub.1");
        assert_eq!(
            result.to_json(),
            json!({
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image", "data": "AQ==", "mimeType": "image/png"},
                    {"type": "resource", "resource": {"uri": "x:/y", "blob": "AA=="}},
                ],
                "details": {"k": 1},
                "child_loop_id": "s.sub.1",
            })
        );
        assert_eq!(ToolResult::empty().to_json(), json!({"content": [], "details": null}));
    }

    #[test]
    fn details_can_mark_a_result_as_failed() {
        let cases = [
            (json!(null), false),
            (json!({"success": false}), true),
            (json!({"error": "x"}), true),
            (json!({"error": "x", "success": true}), false),
            (json!({"error": null}), false),
            (json!({"error": false}), false),
            (json!({"error": ""}), false),
            (json!({"error": 0}), false),
            (json!({"error": []}), false),
            (json!({"error": {}}), false),
            (json!({"error": "", "success": false}), true),
            (json!({"error": true}), true),
            (json!({"error": -1}), true),
            (json!({"error": {"code": 1}}), true),
            (json!({"ok": false, "status": 404}), false),
        ];
        for (details, is_error) in cases {
            assert_eq!(ToolResult::text("x").with_details(details.clone()).is_error(), is_error, "{details}");
        }
    }
}
