//! The content of a tool result, for formats that cannot represent all kinds of content.

use std::fmt;

use serde_json::Value;
use toolgen_kernel::base::media_type::essence;
use toolgen_kernel::call::ToolResponse;
use toolgen_kernel::call::result::{Content, ResourceData};
use toolgen_kernel::call::structured::Structured;

use super::ToolResultOptions;

/// The text of a successful result without content: some vendors reject an empty result.
const EMPTY_RESULT: &str = "Tool executed successfully";
/// The text of an error without a message.
const EMPTY_ERROR: &str = "Tool failed";

/// Binary data of a result.
pub(super) struct Media<'r> {
    pub(super) kind: MediaKind,
    /// The media type in lower case, without parameters.
    pub(super) mime_type: String,
    /// The bytes, as base64.
    pub(super) data: &'r str,
    /// The URI. May be empty.
    pub(super) uri: &'r str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaKind {
    Image,
    Audio,
    Resource,
}

/// The image types that every vendor with image support accepts.
pub(super) const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

impl Media<'_> {
    /// Whether this is an image, sent as an image or as a resource.
    pub(super) fn is_image(&self) -> bool {
        self.kind != MediaKind::Audio && IMAGES.contains(&self.mime_type.as_str())
    }

    pub(super) fn is_pdf(&self) -> bool {
        self.kind == MediaKind::Resource && self.mime_type == "application/pdf"
    }

    /// Returns the URL `data:image/png;base64,…`.
    pub(super) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }

    /// Returns the last segment of the URI, or an empty string.
    pub(super) fn file_name(&self) -> &str {
        let path = self.uri.split(['?', '#']).next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns a placeholder: `[image image/png, 12345 bytes, not shown: this format supports only text]`.
    fn note(&self, reason: &str) -> String {
        let kind = match self.kind {
            MediaKind::Image => "image",
            MediaKind::Audio => "audio",
            MediaKind::Resource => "resource",
        };
        let mut note = format!("[{kind}");
        for word in [self.uri, &self.mime_type] {
            if !word.is_empty() {
                note.push(' ');
                note.push_str(word);
            }
        }
        format!("{note}, {} bytes, not shown: {reason}]", decoded_len(self.data))
    }
}

/// Returns the number of bytes that a base64 string encodes.
fn decoded_len(base64: &str) -> usize {
    let digits = base64.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

/// Returns the result of a call that a program made, as the program parses it: the structured value as JSON, without
/// what surrounds it for a model, such as the status line of a response. `None` if there is no such value, or if a model
/// made the call.
pub(super) fn for_program(response: &ToolResponse) -> Option<String> {
    response.program.as_ref()?;
    let result = response.outcome.as_ref().ok().filter(|result| !result.is_error())?;
    match &result.structured {
        // Unchanged, because a number may be more precise than any value.
        Structured::Json(text) => result.structured().is_ok().then(|| text.to_string()),
        Structured::Details | Structured::DetailsWithout(_) if response.declared.is_some() => {
            Some(result.structured().ok()?.to_string())
        }
        _ => None,
    }
}

/// A part of the content, as the formats distinguish them.
enum ContentPart<'r> {
    Text(String),
    Media(Media<'r>),
}

fn part_of(content: &Content) -> ContentPart<'_> {
    let media = |kind, uri, mime_type: &str, data| {
        let mime_type = match essence(mime_type) {
            alias if alias == "image/jpg" => String::from("image/jpeg"),
            other => other,
        };
        ContentPart::Media(Media { kind, mime_type, data, uri })
    };
    match content {
        Content::Text(text) => ContentPart::Text(text.clone()),
        Content::Image { data, mime_type } => media(MediaKind::Image, "", mime_type, data),
        Content::Audio { data, mime_type } => media(MediaKind::Audio, "", mime_type, data),
        Content::Resource { uri, mime_type, data } => match data {
            ResourceData::Base64(data) => media(MediaKind::Resource, uri, mime_type, data),
            ResourceData::Text(text) => {
                let space = if mime_type.is_empty() { "" } else { " " };
                ContentPart::Text(format!("[resource {uri}{space}{mime_type}]\n{text}"))
            }
            other => unknown_content(other),
        },
        Content::Link { uri, name, mime_type, size } => {
            let words = [name.as_str(), mime_type, uri].into_iter().filter(|word| !word.is_empty());
            let words = words.collect::<Vec<_>>().join(" ");
            let size = size.map_or_else(String::new, |size| format!(", {size} bytes"));
            ContentPart::Text(format!("[link {words}{size}]"))
        }
        other => unknown_content(other),
    }
}

/// Represents content of a kind that this crate does not know.
fn unknown_content(content: &dyn fmt::Debug) -> ContentPart<'static> {
    let displayed = format!("{content:?}");
    ContentPart::Text(format!(
        "[{} that cannot be shown to a model]",
        displayed.split([' ', '(']).next().unwrap_or_default()
    ))
}

/// Why binary data is omitted from a result.
pub(super) const TEXT_ONLY: &str = "this format supports only text";
/// Why binary data is omitted from an error.
const TEXT_ONLY_PROGRAM: &str = "programs get only text";
const TEXT_ONLY_ERROR: &str = "errors support only text";
/// Returns why binary data is omitted from a result for Claude, on any host. Its API states: `all content must be type
/// "text" if "is_error" is true`.
pub(super) fn text_only_reason(
    response: &ToolResponse,
    options: &ToolResultOptions<'_>,
) -> Option<&'static str> {
    match (options.text_only, response.is_error()) {
        (true, _) => Some(TEXT_ONLY),
        (false, true) => Some(TEXT_ONLY_ERROR),
        (false, false) if response.program.is_some() => Some(TEXT_ONLY_PROGRAM),
        (false, false) => None,
    }
}

/// Why binary data is omitted from a result.
const UNSUPPORTED_MEDIA: &str = "this format does not support it";

/// Returns the parts of a result: at least one, and no empty text.
///
/// `media` renders binary data, or returns `None` if the data cannot be sent. `omission` is the reason if no binary
/// data can be sent.
pub(super) fn blocks(
    response: &ToolResponse,
    omission: Option<&str>,
    text: impl Fn(String) -> Value,
    media: impl Fn(&Media<'_>) -> Option<Value>,
) -> Vec<Value> {
    let mut blocks = Vec::new();
    for content in response.content().iter() {
        match part_of(content) {
            ContentPart::Text(body) if body.trim().is_empty() => {}
            ContentPart::Text(message) => blocks.push(text(message)),
            ContentPart::Media(media_part) => {
                let rendered = if omission.is_none() { media(&media_part) } else { None };
                blocks.push(
                    rendered.unwrap_or_else(|| text(media_part.note(omission.unwrap_or(UNSUPPORTED_MEDIA)))),
                );
            }
        }
    }
    if blocks.is_empty() {
        blocks.push(text(String::from(if response.is_error() { EMPTY_ERROR } else { EMPTY_RESULT })));
    }
    blocks
}

/// Returns the text of a result, one line per text part, and the media to send with it.
pub(super) fn text_and_media(
    response: &ToolResponse,
    omission: Option<&str>,
    media: impl Fn(&Media<'_>) -> Option<Value>,
) -> (String, Vec<Value>) {
    let (mut texts, mut media_blocks) = (Vec::new(), Vec::new());
    // Text parts are rendered as strings and all other parts as objects.
    for block in blocks(response, omission, Value::String, media) {
        match block {
            Value::String(text) => texts.push(text),
            block => media_blocks.push(block),
        }
    }
    if texts.is_empty() && response.is_error() {
        texts.push(EMPTY_ERROR.to_owned());
    }
    (texts.join("\n"), media_blocks)
}

/// Returns the text of a result for a format without an error flag.
pub(super) fn flagged_text(response: &ToolResponse, text: String) -> String {
    let has_prefix = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    if response.is_error() && !response.skipped && !has_prefix { format!("Error: {text}") } else { text }
}
