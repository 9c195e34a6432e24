//! A successful answer to a call from Rust, with its status and its headers.

use reqwest::header::HeaderMap;
use serde_json::{Map, Value};

use super::request::HttpRequest;
use super::response;
use crate::engine::typed::FromJson;
use crate::spec::plan::is_secret_header;

/// A successful answer: its value, its status and its headers, without those that may hold credentials.
///
/// ```ignore
/// let made = engine.answer(petstore::AddPet::new("Rex"), &ToolContext::new("", "")).await?;
/// let at: Option<String> = made.headers::<petstore::AddPetHeaders>().location;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer<T> {
    /// The body, as the type of the result.
    pub value: T,
    /// The status.
    pub status: u16,
    headers: Map<String, Value>,
}

impl<T> Answer<T> {
    pub(super) fn new(value: T, status: u16, headers: Map<String, Value>) -> Answer<T> {
        Answer { value, status, headers }
    }

    /// Returns a header, whatever the case of its name. Repeated ones are joined by a comma.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(&name.to_ascii_lowercase()).and_then(Value::as_str)
    }

    /// Returns the headers as a type, such as the generated `…Headers` of an operation: an object with their
    /// names in lower case. If a field is a number or a boolean, the text of its header is read as one; what
    /// cannot be read is left out.
    #[must_use]
    pub fn headers<H: FromJson + Default>(&self) -> H {
        let mut headers = self.headers.clone();
        // Each header is read again, or left out, at most once.
        for _ in 0..=2 * self.headers.len() {
            let wrong = match H::from_json(Value::Object(headers.clone())) {
                Ok(read) => return read,
                Err(wrong) => wrong,
            };
            let Some(name) = wrong.first_key() else { break };
            let text = headers.get(&name).and_then(Value::as_str).map(str::trim);
            let scalar = text.and_then(|text| serde_json::from_str(text).ok());
            match scalar.filter(|value: &Value| value.is_number() || value.is_boolean()) {
                Some(scalar) => drop(headers.insert(name, scalar)),
                None if headers.remove(&name).is_none() => break,
                None => {}
            }
        }
        H::default()
    }
}

/// Returns the headers of an answer that a program sees.
pub(super) fn shown(request: &HttpRequest, headers: &HeaderMap) -> Map<String, Value> {
    let mut shown = response::headers(request, headers);
    shown.retain(|name, _| !is_secret_header(name));
    shown
}
