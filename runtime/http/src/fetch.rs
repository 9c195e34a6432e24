//! Fetches documents, such as the description of a service.

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

/// The media types in which documents are requested. A server that knows only one form may answer with it.
const ACCEPT: &str = "application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5";

/// A document to fetch. A URL alone is enough: `"https://api.example.com/openapi.json".into()`.
///
/// Neither the headers nor the credentials of the engine are sent: they are for the service, and its description may
/// be hosted elsewhere.
#[derive(Clone, Debug)]
pub struct Fetch {
    url: UrlText,
    headers: Vec<(String, Secret)>,
    timeout: Option<Duration>,
    max_bytes: usize,
}

/// The URL as it was given. Its query may hold a key, so `Debug` stops before it.
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

    /// Adds a header, such as `Authorization`. It is never sent to another origin that a redirect leads to.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: Secret) -> Fetch {
        self.headers.push((name.into(), value));
        self
    }

    /// Sets the time until the whole document must have arrived, in place of the engine's.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Fetch {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the size limit of the document, in bytes, in place of [`DEFAULT_MAX_DOCUMENT_BYTES`].
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
    /// The final URL, without what may be secret: user, query and fragment. Relative references in the document are
    /// relative to it (RFC 3986, section 5.1.3).
    pub url: String,
    /// The document.
    pub bytes: Vec<u8>,
}

/// Why a document could not be fetched. The text gives the reason, without what may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct FetchError {
    /// The URL, without user, query and fragment.
    pub url: String,
    /// What happened.
    pub kind: FetchErrorKind,
}

/// The reasons that a document cannot be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchErrorKind {
    /// The URL or a header cannot be sent.
    Malformed(String),
    /// There was no response, or it broke off.
    Network(String),
    /// It took too long.
    Timeout(Duration),
    /// The server redirected to a place that is not followed.
    Redirect(&'static str),
    /// The host of the URL or of a redirect may not be reached. The text says why, and how to open it.
    Refused(String),
    /// The server answered with a status other than success.
    Status(u16),
    /// The document has more than this many bytes.
    TooLarge(usize),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.url)?;
        match &self.kind {
            FetchErrorKind::Network(reason) => write!(f, "HTTP request failed: {reason}"),
            FetchErrorKind::Timeout(time) => write!(f, "no document within {time:?}"),
            FetchErrorKind::Redirect(reason) => write!(f, "the redirect is not followed: {reason}"),
            FetchErrorKind::Malformed(reason) | FetchErrorKind::Refused(reason) => f.write_str(reason),
            FetchErrorKind::Status(status) => write!(f, "the server answered with status {status}"),
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
pub(super) async fn fetch(engine: &Inner, what: Fetch) -> Result<Fetched, FetchError> {
    let time = what.timeout.or(engine.settings.timeout).unwrap_or(DEFAULT_TIMEOUT);
    let fetched = match request(&what) {
        Ok(request) => tokio::time::timeout(time, fetch_within(engine, &request, what.max_bytes))
            .await
            .unwrap_or(Err(FetchErrorKind::Timeout(time))),
        Err(error) => Err(FetchErrorKind::Malformed(error)),
    };
    fetched.map_err(|kind| FetchError { url: redact_url(&what.url.0), kind })
}

async fn fetch_within(
    engine: &Inner,
    request: &HttpRequest,
    limit: usize,
) -> Result<Fetched, FetchErrorKind> {
    let network = |error| FetchErrorKind::Network(request.failure(error));
    let route = transport::Route { at_home: false, ..engine.route(&Network::Any) };
    let sent = transport::send(&route, request, &[]).await;
    let Reply { mut response, final_url, refused } = sent.map_err(|error| match error {
        SendError::Malformed(reason) | SendError::Taped(reason) => FetchErrorKind::Malformed(reason),
        SendError::Refused(refused) => FetchErrorKind::Refused(refused.to_string()),
        SendError::Network(error) => network(error),
    })?;
    if let Some(reason) = refused {
        return Err(FetchErrorKind::Redirect(reason));
    }
    if !response.status().is_success() {
        return Err(FetchErrorKind::Status(response.status().as_u16()));
    }
    let read = response::read(&mut response, limit, None).await.map_err(network)?;
    if read.truncated {
        return Err(FetchErrorKind::TooLarge(limit));
    }
    let url = final_url.map_or_else(|| redact_url(&request.url), |url| redact_url(url.as_str()));
    Ok(Fetched { url, bytes: read.bytes })
}
fn request(what: &Fetch) -> Result<HttpRequest, String> {
    let headers = what.headers.iter().map(|(name, value)| (name.as_str(), value));
    HttpRequest::direct("GET", &what.url.0, vec![("Accept".to_owned(), ACCEPT.to_owned())], headers)
}

/// Returns a URL without what may be secret. A text that is not a URL is not shown.
fn redact_url(url: &str) -> String {
    let Ok(mut url) = Url::parse(url.trim()) else { return "the URL".to_owned() };
    url.set_query(None);
    url.set_fragment(None);
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return format!("{}:", url.scheme());
    }
    url.to_string()
}
