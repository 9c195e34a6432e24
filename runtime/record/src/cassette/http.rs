//! HTTP requests and responses on a cassette.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::redaction::Hiding;
use toolgen_kernel::engine::interceptor::{TapedAnswer, TapedRequest};

/// Headers that describe the transfer of the body, which is already decoded and may have become shorter by a mask.
const CARRYING: [&str; 3] = ["content-length", "transfer-encoding", "content-encoding"];

/// Writes a request.
pub(super) fn request(request: &TapedRequest) -> Value {
    let mut out = Map::new();
    out.insert("method".to_owned(), request.method.as_str().into());
    out.insert("url".to_owned(), request.url.as_str().into());
    out.insert("headers".to_owned(), headers(&request.headers));
    out.extend(body(&request.body, &request.headers).map(|body| ("body".to_owned(), body)));
    Value::Object(out)
}

/// Writes a response.
pub(super) fn response_json(response: &TapedAnswer) -> Value {
    let mut out = Map::new();
    out.insert("status".to_owned(), response.status.into());
    out.insert("headers".to_owned(), headers(&response.headers));
    out.extend(body(&response.body, &response.headers).map(|body| ("body".to_owned(), body)));
    Value::Object(out)
}

/// Reads a response.
pub(super) fn read_answer(written: &Value) -> Result<TapedAnswer, String> {
    if written.is_null() {
        return Err("it had no response when it was recorded".to_owned());
    }
    let status = written.get("status").and_then(Value::as_u64).and_then(|status| status.try_into().ok());
    let status = status.ok_or("its recorded answer has no `status`")?;
    let mut headers = Vec::new();
    for (name, value) in written.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        headers.extend(values.iter().filter_map(Value::as_str).map(|value| (name.clone(), value.to_owned())));
    }
    headers.retain(|(name, _)| !CARRYING.contains(&name.as_str()));
    let body = written.get("body").map_or(Ok(Vec::new()), bytes)?;
    Ok(TapedAnswer { status, headers, body })
}

/// Whether a written body is binary and holds a secret: a known credential, or a value that the rules of the redactor
/// hide.
pub(super) fn holds(body: &Value, hiding: &Hiding<'_>) -> bool {
    let Some(bytes) = body.get("base64").and_then(|_| bytes(body).ok()) else { return false };
    let hides = |text: &str| hiding.value(text.into()) != *text;
    let text = String::from_utf8_lossy(&bytes);
    // The rules do not handle UTF-16.
    hides(&text) || text.contains('\0') && hides(&text.replace('\0', ""))
}

fn headers(headers: &[(String, String)]) -> Value {
    let mut out = Map::new();
    for (name, value) in headers {
        let value = Value::from(value.as_str());
        match out.get_mut(name) {
            None => drop(out.insert(name.clone(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(one) => *one = json!([one.take(), value]),
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
    let of_json = |(name, value): &(String, String)| name == "content-type" && value.contains("json");
    let json = headers.iter().any(of_json).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
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
