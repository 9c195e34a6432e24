//! Typed calls from Rust: the compiler checks the arguments, and results are parsed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::{Map, Value};
use tokio::time::Instant;
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::base::media_type::is_json;
use toolgen_kernel::call::Turn;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::engine::deadline::within;
use toolgen_kernel::engine::typed::{FromJson, TypedItems, TypedTool};
use toolgen_kernel::spec::plan::{Tool, is_secret_header};

use super::call_error::{CallError, ResponseContext, json_mismatch};
use super::engine::HttpEngine;
use super::failure::{explain, network_error};
use super::inner::Inner;
use super::items::PagedItems;
use super::request::HttpRequest;
use super::response::{BodyLimits, BodyPrefix, as_json, read};
use super::sender::RequestSender;
use super::transport::Reply;
use super::transport::header;
use super::{charset, response};

impl HttpEngine {
    /// Calls a tool with typed arguments.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`]. Unlike for a model, a status other than success is an error.
    pub async fn call<A: TypedTool>(&self, arguments: A) -> Result<A::Output, CallError> {
        self.call_in(arguments, Turn::default()).await
    }

    /// Like [`call`](Self::call), in a turn, or in that of a tool's context: its token cancels the call; its time limit
    /// and allowed hosts apply.
    ///
    /// ```ignore
    /// let turn = Turn::default().with_timeout(Duration::from_secs(2));
    /// let pets = engine.call_in(petstore::ListPets::new().with_limit(5), &turn).await?;
    /// ```
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call). Returns [`CallError::Transport`] with
    /// [`ToolError::Cancelled`](toolgen_kernel::call::error::ToolError::Cancelled) if the token is cancelled, or with a
    /// denial if the turn does not allow the host.
    pub async fn call_in<A: TypedTool>(
        &self,
        arguments: A,
        turn: impl Into<Turn>,
    ) -> Result<A::Output, CallError> {
        Ok(self.call_with_response(arguments, turn).await?.value)
    }

    /// Like [`call_in`](Self::call_in), and also returns the status and the headers of the response, such as the
    /// location or version of a new resource, or a total count.
    ///
    /// ```ignore
    /// let pets = engine.call_with_response(petstore::ListPets::new(), Turn::default()).await?;
    /// let total = pets.headers::<petstore::ListPetsHeaders>().x_total_count;
    /// ```
    ///
    /// # Errors
    ///
    /// As [`call_in`](Self::call_in).
    pub async fn call_with_response<A: TypedTool>(
        &self,
        arguments: A,
        turn: impl Into<Turn>,
    ) -> Result<TypedResponse<A::Output>, CallError> {
        let turn = turn.into();
        let ctx = turn.base();
        let (tool, arguments) = (A::tool(), as_json_arguments(arguments)?);
        let limit = self.inner.time_limit(&tool.spec, ctx.timeout());
        let run = call_within(&self.inner, tool, arguments, limit, ctx);
        within(limit, ctx, run).await.map_err(CallError::transport_error(tool))?
    }

    /// Returns the items of a list for typed arguments, like [`items`](Self::items): of a paginated list, or of a
    /// response that is a sequence, such as events.
    ///
    /// ```ignore
    /// let mut pets = engine.items_of(petstore::ListPets::new())?;
    /// while let Some(pet) = pets.next().await {
    ///     println!("{}", pet?.name);
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Transport`] if the arguments cannot be serialized as JSON.
    pub fn items_of<A: TypedItems>(&self, arguments: A) -> Result<PagedItems<A::Item>, CallError> {
        Ok(self.items(A::tool(), as_json_arguments(arguments)?).of())
    }
}

async fn call_within<T: FromJson>(
    engine: &Arc<Inner>,
    tool: &'static Tool,
    arguments: Value,
    limit: Option<Duration>,
    ctx: &ToolContext,
) -> Result<TypedResponse<T>, CallError> {
    let failed = CallError::transport_error(tool);
    let deadline = limit.map(|limit| Instant::now() + limit);
    let tool = Frozen::Static(tool);
    let request = engine.prepare(&tool, arguments).await.map_err(failed)?;
    let mut sender = RequestSender::new(engine, &tool, ctx, deadline).map_err(failed)?;
    let request = sender.authenticate(request).await.map_err(failed)?;
    let Reply { mut response, final_url, redirect_error } = sender.send(&request).await.map_err(failed)?;
    let status = response.status();
    let response_context = ResponseContext::new(&tool, &request, status, final_url.as_ref());
    let content_type = header(response.headers(), "content-type");
    let limit = engine.settings.max_typed_bytes;
    let body = read(&mut response, limit, None).await;
    let body = body.map_err(|error| failed(network_error(&request, "READ_ERROR", error)))?;
    let displayed = || request.credentials.redact_body(&body.bytes, &content_type, body.truncated);
    let limits = engine.limits(&tool);
    if !limits.is_success(status) {
        let message =
            explain(&engine.settings, &tool, &request, (status, response.headers()), final_url.as_ref())
                .message;
        return Err(response_context.status_error(
            &request,
            response.headers(),
            (redirect_error, message),
            displayed(),
        ));
    }
    if body.truncated {
        return Err(response_context.too_large(limit));
    }
    let value = parse_body::<T>(&body, &content_type, &limits);
    let value = value.map_err(|reason| response_context.decode_error(&reason, &displayed()))?;
    Ok(TypedResponse::new(value, status.as_u16(), visible_headers(&request, response.headers())))
}

/// Parses the body of a response as the result type.
///
/// # Errors
///
/// Returns a message if the body does not have that type.
fn parse_body<T: FromJson>(
    body: &BodyPrefix,
    content_type: &str,
    limits: &BodyLimits<'_>,
) -> Result<T, String> {
    if T::ignores_body() {
        return T::from_json(Value::Null).map_err(|error| error.to_string());
    }
    let text = charset::decode(&body.bytes, content_type, body.truncated);
    let mismatch = |reason: &dyn fmt::Display| json_mismatch(&text, reason);
    if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return T::from_json(Value::Null).map_err(|error| mismatch(&error));
    }
    if limits.structured
        && let Some(declared) = as_json(body, content_type, limits)?
    {
        let parsed = T::from_json(declared);
        return parsed.map_err(|error| format!("the body is not of the expected type ({error})"));
    }
    let is_json = is_json(content_type) || content_type.is_empty();
    match serde_json::from_str(&text) {
        Ok(value) => match T::from_json(value) {
            // A string that happens to be valid JSON, such as `5`.
            Err(error) if !is_json => T::from_json(Value::String(text.clone())).map_err(|_| mismatch(&error)),
            parsed => parsed.map_err(|error| mismatch(&error)),
        },
        // Servers send JSON with other media types, and plain text with the media type of JSON.
        Err(_) if !is_json => T::from_json(Value::String(text.clone())).map_err(|error| mismatch(&error)),
        Err(error) => Err(mismatch(&error)),
    }
}

/// # Errors
///
/// Returns an error if the arguments cannot be serialized as JSON.
fn as_json_arguments<A: TypedTool>(arguments: A) -> Result<Value, CallError> {
    arguments.into_arguments().map_err(|error| {
        let error = ToolError::invalid_args(format!("the arguments are not JSON: {error}"));
        CallError::transport_error(A::tool())(error)
    })
}

/// A successful response: its value, its status, and its headers, except those that may contain credentials.
///
/// ```ignore
/// let added = engine.call_with_response(petstore::AddPet::new("Rex"), Turn::default()).await?;
/// let location: Option<String> = added.headers::<petstore::AddPetHeaders>().location;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TypedResponse<T> {
    /// The body, parsed as the result type.
    pub value: T,
    /// The status.
    pub status: u16,
    headers: Map<String, Value>,
}

impl<T> TypedResponse<T> {
    pub(super) fn new(value: T, status: u16, headers: Map<String, Value>) -> TypedResponse<T> {
        TypedResponse { value, status, headers }
    }

    /// Returns a header, ignoring the case of its name. Repeated headers are joined by a comma.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(&name.to_ascii_lowercase()).and_then(Value::as_str)
    }

    /// Returns the headers as a type, such as the generated `…Headers` of an operation. The type is parsed from an
    /// object with lower-case names. Fields that are numbers or booleans are parsed from the text of the header;
    /// headers that cannot be parsed are omitted.
    #[must_use]
    pub fn headers<H: FromJson + Default>(&self) -> H {
        let mut headers = self.headers.clone();
        // Each header is parsed again, or omitted, at most once.
        for _ in 0..=2 * self.headers.len() {
            let error = match H::from_json(Value::Object(headers.clone())) {
                Ok(parsed) => return parsed,
                Err(error) => error,
            };
            let Some(name) = error.first_key() else { break };
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

/// Returns the headers of a response that a program may see.
pub(super) fn visible_headers(request: &HttpRequest, headers: &HeaderMap) -> Map<String, Value> {
    let mut visible = response::headers(request, headers);
    visible.retain(|name, _| !is_secret_header(name));
    visible
}
