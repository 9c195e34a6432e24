//! Sends requests to a vendor: attempts, retries, and the parsing of replies.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use toolgen_http::{
    Body, HttpEngine, HttpRequest, Redirects, RetryReason, RetryState, Secret, page_text, secret_from_env,
};
use toolgen_kernel::base::media_type::essence;
use toolgen_kernel::base::printable::printable;
use toolgen_kernel::base::truncate::cut;
use toolgen_wire::{
    DEFAULT_MAX_STREAM_BYTES, ModelReply, StopReason, StreamDelta, StreamError, WireError, is_temporary,
    vendor_message,
};

use super::{Key, Model, RequestError, RequestErrorKind};
use crate::agent_loop::{AgentEvent, ModelError};

/// Maximum length of a vendor's own text in an error, in characters.
const MAX_MESSAGE_CHARS: usize = 1000;

/// Maximum size of a response with an error status, in bytes.
const MAX_ERROR_BYTES: usize = 256 << 10;

/// How long to wait for what a host may still send: the rest of an error, or what follows the end of a turn.
const MAX_WAIT_FOR_REST: Duration = Duration::from_secs(2);

type Failed = ModelError<RequestError>;

/// A failed attempt, and why another may succeed.
struct Attempt {
    error: Failed,
    retry: Option<RetryReason>,
}

impl Attempt {
    fn last(error: Failed) -> Attempt {
        Attempt { error, retry: None }
    }

    fn retryable(error: Failed, reason: RetryReason) -> Attempt {
        Attempt { error, retry: Some(reason) }
    }
}

/// A request that is ready to be sent.
struct Prepared {
    request: HttpRequest,
    /// The environment variable with the key, if it comes from one.
    key_variable: Option<String>,
}

impl Model {
    /// Sends a request until there is a reply, or no reason to try again.
    pub(super) async fn send(&mut self, body: Value) -> Result<ModelReply, Failed> {
        let streamed = self.listener.is_some();
        let prepared = self.prepare(&body, streamed).map_err(|reason| {
            ModelError::Send(RequestError {
                url: String::new(),
                kind: RequestErrorKind::Setup(reason),
                attempts: 0,
            })
        })?;
        let engine = self.engine(&prepared)?;
        let mut retries = RetryState::new(self.retries);
        let mut attempts = 1;
        loop {
            let attempt = timeout(self.timeout, self.attempt(&engine, &prepared, streamed)).await;
            let Attempt { error, retry } = match attempt {
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(attempt)) => attempt,
                Err(_) => Attempt::last(prepared.error(RequestErrorKind::Timeout(self.timeout))),
            };
            let delay = retry.as_ref().and_then(|reason| retries.next_delay(reason, None));
            let (Some(reason), Some(delay)) = (retry, delay) else { return Err(counted(error, attempts)) };
            if let Some(listener) = &self.listener {
                listener.report(AgentEvent::Retry { reason: reason.message, delay });
            }
            tokio::time::sleep(delay).await;
            attempts += 1;
        }
    }

    /// Returns the engine, which is built at the first request.
    fn engine(&mut self, prepared: &Prepared) -> Result<HttpEngine, Failed> {
        if let Some(engine) = &self.engine {
            return Ok(engine.clone());
        }
        // The program chose the host, so it may be private.
        let engine = HttpEngine::builder().base_url(prepared.url()).build();
        let engine = engine.map_err(|error| prepared.error(RequestErrorKind::Setup(error.to_string())))?;
        Ok(self.engine.insert(engine).clone())
    }

    fn prepare(&self, body: &Value, streamed: bool) -> Result<Prepared, String> {
        let url = self.vendor.url(self.base_url.as_deref(), &self.template.model, streamed)?;
        let (key, key_variable) = self.key()?.unzip();
        let (key_header, prefix) = self.vendor.key_header;
        let header = key.as_ref().map(|key| Secret::new(format!("{prefix}{}", key.expose())));
        let secrets = header.iter().map(|header| (key_header, header));
        let secrets = secrets.chain(self.headers.iter().map(|(name, value)| (name.as_str(), value)));
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        headers.extend(
            self.vendor.headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let request = HttpRequest::direct("POST", &url, headers, secrets);
        let mut request =
            request.map_err(|reason| format!("the base URL of the model is not usable: {reason}"))?;
        if let Some(key) = &key {
            request.hide(key.expose());
        }
        request.body = Body::Text(body.to_string());
        Ok(Prepared { request, key_variable: key_variable.flatten() })
    }

    /// Returns the key and its variable, or `None` if the host needs none.
    fn key(&self) -> Result<Option<(Secret, Option<String>)>, String> {
        let variables = self.vendor.key_variables;
        match &self.key {
            Some(Key::Value(key)) => return Ok(Some((key.clone(), None))),
            Some(Key::Variable(variable)) => {
                let key = secret_from_env(variable);
                let key = key.ok_or_else(|| {
                    format!("set the environment variable {variable} to the key of the model")
                })?;
                return Ok(Some((key, Some(variable.clone()))));
            }
            None => {}
        }
        match self.vendor.key() {
            Some((key, variable)) => Ok(Some((key, Some(variable.to_owned())))),
            None if variables.is_empty() || self.base_url.is_some() => Ok(None),
            None => Err(format!(
                "there is no key for {}: set the environment variable {}, or pass a key with `Model::with_key`",
                self.vendor.name,
                variables.join(" or ")
            )),
        }
    }

    async fn attempt(
        &self,
        engine: &HttpEngine,
        prepared: &Prepared,
        streamed: bool,
    ) -> Result<ModelReply, Attempt> {
        let request = &prepared.request;
        let mut response = match engine.exchange(request, Redirects::None).await {
            Ok(response) => response,
            Err(failure) if failure.retryable => {
                let error = prepared.error(RequestErrorKind::Unreachable(failure.why));
                return Err(Attempt::retryable(error, RetryReason::new("the connection failed")));
            }
            Err(failure) => {
                return Err(Attempt::last(prepared.error(RequestErrorKind::Unreachable(failure.why))));
            }
        };
        let status = response.status();
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let kind = essence(kind.unwrap_or_default());
        if !status.is_success() {
            let advice = response.headers().get("x-should-retry").and_then(|advice| advice.to_str().ok());
            let is_temporary = match advice {
                Some("true") => true,
                Some("false") => false,
                _ => matches!(status.as_u16(), 408 | 409 | 429 | 500..),
            };
            let reason = RetryReason::after_response(status, response.headers());
            let mut bytes = Vec::new();
            // What arrives of the explanation soon is better than nothing.
            let read = async {
                while let Ok(Some(chunk)) = response.chunk().await {
                    bytes.extend_from_slice(&chunk);
                    if bytes.len() > MAX_ERROR_BYTES {
                        break;
                    }
                }
            };
            let _ = timeout(MAX_WAIT_FOR_REST, read).await;
            let reason = reason.or_after(retry_delay(&bytes));
            let message = prepared.explanation(&kind, &bytes);
            let help = self.help(status.as_u16(), prepared);
            let error = prepared.error(RequestErrorKind::Status { status: status.as_u16(), message, help });
            // More requests do not help an account without credit.
            let is_final = !is_temporary || String::from_utf8_lossy(&bytes).contains("insufficient_quota");
            return Err(if is_final { Attempt::last(error) } else { Attempt::retryable(error, reason) });
        }
        if streamed {
            self.read_stream(prepared, &mut response).await
        } else {
            self.read_reply(prepared, &mut response, &kind).await
        }
    }

    async fn read_reply(
        &self,
        prepared: &Prepared,
        response: &mut toolgen_http::HttpResponse,
        kind: &str,
    ) -> Result<ModelReply, Attempt> {
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if bytes.len() + chunk.len() > DEFAULT_MAX_STREAM_BYTES => {
                    let reason = format!("the reply is larger than {DEFAULT_MAX_STREAM_BYTES} bytes");
                    return Err(Attempt::last(prepared.error(RequestErrorKind::Reply(reason))));
                }
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => return Err(prepared.interrupted(prepared.request.failure(error))),
            }
        }
        let reply = serde_json::from_slice(&bytes).map_err(|_| {
            let text = prepared.explanation(kind, &bytes);
            let text = if text.is_empty() { "nothing".to_owned() } else { format!("{kind} {text}") };
            let reason = format!("the response is not the JSON reply of a model, but {}", text.trim_start());
            Attempt::last(prepared.error(RequestErrorKind::Reply(reason)))
        })?;
        let turn = self.template.format.turn(&reply);
        let turn = turn.map_err(|error| prepared.vendor_error(error, ModelError::Reply))?;
        prepared.failure_of(&turn).map_or(Ok(turn), Err)
    }

    async fn read_stream(
        &self,
        prepared: &Prepared,
        response: &mut toolgen_http::HttpResponse,
    ) -> Result<ModelReply, Attempt> {
        let mut stream = self.template.format.stream();
        loop {
            let chunk = match stream.has_ended() {
                false => response.chunk().await,
                // The usage may follow. Some hosts then keep the connection open.
                true => match timeout(MAX_WAIT_FOR_REST, response.chunk()).await {
                    Ok(chunk) => chunk,
                    Err(_) => break,
                },
            };
            let chunk = match chunk {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                // Some hosts close the connection without ending the body.
                Err(_) if stream.has_ended() => break,
                Err(error) => return Err(prepared.interrupted(prepared.request.failure(error))),
            };
            for delta in stream.push_bytes(&chunk).map_err(|error| failed_stream(prepared, error))? {
                self.report(delta);
            }
        }
        let reply = stream.finish().map_err(|error| failed_stream(prepared, error))?;
        match reply.stop {
            StopReason::Interrupted => {
                Err(prepared.interrupted("the stream ended before the turn did".to_owned()))
            }
            _ => prepared.failure_of(&reply).map_or(Ok(reply), Err),
        }
    }

    fn report(&self, delta: StreamDelta) {
        let Some(listener) = &self.listener else { return };
        match delta {
            StreamDelta::Text(text) => listener.report(AgentEvent::Text(text)),
            StreamDelta::Thinking(text) => listener.report(AgentEvent::Thinking(text)),
            // The agent reports calls when their arguments are complete.
            _ => {}
        }
    }

    /// Returns what to do about an error status.
    fn help(&self, status: u16, prepared: &Prepared) -> String {
        match (status, &prepared.key_variable) {
            (401 | 403, Some(variable)) => {
                format!(
                    "the key is in the environment variable {variable}: check that it is valid for {}",
                    self.vendor.name
                )
            }
            (401 | 403, None) if self.key.is_none() => {
                "no key was sent: set one with `Model::with_key` or `Model::with_key_from`".to_owned()
            }
            (401 | 403, None) => "check the key that `Model::with_key` sets".to_owned(),
            (404, _) => format!("check the name of the model, `{}`, and the base URL", self.template.model),
            _ => String::new(),
        }
    }
}

impl Prepared {
    /// Returns the URL without its query.
    fn url(&self) -> &str {
        self.request.url.split('?').next().unwrap_or_default()
    }

    fn error(&self, kind: RequestErrorKind) -> Failed {
        ModelError::Send(RequestError { url: self.request.redact(self.url()), kind, attempts: 1 })
    }

    fn interrupted(&self, reason: String) -> Attempt {
        let error = self.error(RequestErrorKind::Interrupted(reason));
        Attempt::retryable(error, RetryReason::new("the reply was interrupted"))
    }

    /// Returns the failure of a turn in whose middle the vendor failed without saying why.
    fn failure_of(&self, reply: &ModelReply) -> Option<Attempt> {
        if reply.stop != StopReason::Failed || !reply.calls.calls.is_empty() {
            return None;
        }
        let reason = format!("the vendor ended the turn with `{}`", reply.raw_stop_reason);
        let error = self.error(RequestErrorKind::Reply(reason));
        Some(Attempt::retryable(error, RetryReason::new("the vendor failed")))
    }

    /// Returns the failure of an attempt by an error that the vendor sent. It is retried if the vendor calls it temporary.
    fn vendor_error(&self, error: WireError, failed: impl FnOnce(WireError) -> Failed) -> Attempt {
        let error = self.masked(error);
        let retry = is_temporary(&error.message).then(|| RetryReason::new(error.message.clone()));
        Attempt { error: failed(error), retry }
    }

    /// Masks the key in a message, which may repeat it, and shortens the message.
    fn masked(&self, mut error: WireError) -> WireError {
        error.message = self.shown(&error.message);
        error
    }

    /// Returns what a vendor wrote as it may be shown.
    fn shown(&self, text: &str) -> String {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        cut(&printable(&self.request.redact(&line)), MAX_MESSAGE_CHARS)
    }

    /// Returns what a response says about itself: the vendor's message, the text of a page, or its beginning.
    fn explanation(&self, kind: &str, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let message = serde_json::from_slice::<Value>(bytes).ok().and_then(|value| vendor_message(&value));
        let text = message.or_else(|| page_text(kind, &text)).unwrap_or_else(|| text.into_owned());
        self.shown(&text)
    }
}

/// Returns the delay that Google asks for in the body of an error: `"retryDelay": "45.8s"`.
fn retry_delay(body: &[u8]) -> Option<Duration> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let body = body.as_array().and_then(|items| items.first()).unwrap_or(&body);
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// Returns the failure of a stream.
fn failed_stream(prepared: &Prepared, error: StreamError) -> Attempt {
    match error {
        StreamError::Provider(error) => {
            prepared.vendor_error(error, |error| ModelError::Stream(StreamError::Provider(error)))
        }
        StreamError::Event(error) => {
            Attempt::last(ModelError::Stream(StreamError::Event(prepared.masked(error))))
        }
        error => Attempt::last(ModelError::Stream(error)),
    }
}

/// Sets the number of attempts of an error.
fn counted(error: Failed, count: u32) -> Failed {
    match error {
        ModelError::Send(mut error) => {
            error.attempts = count;
            ModelError::Send(error)
        }
        error => error,
    }
}
