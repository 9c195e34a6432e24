//! Converts a response to a tool result.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use reqwest::{Response, StatusCode};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::media_type::{essence, is_json, is_json_lines, is_xml};
use toolgen_kernel::call::result::{Content, ResourceData, ToolResult};
use toolgen_kernel::call::structured::Structured;
use toolgen_kernel::spec::plan::{Xml, is_binary_media_type};

use super::request::HttpRequest;
use super::response_text::{TRUNCATED, VisibleResponse};
use super::save::{self, SaveOptions};
use super::sequence::{EventData, Sequence, event_data};
use super::transport::{Reply, header};
use super::{charset, response_text, xml};

/// The reason why an empty body has no structured result.
pub(super) const EMPTY: &str = "the body is empty";
/// The reason why an incomplete or binary body has no structured result.
pub(super) const NO_TEXT: &str = "the body is incomplete, or not text";

/// The limits of reading a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyLimits<'p> {
    /// The limit for text and most binary types, in bytes.
    pub(super) bytes: usize,
    /// The limit for images and audio, in bytes. An incomplete image or recording is useless.
    pub(super) media_bytes: usize,
    /// The time to stop reading an event stream, which may never end.
    pub(super) stream_deadline: Option<Instant>,
    /// Whether the body is also the structured result of the tool.
    pub(super) structured: bool,
    /// The headers that a success reports besides `Location`.
    pub(super) reported_headers: &'p [Text],
    /// The redirects that are successes.
    pub(super) redirects: &'p [u16],
    /// The schema of an XML response.
    pub(super) xml: Option<&'p Xml>,
    /// The type of event data, if the structured result is a list of events.
    pub(super) events: Option<EventData>,
    /// The store for the body, if it is saved.
    pub(super) save: Option<SaveOptions<'p>>,
}

impl BodyLimits<'_> {
    /// Whether a status is a success of the operation.
    pub(super) fn is_success(&self, status: StatusCode) -> bool {
        status.is_success() || self.redirects.contains(&status.as_u16())
    }
}

/// The kind of a body, as a model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Events,
    Image,
    Audio,
    Binary,
    /// The headers do not determine the kind; the bytes do.
    Unknown,
}

/// The part of a body that was read.
pub(super) struct BodyPrefix {
    pub(super) bytes: Vec<u8>,
    pub(super) truncated: bool,
    /// Bytes that arrived with the end of the prefix, but exceed the limit.
    pub(super) excess: Vec<u8>,
}

impl BodyPrefix {
    /// Creates a prefix without excess bytes.
    fn new(bytes: Vec<u8>, truncated: bool) -> BodyPrefix {
        BodyPrefix { bytes, truncated, excess: Vec::new() }
    }
}

/// Returns the result of a call: the body as content, everything else in the details.
pub(super) async fn result(
    request: &HttpRequest,
    reply: Reply,
    limits: BodyLimits<'_>,
) -> Result<ToolResult, reqwest::Error> {
    let Reply { mut response, final_url, redirect_error } = reply;
    let status = response.status();
    let content_type = content_type(request, response.headers());
    let headers = headers(request, response.headers());
    let kind = kind(&content_type, response.headers().contains_key(CONTENT_ENCODING));
    let limit = if matches!(kind, Kind::Image | Kind::Audio) { limits.media_bytes } else { limits.bytes };
    let deadline = if kind == Kind::Events { limits.stream_deadline } else { None };
    let mut prefix = read(&mut response, limit, deadline).await?;
    let mut truncated = prefix.truncated;
    let url = request.redacted_url();
    let is_text = is_text(kind, &prefix);
    let must_save = |save: &SaveOptions<'_>| save.all || !is_text || (truncated && kind != Kind::Events);
    let options = limits.save.filter(|options| status.is_success() && must_save(options));
    let saved = match options {
        Some(options) => {
            let mut start = prefix.bytes.clone();
            start.append(&mut prefix.excess);
            let last_url = final_url.as_ref().map(|url| request.credentials.redact_url(url.as_str()));
            let source = last_url.as_deref().unwrap_or(&url);
            let name = save::file_name(request, response.headers(), &content_type, source);
            Some(save::body(options, request, (&mut response, truncated), start, name, deadline).await?)
        }
        None => None,
    };
    let is_success = limits.is_success(status);
    let mut head = response_text::head(request, status, final_url.as_ref());
    response_text::append_headers(
        &mut head,
        status,
        &headers,
        is_success.then_some(limits.reported_headers),
        redirect_error,
    );
    let has_body = is_success && status != StatusCode::NOT_MODIFIED;
    let declared =
        if limits.structured && has_body { as_json(&prefix, &content_type, &limits) } else { Ok(None) };
    let visible = VisibleResponse { head: &head, url: &url, content_type: &content_type, is_success, limit };
    let (mut result, unread) = match declared {
        Ok(Some(json)) => {
            let (json, is_cut) = truncate_list(json, limit);
            truncated |= is_cut;
            (declared_content(request, visible, &json, truncated), None)
        }
        Ok(None) => (content(request, visible, kind, prefix), None),
        Err(error) => {
            let unread = format!("the response does not match the declared result: {error}");
            (content(request, visible, kind, prefix), Some(unread))
        }
    };
    if limits.structured {
        result.structured = match &unread {
            Some(reason) => Structured::Missing(reason.clone().into()),
            None => structured(&result, &head, (!has_body).then_some(status)),
        };
    }
    result.details = json!({
        "status": status.as_u16(),
        "method": request.method,
        "url": url,
        "ok": is_success,
        "headers": headers,
        "truncated": truncated,
        "content_type": content_type,
    });
    let final_url = final_url.map(|url| request.credentials.redact_url(url.as_str()));
    let refusal = redirect_error.map(str::to_owned);
    let optional = [("final_url", final_url), ("redirect_refused", refusal), ("unread", unread)];
    for (key, value) in optional.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        result.details[key] = value.into();
    }
    if let Some(saved) = saved {
        save::report_saved_file(&mut result, &head, is_text, saved);
    }
    Ok(result)
}

/// Returns the content of a body that was read as its declared result.
fn declared_content(
    request: &HttpRequest,
    visible: VisibleResponse<'_>,
    json: &Value,
    truncated: bool,
) -> ToolResult {
    let body = BodyPrefix::new(json.to_string().into_bytes(), truncated);
    content(request, VisibleResponse { content_type: "application/json", ..visible }, Kind::Text, body)
}

/// Truncates a list to the items that fit the limit. Also returns whether items were dropped.
fn truncate_list(json: Value, limit: usize) -> (Value, bool) {
    let Value::Array(mut items) = json else { return (json, false) };
    let sizes: Vec<usize> = items.iter().map(|item| item.to_string().len() + 1).collect();
    let mut size = 1;
    let count = sizes.iter().take_while(|len| (size += *len, size <= limit).1).count();
    let is_cut = count < items.len();
    items.truncate(count);
    (Value::Array(items), is_cut)
}

/// Returns the body as the structured result that the tool declares, unless the service returned another status.
fn structured(result: &ToolResult, head: &str, other_status: Option<StatusCode>) -> Structured {
    if let Some(status) = other_status {
        return Structured::Missing(format!("the service returned the status {}", status.as_u16()).into());
    }
    match result.content.as_slice() {
        [Content::Text(text)] if !text.ends_with(TRUNCATED) => {
            let body = text.strip_prefix(head).and_then(|after_head| after_head.split_once("\n\n"));
            match body {
                Some((_, body)) => Structured::Json(Text::copy_of(body)),
                None => Structured::Missing(EMPTY.into()),
            }
        }
        _ => Structured::Missing(NO_TEXT.into()),
    }
}

/// Converts a body that is not JSON: a sequence to an array of its items, or XML by its schema. A truncated sequence
/// returns its complete items.
///
/// # Errors
///
/// Returns a message if the body is invalid in its format.
pub(super) fn as_json(
    prefix: &BodyPrefix,
    content_type: &str,
    limits: &BodyLimits<'_>,
) -> Result<Option<Value>, String> {
    let essence = essence(content_type);
    let text = || charset::decode(&prefix.bytes, content_type, prefix.truncated);
    if let Some(response) = limits.xml.filter(|_| !prefix.truncated && is_xml(&essence)) {
        return xml::read(&text(), response).map(Some);
    }
    let is_text = limits.events.is_none() && !is_json_lines(&essence);
    let data = limits.events.unwrap_or(EventData::Text);
    let Some(mut sequence) = Sequence::of(content_type, data, usize::MAX).filter(|_| !is_text) else {
        return Ok(None);
    };
    let mut items = Vec::new();
    sequence.push(text().as_bytes(), &mut items)?;
    if !prefix.truncated {
        sequence.end(&mut items)?;
    }
    Ok(Some(Value::Array(items)))
}

/// Reads until the end, the limit or the deadline. Does not wait for more.
pub(super) async fn read(
    response: &mut Response,
    limit: usize,
    deadline: Option<Instant>,
) -> Result<BodyPrefix, reqwest::Error> {
    let mut bytes = Vec::new();
    loop {
        let chunk = match deadline {
            Some(deadline) => match timeout_at(deadline, response.chunk()).await {
                Ok(chunk) => chunk?,
                Err(_) => return Ok(BodyPrefix::new(bytes, true)),
            },
            None => response.chunk().await?,
        };
        let Some(chunk) = chunk else { return Ok(BodyPrefix::new(bytes, false)) };
        // One byte more than the limit shows whether a body just fits.
        let capacity = limit.saturating_sub(bytes.len());
        bytes.extend_from_slice(&chunk[..chunk.len().min(capacity)]);
        if chunk.len() > capacity {
            return Ok(BodyPrefix { bytes, truncated: true, excess: chunk[capacity..].to_vec() });
        }
    }
}

fn kind(content_type: &str, is_encoded: bool) -> Kind {
    let essence = essence(content_type);
    const TEXT_TYPES: [&str; 7] = [
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
        "application/yaml",
        "application/x-yaml",
        "application/graphql",
        "application/x-www-form-urlencoded",
    ];
    if is_encoded {
        // The client has removed the header for the encodings that it supports.
        Kind::Binary
    } else if essence == "text/event-stream" {
        Kind::Events
    } else if essence.starts_with("text/")
        || is_json(&essence)
        || is_json_lines(&essence)
        || is_xml(&essence)
        || essence.ends_with("+yaml")
        || TEXT_TYPES.contains(&essence.as_str())
    {
        Kind::Text
    } else if essence.starts_with("image/") {
        Kind::Image
    } else if essence.starts_with("audio/") {
        Kind::Audio
    } else if is_binary_media_type(&essence) {
        Kind::Binary
    } else if charset::has_charset(content_type) {
        Kind::Text
    } else {
        Kind::Unknown
    }
}

/// Whether a model sees the body as text.
fn is_text(kind: Kind, prefix: &BodyPrefix) -> bool {
    match kind {
        Kind::Text | Kind::Events => true,
        Kind::Unknown => charset::is_utf8(&prefix.bytes, prefix.truncated),
        _ => prefix.bytes.is_empty(),
    }
}

fn content(
    request: &HttpRequest,
    visible: VisibleResponse<'_>,
    kind: Kind,
    prefix: BodyPrefix,
) -> ToolResult {
    let VisibleResponse { head, url, content_type, .. } = visible;
    let is_text = is_text(kind, &prefix);
    let BodyPrefix { bytes, truncated, .. } = prefix;
    if is_text {
        let mut text = charset::decode(&bytes, content_type, truncated);
        if truncated {
            request.credentials.cut_unfinished(&mut text);
        }
        if kind == Kind::Events {
            text = event_data(&text, truncated);
        }
        return ToolResult::text(response_text::text(request, visible, &text, truncated));
    }
    let mime_type = content_type.split(';').next().unwrap_or_default().trim();
    let mime_type = if mime_type.is_empty() { "application/octet-stream" } else { mime_type }.to_owned();
    let size = bytes.len();
    if truncated && matches!(kind, Kind::Image | Kind::Audio) {
        return ToolResult::text(format!("{head}\n\n[{mime_type}, more than {size} bytes: omitted]"));
    }
    let extent = if truncated { format!("the first {size} bytes") } else { format!("{size} bytes") };
    if request.credentials.contains_secret(&bytes) {
        return ToolResult::text(format!(
            "{head}\n\n[{mime_type}, {extent}: omitted because it contains a credential]"
        ));
    }
    let result = ToolResult::text(format!("{head}\n\n[{mime_type}, {extent}]"));
    let data = STANDARD.encode(bytes);
    result.with_content(match kind {
        Kind::Image => Content::Image { data, mime_type },
        Kind::Audio => Content::Audio { data, mime_type },
        _ => Content::Resource { uri: url.to_owned(), mime_type, data: ResourceData::Base64(data) },
    })
}

/// Returns the media type of a response, or that of binary data if the header contains a credential.
fn content_type(request: &HttpRequest, headers: &HeaderMap) -> String {
    let declared = header(headers, CONTENT_TYPE.as_str());
    match request.credentials.contains_secret(declared.as_bytes()) {
        true => "application/octet-stream".to_owned(),
        false => declared,
    }
}

/// Returns the headers as an object. Repeated headers are joined by a comma, and session cookies are redacted.
pub(super) fn headers(request: &HttpRequest, headers: &HeaderMap) -> Map<String, Value> {
    let mut out = Map::new();
    for name in headers.keys() {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        let joined = values.collect::<Vec<_>>().join(", ");
        let displayed = match name.as_str() {
            "set-cookie" => "****".to_owned(),
            _ => request.credentials.redact(&joined),
        };
        out.insert(name.as_str().to_owned(), Value::String(displayed));
    }
    out
}

/// Returns when to stop reading an event stream: before the call ends, so that the events are not lost.
pub(super) fn stream_deadline(started: Instant, limit: Option<Duration>) -> Option<Instant> {
    limit.map(|limit| started + limit.saturating_sub((limit / 10).min(Duration::from_millis(250))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_classified() {
        for (content_type, expected) in [
            ("application/problem+json; charset=utf-8", Kind::Text),
            ("TEXT/HTML", Kind::Text),
            ("image/svg+xml", Kind::Text),
            ("text/event-stream;charset=utf-8", Kind::Events),
            ("image/png", Kind::Image),
            ("audio/mpeg", Kind::Audio),
            ("application/pdf", Kind::Binary),
            ("", Kind::Unknown),
        ] {
            assert_eq!(kind(content_type, false), expected, "{content_type}");
        }
        assert_eq!(kind("application/json", true), Kind::Binary);
    }
}
