//! HTTP requests and responses on a cassette.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::redaction::SecretFilter;
use toolgen_kernel::engine::interceptor::{RecordedRequest, RecordedResponse};

/// Headers that describe the transfer of the body, which is already decoded, and whose length a mask may have changed.
const TRANSFER_HEADERS: [&str; 3] = ["content-length", "transfer-encoding", "content-encoding"];

/// Returns a request as JSON.
pub(super) fn request(request: &RecordedRequest) -> Value {
    let mut out = Map::new();
    out.insert("method".to_owned(), request.method.as_str().into());
    out.insert("url".to_owned(), request.url.as_str().into());
    out.insert("headers".to_owned(), headers(&request.headers));
    out.extend(body(&request.body, &request.headers).map(|body| ("body".to_owned(), body)));
    Value::Object(out)
}

/// Returns a response as JSON.
pub(super) fn response_json(response: &RecordedResponse) -> Value {
    let mut out = Map::new();
    out.insert("status".to_owned(), response.status.into());
    out.insert("headers".to_owned(), headers(&response.headers));
    out.extend(body(&response.body, &response.headers).map(|body| ("body".to_owned(), body)));
    Value::Object(out)
}

/// Reads a response.
pub(super) fn read_response(recorded: &Value) -> Result<RecordedResponse, String> {
    if recorded.is_null() {
        return Err("it had no response when it was recorded".to_owned());
    }
    let status = recorded.get("status").and_then(Value::as_u64).and_then(|status| status.try_into().ok());
    let status = status.ok_or("its recorded response has no `status`")?;
    let mut headers = Vec::new();
    for (name, value) in recorded.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        headers.extend(values.iter().filter_map(Value::as_str).map(|value| (name.clone(), value.to_owned())));
    }
    headers.retain(|(name, _)| !TRANSFER_HEADERS.contains(&name.as_str()));
    let body = recorded.get("body").map_or(Ok(Vec::new()), bytes)?;
    Ok(RecordedResponse { status, headers, body })
}

/// Whether a recorded body is binary and holds a secret: a known credential, or a value that the rules of the redactor
/// hide.
pub(super) fn holds_secret(body: &Value, filter: &SecretFilter<'_>) -> bool {
    let Some(bytes) = body.get("base64").and_then(|_| bytes(body).ok()) else { return false };
    let has_secret = |text: &str| filter.value(text.into()) != *text;
    let text = String::from_utf8_lossy(&bytes);
    // The rules do not handle UTF-16.
    has_secret(&text) || text.contains('\0') && has_secret(&text.replace('\0', ""))
}

fn headers(headers: &[(String, String)]) -> Value {
    let mut out = Map::new();
    for (name, value) in headers {
        let value = Value::from(value.as_str());
        match out.get_mut(name) {
            None => drop(out.insert(name.clone(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = json!([first.take(), value]),
        }
    }
    Value::Object(out)
}

/// Writes a body: as JSON or text if possible, otherwise as Base64.
fn body(bytes: &[u8], headers: &[(String, String)]) -> Option<Value> {
    if bytes.is_empty() {
        return None;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Some(json!({ "base64": STANDARD.encode(bytes) }));
    };
    let is_json_type = |(name, value): &(String, String)| name == "content-type" && value.contains("json");
    let json = headers.iter().any(is_json_type).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
    Some(json.map_or_else(|| json!({ "text": text }), |json| json!({ "json": json })))
}

fn bytes(body: &Value) -> Result<Vec<u8>, String> {
    if let Some(json) = body.get("json") {
        return Ok(json.to_string().into_bytes());
    }
    let text = |key: &str| body.get(key).and_then(Value::as_str);
    if let Some(text) = text("text") {
        return Ok(text.as_bytes().to_vec());
    }
    let encoded = text("base64").ok_or("its recorded body is neither `json` nor `text` nor `base64`")?;
    STANDARD.decode(encoded).map_err(|error| format!("its recorded body is not Base64: {error}"))
}
