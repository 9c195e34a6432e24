//! Fetches documents, such as the OpenAPI document of a service.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use toolgen_kernel::call::tool::DEFAULT_TIMEOUT;
use toolgen_kernel::spec::Network;

use super::inner::Inner;
use super::request::HttpRequest;
use super::response;
use super::secret::Secret;
use super::transport::{self, Reply, SendError};

/// The default size limit of a document, in bytes: 64 MiB.
pub const DEFAULT_MAX_DOCUMENT_BYTES: usize = 64 << 20;

/// The media types that are accepted. A server with only one format may return it anyway.
const ACCEPT: &str = "application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5";

/// A document to fetch. A URL alone is enough: `"https://api.example.com/openapi.json".into()`.
///
/// The headers and credentials of the engine are not sent: they are for the service, and the document may be hosted
/// elsewhere.
#[derive(Clone, Debug)]
pub struct Fetch {
    url: UrlText,
    headers: Vec<(String, Secret)>,
    timeout: Option<Duration>,
    max_bytes: usize,
}

/// The URL, unchanged. Its query may contain a key, so `Debug` omits it.
#[derive(Clone)]
struct UrlText(String);

impl fmt::Debug for UrlText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        redact_url(&self.0).fmt(f)
    }
}

impl Fetch {
    /// Creates a request for the document at a URL: no headers, the engine's time limit, at most
    /// [`DEFAULT_MAX_DOCUMENT_BYTES`].
    #[must_use]
    pub fn new(url: impl Into<String>) -> Fetch {
        Fetch {
            url: UrlText(url.into()),
            headers: Vec::new(),
            timeout: None,
            max_bytes: DEFAULT_MAX_DOCUMENT_BYTES,
        }
    }

    /// Adds a header, such as `Authorization`. It is not sent to another origin after a redirect.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: Secret) -> Fetch {
        self.headers.push((name.into(), value));
        self
    }

    /// Sets the time limit of the whole request. Default: the engine's.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Fetch {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum size of the document, in bytes. Default: [`DEFAULT_MAX_DOCUMENT_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Fetch {
        self.max_bytes = max_bytes;
        self
    }
}

impl From<&str> for Fetch {
    fn from(url: &str) -> Fetch {
        Fetch::new(url)
    }
}

impl From<String> for Fetch {
    fn from(url: String) -> Fetch {
        Fetch::new(url)
    }
}

/// A fetched document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// The final URL, without parts that may be secret: user, query and fragment. It is the base of relative references
    /// in the document (RFC 3986, section 5.1.3).
    pub url: String,
    /// The document.
    pub bytes: Vec<u8>,
}

/// The error of a document that could not be fetched. It contains no part of the URL that may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct FetchError {
    /// The URL, without user, query and fragment.
    pub url: String,
    /// The kind of failure.
    pub kind: FetchErrorKind,
}

/// The reasons that a document cannot be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchErrorKind {
    /// The URL or a header is invalid.
    Malformed(String),
    /// There was no response, or it was interrupted.
    Network(String),
    /// The time limit elapsed.
    Timeout(Duration),
    /// The server returned a redirect that is not followed.
    Redirect(&'static str),
    /// The guard blocks the host of the URL or of a redirect. The text gives the reason, and how to allow the host.
    Refused(String),
    /// The server returned a status other than success.
    Status(u16),
    /// The document is larger than this limit, in bytes.
    TooLarge(usize),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.url)?;
        match &self.kind {
            FetchErrorKind::Network(reason) => write!(f, "HTTP request failed: {reason}"),
            FetchErrorKind::Timeout(time) => write!(f, "the document did not arrive within {time:?}"),
            FetchErrorKind::Redirect(reason) => write!(f, "the redirect is not followed: {reason}"),
            FetchErrorKind::Malformed(reason) | FetchErrorKind::Refused(reason) => f.write_str(reason),
            FetchErrorKind::Status(status) => write!(f, "the server returned status {status}"),
            FetchErrorKind::TooLarge(limit) => write!(f, "the document has more than {limit} bytes"),
        }
    }
}

toolgen_core::__readable_debug!(FetchError);

impl std::error::Error for FetchError {}

/// Fetches a document with the client of an engine.
///
/// # Errors
///
/// See [`FetchErrorKind`].
pub(super) async fn fetch(engine: &Inner, document: Fetch) -> Result<Fetched, FetchError> {
    let time_limit = document.timeout.or(engine.settings.timeout).unwrap_or(DEFAULT_TIMEOUT);
    let fetched = match request(&document) {
        Ok(request) => tokio::time::timeout(time_limit, fetch_within(engine, &request, document.max_bytes))
            .await
            .unwrap_or(Err(FetchErrorKind::Timeout(time_limit))),
        Err(error) => Err(FetchErrorKind::Malformed(error)),
    };
    fetched.map_err(|kind| FetchError { url: redact_url(&document.url.0), kind })
}

async fn fetch_within(
    engine: &Inner,
    request: &HttpRequest,
    limit: usize,
) -> Result<Fetched, FetchErrorKind> {
    let network = |error| FetchErrorKind::Network(request.failure(error));
    let route = transport::Route { is_trusted: false, ..engine.route(&Network::Any) };
    let reply = transport::send(&route, request, &[]).await;
    let Reply { mut response, final_url, redirect_error } = reply.map_err(|error| match error {
        SendError::Malformed(reason) | SendError::Cassette(reason) => FetchErrorKind::Malformed(reason),
        SendError::Blocked(blocked) => FetchErrorKind::Refused(blocked.to_string()),
        SendError::Network(error) => network(error),
    })?;
    if let Some(reason) = redirect_error {
        return Err(FetchErrorKind::Redirect(reason));
    }
    if !response.status().is_success() {
        return Err(FetchErrorKind::Status(response.status().as_u16()));
    }
    let body = response::read(&mut response, limit, None).await.map_err(network)?;
    if body.truncated {
        return Err(FetchErrorKind::TooLarge(limit));
    }
    let url = final_url.map_or_else(|| redact_url(&request.url), |url| redact_url(url.as_str()));
    Ok(Fetched { url, bytes: body.bytes })
}

fn request(document: &Fetch) -> Result<HttpRequest, String> {
    let headers = document.headers.iter().map(|(name, value)| (name.as_str(), value));
    HttpRequest::direct("GET", &document.url.0, vec![("Accept".to_owned(), ACCEPT.to_owned())], headers)
}

/// Returns a URL without parts that may be secret. A string that is not a URL is not shown.
fn redact_url(url: &str) -> String {
    let Ok(mut url) = Url::parse(url.trim()) else { return "the URL".to_owned() };
    url.set_query(None);
    url.set_fragment(None);
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return format!("{}:", url.scheme());
    }
    url.to_string()
}
