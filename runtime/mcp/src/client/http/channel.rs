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

use super::auth::{self, Auth, wants_more};
use super::{HttpOptions, headers};
use crate::client::connection::{Broken, Message};
use crate::client::credentials::Credentials;
use crate::client::error::ANSWERED;
use crate::client::inbox::Inbox;

const SESSION: &str = "Mcp-Session-Id";

/// The first protocol version without sessions.
const STATELESS: &str = "2026-07-28";

/// Maximum number of bytes read from an error response.
const MAX_ERROR: usize = 64 << 10;

/// Maximum length of a quoted error response, in characters.
const MAX_ERROR_SHOWN: usize = 300;

/// The channel to one server.
pub(super) struct Channel {
    engine: HttpEngine,
    url: String,
    /// The headers of every request.
    fixed: Vec<(String, Secret)>,
    auth: Auth,
    credentials: Credentials,
    pub(super) inbox: Inbox,
    pub(super) max_message: usize,
    /// Whether there is a stream of server-initiated messages.
    pub(super) hears: AtomicBool,
    state: Mutex<State>,
}

#[derive(Clone, Default)]
struct State {
    /// The negotiated protocol version; empty before negotiation.
    revision: String,
    session: Option<Secret>,
}

/// A response, and the request whose credentials it may repeat.
pub(super) struct Exchange {
    request: HttpRequest,
    pub(super) response: Response,
    /// Whether the request named a session.
    in_session: bool,
}

impl From<SendFailure> for Broken {
    fn from(SendFailure { written, why: reason }: SendFailure) -> Broken {
        Broken { written, why: reason }
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
        while body.len() < MAX_ERROR
            && let Ok(Some(bytes)) = self.chunk().await
        {
            body.extend_from_slice(bytes.as_ref());
        }
        let status = self.response.status();
        let mut message = format!("{ANSWERED}{status}");
        let after = self.header(&RETRY_AFTER);
        if !after.is_empty() {
            message.push_str(&format!(" (retry after {after})"));
        }
        // Redact before cutting: a part of a credential would not be recognized.
        let text = self.request.redact(&String::from_utf8_lossy(&body));
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let displayed: String = words.join(" ").chars().take(MAX_ERROR_SHOWN).collect();
        if !displayed.trim().is_empty() {
            message.push_str(&format!(": {}", displayed.trim()));
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
            fixed: auth::headers(headers)?,
            auth: Auth::of(server, bearer, &options.tokens, &engine)?,
            engine,
            credentials,
            inbox,
            max_message,
            hears: AtomicBool::new(false),
            state: Mutex::default(),
        };
        channel.request("POST", Vec::new(), None)?;
        Ok(channel)
    }

    pub(super) fn is_modern(&self) -> bool {
        unpoisoned(self.state.lock()).revision.as_str() >= STATELESS
    }

    /// Uses this protocol version from now on; there is none before negotiation.
    pub(super) fn agreed(&self, revision: &str) {
        revision.clone_into(&mut unpoisoned(self.state.lock()).revision);
    }

    fn request(
        &self,
        method: &str,
        mut plain: Vec<(String, String)>,
        token: Option<&Secret>,
    ) -> Result<HttpRequest, String> {
        let State { revision, session } = unpoisoned(self.state.lock()).clone();
        if !revision.is_empty() {
            plain.push(("MCP-Protocol-Version".to_owned(), revision));
        }
        let bearer = token.map(|token| Secret::new(format!("Bearer {}", token.expose())));
        let fixed = self.fixed.iter().map(|(name, value)| (name.as_str(), value));
        let session = session.iter().map(|session| (SESSION, session));
        let secret = fixed.chain(session).chain(bearer.iter().map(|bearer| ("Authorization", bearer)));
        let mut request = HttpRequest::direct(method, &self.url, plain, secret)?;
        if let Some(token) = token {
            request.hide(token.expose());
            self.credentials.sends(token.expose());
        }
        Ok(request)
    }

    /// Sends a request, and retries once with another token if the server rejects the first one.
    async fn exchange(
        &self,
        method: &str,
        plain: Vec<(String, String)>,
        text: Option<&str>,
    ) -> Result<Exchange, Broken> {
        let unsent = |reason| Broken { written: false, why: reason };
        let mut token = self.auth.token(None).await.map_err(unsent)?;
        let mut fresh = false;
        loop {
            let mut request = self.request(method, plain.clone(), token.as_ref()).map_err(unsent)?;
            if let Some(text) = text {
                request.body = Body::Text(text.to_owned());
            }
            let in_session = request.header(SESSION).is_some();
            let response = self.engine.exchange(&request, Redirects::AtOrigin).await?;
            let exchange = Exchange { request, response, in_session };
            let challenge = exchange.header(&WWW_AUTHENTICATE);
            let wants_another = match exchange.response.status() {
                StatusCode::UNAUTHORIZED => true,
                StatusCode::FORBIDDEN => wants_more(&challenge),
                _ => false,
            };
            if !wants_another || fresh || !self.auth.can_refresh() {
                return Ok(exchange);
            }
            token = self.auth.token(Some((token, challenge))).await.map_err(unsent)?;
            fresh = true;
        }
    }

    async fn post(&self, message: &Message) -> Result<Exchange, Broken> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut plain = vec![
            pair("Accept", "application/json, text/event-stream"),
            pair("Content-Type", "application/json"),
        ];
        if self.is_modern() {
            plain.extend(headers::standard(message.method, message.name.as_deref()));
            plain.extend_from_slice(&message.headers);
        }
        let exchange = self.exchange("POST", plain, Some(&message.text)).await?;
        if exchange.response.status() == StatusCode::NOT_FOUND && exchange.in_session {
            let reason = "the server has ended the session";
            unpoisoned(self.state.lock()).session = None;
            self.inbox.closed(reason);
            return Err(Broken { written: false, why: reason.to_owned() });
        }
        Ok(exchange)
    }

    /// Sends a request and reports whether it was delivered. Returns the HTTP response if it may hold the JSON-RPC
    /// response.
    pub(super) async fn begin(
        &self,
        message: &Message,
        id: u64,
        sent: oneshot::Sender<Result<(), Broken>>,
    ) -> Option<Exchange> {
        let (outcome, exchange) = match self.post(message).await {
            Ok(exchange) if exchange.response.status().is_success() => {
                if message.method == "initialize" {
                    self.keep_session(&exchange);
                }
                (Ok(()), Some(exchange))
            }
            Ok(exchange) => (self.refused(exchange, Some(id)).await, None),
            Err(broken) => (Err(broken), None),
        };
        // A caller that was dropped needs no result.
        drop(sent.send(outcome));
        exchange
    }

    /// Sends a message that has no response.
    pub(super) async fn notify(&self, message: &Message) -> Result<(), Broken> {
        let exchange = self.post(message).await?;
        if exchange.response.status().is_success() { Ok(()) } else { self.refused(exchange, None).await }
    }

    /// Requests a stream: server-initiated messages, or the rest of an interrupted stream.
    pub(super) async fn get(&self, last_id: Option<&str>) -> Result<Exchange, Broken> {
        let mut plain = vec![("Accept".to_owned(), "text/event-stream".to_owned())];
        plain.extend(last_id.map(|id| ("Last-Event-ID".to_owned(), id.to_owned())));
        self.exchange("GET", plain, None).await
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

    /// Reports why a request was rejected. This is its response, unless the server may have run the call.
    async fn refused(&self, exchange: Exchange, id: Option<u64>) -> Result<(), Broken> {
        let status = exchange.response.status();
        let challenge = exchange.request.redact(&exchange.header(&WWW_AUTHENTICATE));
        let (mut reason, error) = exchange.error().await;
        let wants_token = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if let (Some(mut error), Some(id), false) = (error, id, wants_token) {
            // A server that could not parse the request does not know its ID.
            error["id"] = id.into();
            self.inbox.message(error);
            return Ok(());
        }
        if wants_token {
            if !challenge.is_empty() {
                reason.push_str(&format!("; it asks for `{challenge}`"));
            }
            reason.push_str(&format!(". {}", self.auth.remedy()));
        } else if matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
            reason.push_str(
                ". Check that the URL is a Streamable HTTP endpoint, not the older HTTP+SSE transport",
            );
        }
        match id {
            // With a server error, the call may have run.
            Some(id) if status.is_client_error() => {
                self.inbox.message(json!({ "id": id, "error": { "code": 0, "message": reason } }));
                Ok(())
            }
            _ => Err(Broken { written: true, why: reason }),
        }
    }
}
