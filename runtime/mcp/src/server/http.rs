//! MCP server over HTTP: which requests are admitted, and for which principal.

mod limits;
mod permits;
mod sessions;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::model::JsonRpcError;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::net::{TcpListener, ToSocketAddrs};

use self::limits::ServerLimits;
use self::permits::acquire_permit;
use self::sessions::Sessions;
use super::handler::{Handler, SessionEnded};
use super::shares::Shares;
use super::{ServeError, Server, invalid_request, streams};
use toolgen_kernel::base::media_type::essence;
use toolgen_kernel::call::digest::SealKey;
use toolgen_kernel::call::principal::Principal;

/// The path of the MCP endpoint.
const PATH: &str = "/mcp";

/// The header with the session ID.
const SESSION_HEADER: &str = "mcp-session-id";

/// The names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Determines the principal of a request.
type PrincipalLookup = dyn Fn(&Parts) -> Option<Principal> + Send + Sync;

/// The access rules for requests over HTTP.
#[derive(Clone, Default)]
pub(super) struct AccessRules {
    /// The digest of the bearer token.
    bearer: Option<[u8; 32]>,
    principal: Option<Arc<PrincipalLookup>>,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// The key that seals session IDs.
    key: Option<Arc<SealKey>>,
    limits: ServerLimits,
}

impl fmt::Debug for AccessRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("bearer", &self.bearer.is_some())
            .field("principal", &self.principal.is_some())
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("limits", &self.limits)
            .finish()
    }
}

impl AccessRules {
    fn is_open(&self) -> bool {
        self.bearer.is_none() && self.principal.is_none()
    }

    /// Whether a request has the bearer token, if one is required. The comparison takes constant time.
    fn has_valid_token(&self, headers: &HeaderMap) -> bool {
        let Some(expected) = self.bearer else { return true };
        let authorization = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
        let scheme = authorization.and_then(|authorization| authorization.split_at_checked(b"Bearer ".len()));
        let token = scheme.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "));
        let Some((_, token)) = token else { return false };
        digest(token)
            .iter()
            .zip(expected)
            .fold(0, |difference, (actual, expected)| difference | (actual ^ expected))
            == 0
    }
}

/// A session ID holds a seal of its owner. Another principal who learns the ID thus cannot use or end the session,
/// read its stream, or cancel its calls.
impl AccessRules {
    /// Replaces the client's session ID in the headers of a request by the internal one, and returns the client's.
    ///
    /// # Errors
    ///
    /// Returns an error if the session belongs to another principal.
    fn unseal_session(&self, headers: &mut HeaderMap, owner: &str) -> Result<Option<HeaderValue>, ()> {
        let Some(session_id) = headers.get(SESSION_HEADER).cloned() else { return Ok(None) };
        let parts = session_id.to_str().ok().and_then(|id| id.split_once('.'));
        let (Some((id, seal)), Some(key)) = (parts, &self.key) else { return Err(()) };
        if !key.holds(seal, &json!([id, owner])) {
            return Err(());
        }
        let id = HeaderValue::from_str(id).map_err(drop)?;
        headers.insert(SESSION_HEADER, id);
        Ok(Some(session_id))
    }

    /// Returns the sealed ID of a new session for its client.
    fn seal_session(&self, id: &HeaderValue, owner: &str) -> Option<HeaderValue> {
        let id = id.to_str().ok()?;
        let seal = self.key.as_ref()?.seal(&json!([id, owner])).ok()?;
        HeaderValue::from_str(&format!("{id}.{seal}")).ok()
    }
}

/// Returns the digest of a token: digests have the same length, and reveal nothing about the token.
fn digest(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

impl Server {
    /// Accepts HTTP requests only with this bearer token. An empty token accepts no requests.
    pub fn bearer(mut self, token: impl AsRef<str>) -> Server {
        self.access_rules.bearer = Some(digest(token.as_ref().as_bytes()));
        self
    }

    /// Sets the function that determines the principal of an HTTP request. Its calls run for that principal, and its
    /// list holds the tools that the principal may call. `None` rejects the request. If the lookup has to wait, such
    /// as for a database, do it in middleware and pass the result in the extensions of the request.
    pub fn principal(
        mut self,
        principal: impl Fn(&Parts) -> Option<Principal> + Send + Sync + 'static,
    ) -> Server {
        self.access_rules.principal = Some(Arc::new(principal));
        self.access_rules.key = SealKey::random().ok().map(Arc::new);
        self
    }

    /// Accepts requests with this `Host`, in addition to the names of this machine. With a port, only that port is
    /// accepted.
    pub fn allow_host(mut self, host: impl Into<String>) -> Server {
        self.access_rules.hosts.push(host.into());
        self
    }

    /// Accepts requests of web pages with this origin, such as `https://app.example.com:443`, in addition to those of
    /// this machine. `:*` matches any port.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Server {
        self.access_rules.origins.push(origin.into());
        self
    }

    /// Returns the server as a router with the path `/mcp`, for programs that run their own HTTP server.
    pub fn router(self) -> Router {
        let Server { state, access_rules } = self;
        let hosts = LOOPBACK.iter().map(|host| (*host).to_owned());
        let origins =
            LOOPBACK.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        let config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(access_rules.limits.request_bytes)
            .with_allowed_hosts(hosts.chain(access_rules.hosts.iter().cloned()))
            .with_allowed_origins(origins.chain(access_rules.origins.iter().cloned()));
        let new_handler = move || Ok(Handler::new(state.clone()));
        let sessions = Sessions::new(access_rules.limits);
        let service = StreamableHttpService::new(new_handler, Arc::clone(&sessions.manager), config);
        let gate = Arc::new(RequestGate { access_rules, sessions, shares: Arc::default() });
        Router::new().route_service(PATH, service).layer(middleware::from_fn_with_state(gate, admit))
    }

    /// Serves clients over HTTP at an address such as `127.0.0.1:8080`, under the path `/mcp`, until the program
    /// ends.
    ///
    /// # Errors
    ///
    /// Returns an error if the address is in use, or is not loopback although the server has no authentication.
    pub async fn http(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        let listener = TcpListener::bind(address).await;
        self.listen(listener.map_err(|error| ServeError::new(format!("cannot listen: {error}")))?).await
    }

    /// Like [`http`](Self::http), with a listener of the program.
    ///
    /// # Errors
    ///
    /// Returns an error if the listener has no address, or its address is not loopback although the server has no
    /// authentication.
    pub async fn listen(mut self, listener: TcpListener) -> Result<(), ServeError> {
        let serve_error = |error: std::io::Error| ServeError::new(format!("cannot serve: {error}"));
        let address = listener.local_addr().map_err(serve_error)?;
        if !address.ip().is_loopback() && self.access_rules.is_open() {
            return Err(ServeError::new(format!(
                "anyone who can reach {address} could call the tools: set a bearer token, or listen at 127.0.0.1"
            )));
        }
        self.access_rules.hosts.extend(address_host(address));
        self.access_rules.limits.serve(listener, self.router()).await;
        Ok(())
    }
}

/// Returns an address as an allowed `Host`, if it is specific: DNS rebinding does not apply to addresses.
fn address_host(address: SocketAddr) -> Option<String> {
    match address.ip() {
        ip if ip.is_unspecified() => None,
        IpAddr::V4(ip) => Some(ip.to_string()),
        IpAddr::V6(ip) => Some(format!("[{ip}]")),
    }
}

/// The checks that every request passes.
struct RequestGate {
    access_rules: AccessRules,
    sessions: Sessions,
    /// The requests in flight per caller.
    shares: Arc<Shares>,
}

/// Admits a request, with its principal.
async fn admit(State(gate): State<Arc<RequestGate>>, request: Request, next: Next) -> Response {
    let RequestGate { access_rules, sessions, shares } = &*gate;
    if !access_rules.has_valid_token(request.headers()) {
        return unauthorized("a valid bearer token is required");
    }
    let (mut parts, body) = request.into_parts();
    if let Some((status, reason)) = ambiguity(&parts) {
        return (status, reason).into_response();
    }
    let (mut owner, mut session_id) = (None, None);
    if let Some(principal) = &access_rules.principal {
        let Some(principal) = principal(&parts) else {
            return unauthorized("the token does not identify a principal of this server");
        };
        session_id = match access_rules.unseal_session(&mut parts.headers, &principal.id) {
            Ok(session_id) => session_id,
            Err(()) => {
                return (StatusCode::NOT_FOUND, "This session belongs to another caller.").into_response();
            }
        };
        owner = Some(principal.id.clone());
        parts.extensions.insert(principal);
    }
    let session = parts.headers.get(SESSION_HEADER);
    let is_new_session = session.is_none();
    // The request's own permit is released as soon as the request is handled.
    let ended_session =
        session.filter(|_| parts.method == Method::DELETE).and_then(|id| sessions.use_session(id));
    if let Some(guard) = session.and_then(|id| sessions.use_session(id)) {
        parts.extensions.insert(SessionEnded(guard.ended()));
        parts.extensions.insert(guard);
    }
    let body = match access_rules.limits.read(body).await {
        Ok(body) => body,
        Err(rejection) => return rejection,
    };
    // `rmcp` would report an invalid media type, or treat an unusual ID as missing.
    if parts.method == Method::POST
        && is_json(&parts)
        && let Some(error) = streams::invalid_body(&body)
    {
        return bad_request(&error);
    }
    let max_requests = access_rules.limits.requests_per_caller();
    let permit = match acquire_permit(&mut parts, &body, owner.as_ref(), (shares, max_requests)) {
        Ok(permit) => permit,
        Err(rejection) => return rejection,
    };
    let mut response = next.run(Request::from_parts(parts, Body::from(body.clone()))).await;
    if let Some(permit) = permit {
        response = permit.hold_until_sent(response);
    }
    // `rmcp` gives the calls of the session five seconds, and sends a response that clients log as a failure.
    if let Some(session) = ended_session.filter(|_| response.status() == StatusCode::ACCEPTED) {
        session.end();
        return StatusCode::NO_CONTENT.into_response();
    }
    // `rmcp` reports only that a session is required.
    let has_no_type = !response.headers().contains_key(header::CONTENT_TYPE);
    if is_new_session
        && has_no_type
        && response.status() == StatusCode::BAD_REQUEST
        && let Some(error) = invalid_request::missing_initialize(&body)
    {
        return bad_request(&error);
    }
    let Some(id) = response.headers().get(SESSION_HEADER).cloned() else { return response };
    if is_new_session && let Err(rejection) = sessions.register(&id, owner.as_ref()).await {
        return rejection;
    }
    if let Some(owner) = owner {
        let Some(sealed_id) = session_id.or_else(|| access_rules.seal_session(&id, &owner)) else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        response.headers_mut().insert(SESSION_HEADER, sealed_id);
    }
    response
}

/// Whether the `Content-Type` is JSON.
fn is_json(parts: &Parts) -> bool {
    let media_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|media_type| essence(media_type) == "application/json")
}

fn bad_request(error: &JsonRpcError) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, headers, json!(error).to_string()).into_response()
}

/// Returns the reason to reject an ambiguous request. Other servers may read it differently than the checks of hosts
/// and origins here: a duplicate header, another host in the request target, text after the brackets of an address.
fn ambiguity(parts: &Parts) -> Option<(StatusCode, &'static str)> {
    let Parts { headers, uri, .. } = parts;
    let is_plain = |authority: &Authority| {
        let port = authority.port().map_or(0, |port| port.as_str().len() + 1);
        authority.host().len() + port == authority.as_str().len()
    };
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().map(|host| Authority::try_from(host.as_bytes()));
    let differs = |host: &Authority| {
        uri.authority().is_some_and(|target| !target.as_str().eq_ignore_ascii_case(host.as_str()))
    };
    match host {
        _ if hosts.next().is_some() => return Some((StatusCode::BAD_REQUEST, "duplicate `Host` header")),
        Some(Ok(host)) if differs(&host) => {
            return Some((StatusCode::BAD_REQUEST, "`Host` does not match the request target"));
        }
        Some(Ok(host)) if is_plain(&host) => {}
        None => {}
        Some(_) => return Some((StatusCode::BAD_REQUEST, "`Host` is not a host")),
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    // `null` is not a URL, and is never allowed.
    let origin =
        origins.next().and_then(|origin| Some((origin.len(), Uri::try_from(origin.as_bytes()).ok()?)));
    let is_complete = |(length, origin): &(usize, Uri)| {
        let (scheme, authority) = (origin.scheme_str()?, origin.authority().filter(|host| is_plain(host))?);
        (scheme.len() + "://".len() + authority.as_str().len() == *length).then_some(())
    };
    let is_invalid = origins.next().is_some() || origin.is_some_and(|origin| is_complete(&origin).is_none());
    is_invalid.then_some((StatusCode::FORBIDDEN, "`Origin` is invalid or duplicate"))
}

fn unauthorized(text: &'static str) -> Response {
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], text).into_response()
}
