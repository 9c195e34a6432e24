//! Sends a request and follows redirects.
//!
//! The engine follows redirects itself, because the client strips only a few well-known credential headers. The rules
//! (RFC 9110, section 15.4, and stricter):
//!
//! - 303 becomes `GET`; 301 and 302 are followed for `GET` and `HEAD` only; 307 and 308 keep method and body.
//! - Another origin gets no credential, no cookie and no header of the call except [`CROSS_ORIGIN_HEADERS`]. The same
//!   holds for all later hops.
//! - Another origin never gets a body, and `https` never becomes `http`.
//!
//! A redirect that is not followed is the response. A redirect to a host that the guard blocks is an error.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Frame, SizeHint};
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};
use toolgen_kernel::call::secrets::REDACTED;
use toolgen_kernel::engine::interceptor::{Interceptor, RecordedRequest, RecordedResponse};
use toolgen_kernel::spec::Network;

use super::guard::{Guard, HostBlocked, host_blocked_in};
use super::request::{Body, HttpRequest, MAX_URL};
use super::secret::is_sensitive;

/// The maximum number of redirects followed for one request.
const MAX_REDIRECTS: usize = 10;

/// The headers that another origin may get.
pub(super) const CROSS_ORIGIN_HEADERS: [&str; 2] = ["accept", "accept-language"];

/// A response whose body is not yet read.
pub(super) struct Reply {
    pub(super) response: Response,
    /// The final URL, if redirects were followed.
    pub(super) final_url: Option<Url>,
    /// Why a redirect was not followed.
    pub(super) redirect_error: Option<&'static str>,
}

/// The reason why there is no response.
#[derive(Debug)]
pub(super) enum SendError {
    /// The request cannot be sent: its method or a header is invalid in HTTP.
    Malformed(String),
    /// The guard blocks the host of the request or of a redirect.
    Blocked(HostBlocked),
    /// The network, the server or TLS failed.
    Network(reqwest::Error),
    /// The interceptor could not record or replay the request, so it was not sent.
    Cassette(String),
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> SendError {
        host_blocked_in(&error).map_or(SendError::Network(error), SendError::Blocked)
    }
}

/// The clients of an engine. They share only the guard.
#[derive(Clone)]
pub(super) struct Clients {
    pub(super) standard: Client,
    /// The client that presents the program's certificate; the standard client if there is no certificate.
    pub(super) with_certificate: Client,
}

/// How requests are sent, and to which hosts.
pub(super) struct Route<'a> {
    pub(super) clients: &'a Clients,
    pub(super) guard: &'a Guard,
    /// The hosts that the calling context allows.
    pub(super) allowed: &'a Network,
    pub(super) redirects: Redirects,
    /// The redirect statuses that are successes.
    pub(super) success_redirects: &'a [u16],
    /// The URL of the response that linked here; `None` if the program chose the URL.
    pub(super) linked_from: Option<&'a Url>,
    /// Whether the target gets the program's own credentials: its headers and its certificate.
    pub(super) is_trusted: bool,
    /// The interceptor that records requests, or replays responses.
    pub(super) interception: Option<Interception<'a>>,
}

/// Which redirects are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Redirects {
    /// All redirects that the rules allow.
    Allowed,
    /// Redirects that repeat the request at the same origin.
    SameOrigin,
    /// No redirects: a redirect is the response.
    None,
}

/// A request to one URL, between redirects.
pub(super) struct Step {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
}

/// Sends a request with the operator's headers; the call's own headers take precedence.
pub(super) async fn send(
    route: &Route<'_>,
    request: &HttpRequest,
    extra: &[(String, String)],
) -> Result<Reply, SendError> {
    let mut step = first_step(request, if route.is_trusted { extra } else { &[] })?;
    route.guard.check(&step.url, route.linked_from, route.allowed).map_err(SendError::Blocked)?;
    let mut client = if route.is_trusted { &route.clients.with_certificate } else { &route.clients.standard };
    let (mut final_url, mut followed) = (None, 0);
    if let Some(interception) = &route.interception {
        interception.hide(request);
    }
    loop {
        let response = match &route.interception {
            None => step.send(client).await?,
            Some(interception) if interception.interceptor.0.plays() => interception.play(request, &step)?,
            Some(interception) => {
                let record = interception.record(request, &step);
                record(step.send(client).await?)
            }
        };
        let is_success = route.success_redirects.contains(&response.status().as_u16());
        let redirects = if is_success { Redirects::None } else { route.redirects };
        let redirect_error = match next_step(&step, &response, redirects) {
            None => None,
            Some(Ok(_)) if followed == MAX_REDIRECTS => Some("too many redirects"),
            Some(Ok(next)) => {
                route.guard.check(&next.url, Some(&step.url), route.allowed).map_err(SendError::Blocked)?;
                final_url = Some(next.url.clone());
                if next.url.origin() != step.url.origin() {
                    client = &route.clients.standard;
                }
                followed += 1;
                step = next;
                continue;
            }
            Some(Err(error)) => Some(error),
        };
        return Ok(Reply { response, final_url, redirect_error });
    }
}

impl Step {
    async fn send(&self, client: &Client) -> Result<Response, reqwest::Error> {
        let mut builder = client.request(self.method.clone(), self.url.clone()).headers(self.headers.clone());
        if let Some(body) = &self.body {
            builder = builder.body(body.clone());
        }
        builder.send().await
    }
}

fn first_step(request: &HttpRequest, extra: &[(String, String)]) -> Result<Step, SendError> {
    let malformed = |message: String| SendError::Malformed(message);
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|_| malformed(format!("`{}` is not an HTTP method", request.method)))?;
    if request.url.len() > MAX_URL {
        let length = request.url.len();
        return Err(malformed(format!("the URL has {length} bytes, and at most {MAX_URL} can be sent")));
    }
    let url =
        Url::parse(&request.url).map_err(|error| malformed(format!("the URL is not usable: {error}")))?;
    let mut headers = HeaderMap::new();
    let own_headers = request.headers.iter();
    let extra_headers = extra.iter().filter(|(name, _)| request.header(name).is_none());
    for (name, value) in own_headers.chain(extra_headers) {
        let key = HeaderName::from_bytes(name.as_bytes());
        let key = key.map_err(|_| malformed(format!("`{name}` is not the name of a header")))?;
        let value = HeaderValue::from_bytes(value.as_bytes());
        headers.append(key, value.map_err(|_| malformed(format!("the header `{name}` is not usable")))?);
    }
    let body = match &request.body {
        Body::None => None,
        body => Some(body.as_bytes().to_vec()),
    };
    if body.is_none() && matches!(method, Method::POST | Method::PUT | Method::PATCH) {
        // Servers expect this header for methods that usually have a body (RFC 9110, section 8.6).
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    Ok(Step { method, url, headers, body })
}

/// Returns the next step after a response. Returns `None` if it is not a redirect, and an error if the redirect is
/// not followed.
fn next_step(step: &Step, response: &Response, redirects: Redirects) -> Option<Result<Step, &'static str>> {
    let status = response.status();
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    match redirects {
        Redirects::Allowed => Some(follow(step, status, location)),
        Redirects::SameOrigin => Some(follow(step, status, location).and_then(|next| {
            if next.url.origin() != step.url.origin() {
                Err("the request must not be sent to another origin")
            } else if next.method != step.method {
                Err("its method would change")
            } else {
                Ok(next)
            }
        })),
        Redirects::None => None,
    }
}

fn follow(step: &Step, status: StatusCode, location: &HeaderValue) -> Result<Step, &'static str> {
    let is_safe = matches!(step.method, Method::GET | Method::HEAD);
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| "the location is not a URL")?;
    let mut url = step.url.join(location).map_err(|_| "the location is not a URL")?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("the location is not an http or https URL");
    }
    if step.url.scheme() == "https" && url.scheme() == "http" {
        return Err("it leads from https to http");
    }
    // A user in the URL would be sent as the engine's credentials.
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return Err("the location is not an http or https URL");
    }
    let keeps_method = matches!(status.as_u16(), 307 | 308);
    let is_same_origin = url.origin() == step.url.origin();
    let becomes_get = status == StatusCode::SEE_OTHER && !is_safe;
    let is_repeatable = is_safe || becomes_get || (keeps_method && is_same_origin);
    if !is_repeatable {
        return Err(if is_same_origin {
            "the request must not be repeated"
        } else {
            "the request must not be sent to another origin"
        });
    }
    let mut headers = step.headers.clone();
    let mut body = step.body.clone();
    if becomes_get {
        body = None;
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
    }
    if !is_same_origin {
        if body.is_some() {
            return Err("another origin gets no body");
        }
        headers = CROSS_ORIGIN_HEADERS
            .iter()
            .filter_map(|name| Some((HeaderName::from_static(name), headers.get(*name)?.clone())))
            .collect();
    }
    let method = if becomes_get { Method::GET } else { step.method.clone() };
    Ok(Step { method, url, headers, body })
}

/// Returns a header as text, or an empty string if it is missing.
pub(super) fn header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

/// Describes a network failure without the URL, which may contain a credential.
pub(super) fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// An interceptor of the engine's traffic.
pub(super) struct Interception<'a> {
    pub(super) interceptor: &'a Interceptor,
    /// The secrets that the engine sends with every request.
    pub(super) secrets: Vec<&'a str>,
}

impl Interception<'_> {
    /// Redacts the credentials of a request in all recordings.
    pub(super) fn hide(&self, request: &HttpRequest) {
        let interceptor = &*self.interceptor.0;
        request
            .credentials
            .texts()
            .chain(self.secrets.iter().copied())
            .for_each(|text| interceptor.hide(text));
    }

    /// Returns the request as it is recorded.
    fn request(&self, request: &HttpRequest, step: &Step) -> RecordedRequest {
        let has_credential = |name: &str| {
            let mut credential_headers = request.credentials.headers.iter();
            is_sensitive(name) || credential_headers.any(|header| header.eq_ignore_ascii_case(name))
        };
        let mut headers = header_pairs(&step.headers);
        for (name, value) in &mut headers {
            if has_credential(name) {
                REDACTED.clone_into(value);
            }
        }
        let url = request.credentials.mask_url(step.url.as_str(), REDACTED);
        let body = step.body.clone().unwrap_or_default();
        RecordedRequest { method: step.method.to_string(), url, headers, body }
    }

    /// Replays the recorded response.
    pub(super) fn play(&self, request: &HttpRequest, step: &Step) -> Result<Response, SendError> {
        let reply =
            self.interceptor.0.replay_response(self.request(request, step)).map_err(SendError::Cassette)?;
        let mut response = http::Response::builder().status(reply.status);
        for (name, value) in &reply.headers {
            response = response.header(name, value);
        }
        let response = response.body(reply.body).map(Response::from);
        response.map_err(|error| SendError::Cassette(format!("a recorded response cannot be read: {error}")))
    }

    /// Records a request, and its response while it is read.
    pub(super) fn record(
        &self,
        request: &HttpRequest,
        step: &Step,
    ) -> impl FnOnce(Response) -> Response + use<> {
        let interceptor = self.interceptor.clone();
        let number = interceptor.0.record_request(self.request(request, step));
        move |response| {
            let (parts, body) = http::Response::<reqwest::Body>::from(response).into_parts();
            let (status, headers) = (parts.status.as_u16(), header_pairs(&parts.headers));
            let recorded = RecordedBody {
                body,
                interceptor,
                number,
                response: RecordedResponse { status, headers, body: Vec::new() },
            };
            Response::from(http::Response::from_parts(parts, reqwest::Body::wrap(recorded)))
        }
    }
}

fn header_pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}

/// A body that is recorded while it is read.
struct RecordedBody {
    body: reqwest::Body,
    interceptor: Interceptor,
    number: usize,
    response: RecordedResponse,
}

impl http_body::Body for RecordedBody {
    type Data = <reqwest::Body as http_body::Body>::Data;
    type Error = <reqwest::Body as http_body::Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.response.body.extend_from_slice(data);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RecordedBody {
    fn drop(&mut self) {
        self.interceptor.0.answered(self.number, std::mem::take(&mut self.response));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(method: Method, url: &str) -> Step {
        let mut headers = HeaderMap::new();
        for (name, value) in [("accept", "a"), ("authorization", "b"), ("x-key", "c")] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        Step { method, url: Url::parse(url).unwrap(), headers, body: None }
    }

    fn redirect(from: &str, to: &str) -> Result<Step, &'static str> {
        follow(&step(Method::GET, from), StatusCode::FOUND, &HeaderValue::from_str(to).unwrap())
    }

    #[test]
    fn https_is_never_redirected_to_http() {
        assert_eq!(redirect("https://h/", "http://h/x").err(), Some("it leads from https to http"));
        assert_eq!(redirect("https://h/", "/x").unwrap().headers.len(), 3);
        // A change from http to https also changes the origin.
        assert_eq!(redirect("http://h/", "https://h/x").unwrap().headers.len(), 1);
    }

    #[test]
    fn origin_is_scheme_host_and_port() {
        for (to, same) in [
            ("https://h/x", true),
            ("https://h:443/x", true),
            ("https://H/x", true),
            ("//h/x", true),
            ("https://h:444/x", false),
            ("https://h.evil/x", false),
            ("https://h@evil/x", false),
            ("https:\\\\evil\\x", false),
        ] {
            let kept = redirect("https://h/", to).unwrap().headers.contains_key("authorization");
            assert_eq!(kept, same, "{to}");
        }
    }
}
