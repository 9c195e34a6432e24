//! HTTP requests to one server: their headers and credentials, and the interpretation of status codes.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolgen_http::{Body, HttpEngine, HttpRequest, Redirects, Secret, SendFailure};
use toolgen_kernel::base::media_type::essence;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::spec::plan::{McpServer, McpTransport};

use super::auth::{self, Auth, needs_more_scopes};
use super::{HttpOptions, headers};
use crate::client::connection::{Message, TransportError};
use crate::client::credentials::Credentials;
use crate::client::error::STATUS_PREFIX;
use crate::client::inbox::Inbox;

const SESSION_HEADER: &str = "Mcp-Session-Id";

/// The first protocol version without sessions.
const FIRST_STATELESS_VERSION: &str = "2026-07-28";

/// Maximum number of bytes read from an error response.
const MAX_ERROR_BODY: usize = 64 << 10;

/// Maximum length of a quoted error response, in characters.
const MAX_SHOWN_ERROR: usize = 300;

/// The channel to one server.
pub(super) struct Channel {
    engine: HttpEngine,
    url: String,
    /// The headers of every request.
    fixed_headers: Vec<(String, Secret)>,
    auth: Auth,
    credentials: Credentials,
    pub(super) inbox: Inbox,
    pub(super) max_message: usize,
    /// Whether there is a stream of server-initiated messages.
    pub(super) is_listening: AtomicBool,
    state: Mutex<State>,
}

#[derive(Clone, Default)]
struct State {
    /// The negotiated protocol version; empty before negotiation.
    version: String,
    session: Option<Secret>,
}

/// A response, and the request whose credentials it may repeat.
pub(super) struct Exchange {
    request: HttpRequest,
    pub(super) response: Response,
    /// Whether the request named a session.
    has_session: bool,
}

impl From<SendFailure> for TransportError {
    fn from(SendFailure { written, why: reason, .. }: SendFailure) -> TransportError {
        TransportError { written, reason }
    }
}

impl Exchange {
    /// Returns a header as a string; empty if it is missing.
    pub(super) fn header(&self, name: &HeaderName) -> String {
        let value = self.response.headers().get(name);
        value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
    }

    /// Returns the media type without its parameters, in lower case.
    pub(super) fn media_type(&self) -> String {
        essence(&self.header(&CONTENT_TYPE)).to_ascii_lowercase()
    }

    /// Returns the next bytes of the body; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, String> {
        self.response.chunk().await.map_err(|error| self.request.failure(error))
    }

    /// Describes an error response, and returns its JSON-RPC error if it contains one.
    async fn error(mut self) -> (String, Option<Value>) {
        let mut body = Vec::new();
        while body.len() < MAX_ERROR_BODY
            && let Ok(Some(bytes)) = self.chunk().await
        {
            body.extend_from_slice(bytes.as_ref());
        }
        let status = self.response.status();
        let mut message = format!("{STATUS_PREFIX}{status}");
        let retry_after = self.header(&RETRY_AFTER);
        if !retry_after.is_empty() {
            message.push_str(&format!(" (retry after {retry_after})"));
        }
        // Redact before cutting: a cut credential would not be recognized.
        let text = self.request.redact(&String::from_utf8_lossy(&body));
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let excerpt: String = words.join(" ").chars().take(MAX_SHOWN_ERROR).collect();
        if !excerpt.trim().is_empty() {
            message.push_str(&format!(": {}", excerpt.trim()));
        }
        let error = serde_json::from_slice(&body).ok().filter(|body: &Value| body["error"].is_object());
        (self.request.redact(&message), error)
    }
}

impl Channel {
    /// Creates the channel to a server. Nothing is sent.
    pub(super) fn new(
        server: &McpServer,
        options: &HttpOptions,
        connect: Duration,
        max_message: usize,
        credentials: Credentials,
        inbox: Inbox,
    ) -> Result<Channel, String> {
        let McpTransport::Http { url, headers, bearer } = &server.transport else {
            return Err("the server is not reached over HTTP".to_owned());
        };
        let mut engine = options.engine.clone();
        engine.connect_timeout = Some(connect);
        let engine = engine.build().map_err(|error| error.to_string())?;
        let channel = Channel {
            url: url.to_string(),
            fixed_headers: auth::headers(headers)?,
            auth: Auth::of(server, bearer, &options.tokens, &engine)?,
            engine,
            credentials,
            inbox,
            max_message,
            is_listening: AtomicBool::new(false),
            state: Mutex::default(),
        };
        channel.request("POST", Vec::new(), None)?;
        Ok(channel)
    }

    pub(super) fn is_modern(&self) -> bool {
        unpoisoned(self.state.lock()).version.as_str() >= FIRST_STATELESS_VERSION
    }

    /// Sets the negotiated protocol version.
    pub(super) fn set_version(&self, version: &str) {
        version.clone_into(&mut unpoisoned(self.state.lock()).version);
    }

    fn request(
        &self,
        method: &str,
        mut plain_headers: Vec<(String, String)>,
        token: Option<&Secret>,
    ) -> Result<HttpRequest, String> {
        let State { version, session } = unpoisoned(self.state.lock()).clone();
        if !version.is_empty() {
            plain_headers.push(("MCP-Protocol-Version".to_owned(), version));
        }
        let bearer = token.map(|token| Secret::new(format!("Bearer {}", token.expose())));
        let fixed_headers = self.fixed_headers.iter().map(|(name, value)| (name.as_str(), value));
        let session = session.iter().map(|session| (SESSION_HEADER, session));
        let secret =
            fixed_headers.chain(session).chain(bearer.iter().map(|bearer| ("Authorization", bearer)));
        let mut request = HttpRequest::direct(method, &self.url, plain_headers, secret)?;
        if let Some(token) = token {
            request.hide(token.expose());
            self.credentials.record_token(token.expose());
        }
        Ok(request)
    }

    /// Sends a request, and retries once with another token if the server rejects the first token.
    async fn exchange(
        &self,
        method: &str,
        plain_headers: Vec<(String, String)>,
        text: Option<&str>,
    ) -> Result<Exchange, TransportError> {
        let not_sent = |reason| TransportError { written: false, reason };
        let mut token = self.auth.token(None).await.map_err(not_sent)?;
        let mut is_retry = false;
        loop {
            let mut request =
                self.request(method, plain_headers.clone(), token.as_ref()).map_err(not_sent)?;
            if let Some(text) = text {
                request.body = Body::Text(text.to_owned());
            }
            let has_session = request.header(SESSION_HEADER).is_some();
            let response = self.engine.exchange(&request, Redirects::SameOrigin).await?;
            let exchange = Exchange { request, response, has_session };
            let challenge = exchange.header(&WWW_AUTHENTICATE);
            let needs_token = match exchange.response.status() {
                StatusCode::UNAUTHORIZED => true,
                StatusCode::FORBIDDEN => needs_more_scopes(&challenge),
                _ => false,
            };
            if !needs_token || is_retry || !self.auth.can_refresh() {
                return Ok(exchange);
            }
            token = self.auth.token(Some((token, challenge))).await.map_err(not_sent)?;
            is_retry = true;
        }
    }

    async fn post(&self, message: &Message) -> Result<Exchange, TransportError> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut plain_headers = vec![
            pair("Accept", "application/json, text/event-stream"),
            pair("Content-Type", "application/json"),
        ];
        if self.is_modern() {
            plain_headers.extend(headers::standard(message.method, message.name.as_deref()));
            plain_headers.extend_from_slice(&message.headers);
        }
        let exchange = self.exchange("POST", plain_headers, Some(&message.text)).await?;
        if exchange.response.status() == StatusCode::NOT_FOUND && exchange.has_session {
            let reason = "the server has ended the session";
            unpoisoned(self.state.lock()).session = None;
            self.inbox.close(reason);
            return Err(TransportError { written: false, reason: reason.to_owned() });
        }
        Ok(exchange)
    }

    /// Sends a request and reports whether it was delivered. Returns the HTTP response if it may hold the JSON-RPC
    /// response.
    pub(super) async fn send_request(
        &self,
        message: &Message,
        id: u64,
        result_tx: oneshot::Sender<Result<(), TransportError>>,
    ) -> Option<Exchange> {
        let (outcome, exchange) = match self.post(message).await {
            Ok(exchange) if exchange.response.status().is_success() => {
                if message.method == "initialize" {
                    self.keep_session(&exchange);
                }
                (Ok(()), Some(exchange))
            }
            Ok(exchange) => (self.report_rejection(exchange, Some(id)).await, None),
            Err(error) => (Err(error), None),
        };
        // A caller that was dropped needs no result.
        drop(result_tx.send(outcome));
        exchange
    }

    /// Sends a message that has no response.
    pub(super) async fn notify(&self, message: &Message) -> Result<(), TransportError> {
        let exchange = self.post(message).await?;
        if exchange.response.status().is_success() {
            Ok(())
        } else {
            self.report_rejection(exchange, None).await
        }
    }

    /// Requests a stream: server-initiated messages, or the rest of an interrupted stream.
    pub(super) async fn get(&self, last_id: Option<&str>) -> Result<Exchange, TransportError> {
        let mut plain_headers = vec![("Accept".to_owned(), "text/event-stream".to_owned())];
        plain_headers.extend(last_id.map(|id| ("Last-Event-ID".to_owned(), id.to_owned())));
        self.exchange("GET", plain_headers, None).await
    }

    /// Ends the session at the server, if there is one.
    pub(super) async fn end_session(&self) {
        if unpoisoned(self.state.lock()).session.is_some() {
            // If the server refuses, the session ends after the server's own timeout.
            drop(self.exchange("DELETE", Vec::new(), None).await);
            unpoisoned(self.state.lock()).session = None;
        }
    }

    fn keep_session(&self, exchange: &Exchange) {
        let id = exchange.header(&HeaderName::from_static("mcp-session-id"));
        let usable = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic());
        unpoisoned(self.state.lock()).session = usable.then(|| Secret::new(id));
    }

    /// Reports why a request was rejected: as its response, or as an error if the server may have run the call.
    async fn report_rejection(&self, exchange: Exchange, id: Option<u64>) -> Result<(), TransportError> {
        let status = exchange.response.status();
        let challenge = exchange.request.redact(&exchange.header(&WWW_AUTHENTICATE));
        let (mut reason, error) = exchange.error().await;
        let needs_token = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if let (Some(mut error), Some(id), false) = (error, id, needs_token) {
            // A server that could not parse the request does not know its ID.
            error["id"] = id.into();
            self.inbox.accept(error);
            return Ok(());
        }
        if needs_token {
            if !challenge.is_empty() {
                reason.push_str(&format!("; it asks for `{challenge}`"));
            }
            reason.push_str(&format!(". {}", self.auth.help()));
        } else if matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
            reason.push_str(
                ". Check that the URL is a Streamable HTTP endpoint, not the older HTTP+SSE transport",
            );
        }
        match id {
            // With a server error, the call may have run.
            Some(id) if status.is_client_error() => {
                self.inbox.accept(json!({ "id": id, "error": { "code": 0, "message": reason } }));
                Ok(())
            }
            _ => Err(TransportError { written: true, reason }),
        }
    }
}
