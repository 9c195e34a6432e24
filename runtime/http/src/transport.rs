//! Sends a request and follows redirects.
//!
//! Redirects are followed here and not by the client, because the client knows only a few headers that carry
//! credentials. The rules (RFC 9110, section 15.4, and stricter):
//!
//! - 303 becomes `GET`; 301 and 302 are followed for `GET` and `HEAD` only; 307 and 308 keep method and body.
//! - Another origin gets no credential, no cookie and no header of the call except [`KEPT`], nor does any hop after
//!   it.
//! - Another origin never gets a body, and `https` never becomes `http`.
//!
//! A redirect that is not followed is the response. One to a host that the call may not reach is an error (see the
//! guard).

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Frame, SizeHint};
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};
use toolgen_kernel::call::secrets::REDACTED;
use toolgen_kernel::engine::interceptor::{Interceptor, TapedAnswer, TapedRequest};
use toolgen_kernel::spec::Network;

use super::guard::{Guard, Refused, refusal};
use super::request::{Body, HttpRequest, MAX_URL};
use super::secret::is_sensitive;

/// The maximum number of redirects followed for one request.
const MAX_REDIRECTS: usize = 10;

/// The headers that another origin also gets.
pub(super) const CROSS_ORIGIN_HEADERS: [&str; 2] = ["accept", "accept-language"];

/// A response whose body is not yet read.
pub(super) struct Reply {
    pub(super) response: Response,
    /// Where redirects led, if there were any.
    pub(super) final_url: Option<Url>,
    /// Why a redirect was not followed.
    pub(super) refused: Option<&'static str>,
}

/// Why there is no reply.
#[derive(Debug)]
pub(super) enum SendError {
    /// The request cannot be sent: the method or a header breaks the rules of HTTP.
    Malformed(String),
    /// A host may not be reached: that of the request or of a redirect.
    Refused(Refused),
    /// The network, the server or TLS failed.
    Network(reqwest::Error),
    /// The request was not recorded, and nothing is sent.
    Taped(String),
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> SendError {
        refusal(&error).map_or(SendError::Network(error), SendError::Refused)
    }
}

/// The clients of an engine. They share nothing but the guard.
#[derive(Clone)]
pub(super) struct Clients {
    pub(super) usual: Client,
    /// The client that shows the certificate of the program; the usual one if there is none.
    pub(super) identified: Client,
}

/// How requests are sent, and which hosts they may reach.
pub(super) struct Route<'a> {
    pub(super) clients: &'a Clients,
    pub(super) guard: &'a Guard,
    /// The hosts that the call may reach.
    pub(super) allowed: &'a Network,
    pub(super) redirects: Redirects,
    /// The redirects that are answers.
    pub(super) answers: &'a [u16],
    /// The URL whose answer led here, if the program did not.
    pub(super) from: Option<&'a Url>,
    /// Whether the request goes where the program's own credentials go: its headers and its certificate.
    pub(super) at_home: bool,
    /// Where requests are recorded, or answered without being sent.
    pub(super) taped: Option<Interception<'a>>,
}

/// Which redirects are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Redirects {
    /// All that the rules allow.
    Allowed,
    /// Those that repeat the request at its own origin.
    AtOrigin,
    /// No redirect: it is the response itself.
    None,
}

/// A request to one place.
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
    let mut step = first(request, if route.at_home { extra } else { &[] })?;
    route.guard.check(&step.url, route.from, route.allowed).map_err(SendError::Refused)?;
    let mut client = if route.at_home { &route.clients.identified } else { &route.clients.usual };
    let (mut final_url, mut followed) = (None, 0);
    if let Some(taped) = &route.taped {
        taped.hide(request);
    }
    loop {
        let response = match &route.taped {
            None => step.send(client).await?,
            Some(taped) if taped.tape.0.plays() => taped.play(request, &step)?,
            Some(taped) => {
                let received = taped.record(request, &step);
                received(step.send(client).await?)
            }
        };
        let is_answer = route.answers.contains(&response.status().as_u16());
        let redirects = if is_answer { Redirects::None } else { route.redirects };
        let refused = match next(&step, &response, redirects) {
            None => None,
            Some(Ok(_)) if followed == MAX_REDIRECTS => Some("too many redirects"),
            Some(Ok(next)) => {
                route.guard.check(&next.url, Some(&step.url), route.allowed).map_err(SendError::Refused)?;
                final_url = Some(next.url.clone());
                if next.url.origin() != step.url.origin() {
                    client = &route.clients.usual;
                }
                followed += 1;
                step = next;
                continue;
            }
            Some(Err(error)) => Some(error),
        };
        return Ok(Reply { response, final_url, refused });
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

fn first(request: &HttpRequest, extra: &[(String, String)]) -> Result<Step, SendError> {
    let malformed = |what: String| SendError::Malformed(what);
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|_| malformed(format!("`{}` is not an HTTP method", request.method)))?;
    if request.url.len() > MAX_URL {
        let length = request.url.len();
        return Err(malformed(format!("the URL has {length} bytes, and at most {MAX_URL} can be sent")));
    }
    let url =
        Url::parse(&request.url).map_err(|error| malformed(format!("the URL is not usable: {error}")))?;
    let mut headers = HeaderMap::new();
    let own = request.headers.iter();
    let extra = extra.iter().filter(|(name, _)| request.header(name).is_none());
    for (name, value) in own.chain(extra) {
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
        // Servers expect it where a body is usual (RFC 9110, section 8.6).
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    Ok(Step { method, url, headers, body })
}

/// Returns the next step after a response: `None` if it is not a redirect, an error if a redirect is not followed.
fn next(step: &Step, response: &Response, redirects: Redirects) -> Option<Result<Step, &'static str>> {
    let status = response.status();
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    match redirects {
        Redirects::Allowed => Some(follow(step, status, location)),
        Redirects::AtOrigin => Some(follow(step, status, location).and_then(|next| {
            if next.url.origin() != step.url.origin() {
                Err("another origin gets no such request")
            } else if next.method != step.method {
                Err("it would become another request")
            } else {
                Ok(next)
            }
        })),
        Redirects::None => None,
    }
}

fn follow(step: &Step, status: StatusCode, location: &HeaderValue) -> Result<Step, &'static str> {
    let safe = matches!(step.method, Method::GET | Method::HEAD);
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| "the location is not a URL")?;
    let mut url = step.url.join(location).map_err(|_| "the location is not a URL")?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("the location is not an http or https URL");
    }
    if step.url.scheme() == "https" && url.scheme() == "http" {
        return Err("it leads from https to http");
    }
    // What a server puts there would be sent as credentials of the engine.
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return Err("the location is not an http or https URL");
    }
    let keeps_method = matches!(status.as_u16(), 307 | 308);
    let same_origin = url.origin() == step.url.origin();
    let becomes_get = status == StatusCode::SEE_OTHER && !safe;
    let repeatable = safe || becomes_get || (keeps_method && same_origin);
    if !repeatable {
        return Err(if same_origin {
            "it may not be repeated"
        } else {
            "another origin gets no such request"
        });
    }
    let mut headers = step.headers.clone();
    let mut body = step.body.clone();
    if becomes_get {
        body = None;
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
    }
    if !same_origin {
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

/// Returns a header as text; empty without it.
pub(super) fn header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

/// Describes a network failure without the URL, which may hold a credential.
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

/// Where the traffic of an engine goes.
pub(super) struct Interception<'a> {
    pub(super) tape: &'a Interceptor,
    /// What must not be shown of what the engine sends with every request.
    pub(super) secrets: Vec<&'a str>,
}

impl Interception<'_> {
    /// Hides the credentials of a request in everything that is recorded.
    pub(super) fn hide(&self, request: &HttpRequest) {
        let tape = &*self.tape.0;
        request.credentials.texts().chain(self.secrets.iter().copied()).for_each(|text| tape.hide(text));
    }

    /// Returns the request as it is recorded.
    fn request(&self, request: &HttpRequest, step: &Step) -> TapedRequest {
        let carries = |name: &str| {
            let mut own = request.credentials.headers.iter();
            is_sensitive(name) || own.any(|header| header.eq_ignore_ascii_case(name))
        };
        let mut headers = texts(&step.headers);
        for (name, value) in &mut headers {
            if carries(name) {
                REDACTED.clone_into(value);
            }
        }
        let url = request.credentials.mask_url(step.url.as_str(), REDACTED);
        let body = step.body.clone().unwrap_or_default();
        TapedRequest { method: step.method.to_string(), url, headers, body }
    }

    /// Returns the recorded answer.
    pub(super) fn play(&self, request: &HttpRequest, step: &Step) -> Result<Response, SendError> {
        let reply = self.tape.0.replay_response(self.request(request, step)).map_err(SendError::Taped)?;
        let mut response = http::Response::builder().status(reply.status);
        for (name, value) in &reply.headers {
            response = response.header(name, value);
        }
        let response = response.body(reply.body).map(Response::from);
        response.map_err(|error| SendError::Taped(format!("a recorded answer cannot be read: {error}")))
    }

    /// Records a request, and its answer while it is read.
    pub(super) fn record(
        &self,
        request: &HttpRequest,
        step: &Step,
    ) -> impl FnOnce(Response) -> Response + use<> {
        let tape = self.tape.clone();
        let number = tape.0.record_request(self.request(request, step));
        move |response| {
            let (parts, body) = http::Response::<reqwest::Body>::from(response).into_parts();
            let (status, headers) = (parts.status.as_u16(), texts(&parts.headers));
            let received = RecordedBody {
                body,
                tape,
                number,
                response: TapedAnswer { status, headers, body: Vec::new() },
            };
            Response::from(http::Response::from_parts(parts, reqwest::Body::wrap(received)))
        }
    }
}

fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}

/// A body that is recorded as far as it is read.
struct RecordedBody {
    body: reqwest::Body,
    tape: Interceptor,
    number: usize,
    response: TapedAnswer,
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
        self.tape.0.answered(self.number, std::mem::take(&mut self.response));
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

    fn led(from: &str, to: &str) -> Result<Step, &'static str> {
        follow(&step(Method::GET, from), StatusCode::FOUND, &HeaderValue::from_str(to).unwrap())
    }

    #[test]
    fn https_is_never_redirected_to_http() {
        assert_eq!(led("https://h/", "http://h/x").err(), Some("it leads from https to http"));
        assert_eq!(led("https://h/", "/x").unwrap().headers.len(), 3);
        // The other way is another origin as well.
        assert_eq!(led("http://h/", "https://h/x").unwrap().headers.len(), 1);
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
            let kept = led("https://h/", to).unwrap().headers.contains_key("authorization");
            assert_eq!(kept, same, "{to}");
        }
    }
}
