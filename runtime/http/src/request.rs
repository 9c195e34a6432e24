//! HTTP requests that are ready to be sent, the options for building them, and their problems.

use std::fmt;

use reqwest::Url;
use serde_json::Value;
use toolgen_kernel::base::media_type::is_json;

use super::files::{Files, NoFiles};
use super::{secret, style};

/// A request, ready to be sent.
///
/// `Debug` shows credentials as `****`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method, in upper case.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// The headers, in the order in which they are sent.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// The parts of the request that carry credentials.
    pub(super) credentials: secret::AppliedCredentials,
}

/// The body of an [`HttpRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// No body.
    None,
    /// Text, as UTF-8.
    Text(String),
    /// Any bytes.
    Bytes(Vec<u8>),
}

impl Body {
    /// Returns the body as bytes; a missing body is an empty slice.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Body::None => &[],
            Body::Text(text) => text.as_bytes(),
            Body::Bytes(bytes) => bytes,
        }
    }
}

impl HttpRequest {
    /// Returns the value of the first header of this name, ignoring case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(&header.1)
    }

    /// Returns the target of the request for operators: the method, the URL, and the final URL after redirects,
    /// without queries and without credentials.
    pub(super) fn target(&self, final_url: Option<&Url>) -> String {
        let displayed = |url: &Url| {
            self.credentials.redact(&format!("{}{}", url.origin().ascii_serialization(), url.path()))
        };
        let first = Url::parse(&self.url).map(|url| displayed(&url)).unwrap_or_default();
        match final_url {
            None => format!("{} {first}", self.method),
            Some(last) => format!("{} {first} → {}", self.method, displayed(last)),
        }
    }

    /// Returns the URL with credentials masked as `****`.
    #[must_use]
    pub fn redacted_url(&self) -> String {
        self.credentials.redact_url(&self.url)
    }

    /// Returns the headers with credentials masked as `****`.
    #[must_use]
    pub fn redacted_headers(&self) -> Vec<(String, String)> {
        let displayed = |name: &str, value: &str| self.credentials.redact_header(name, value);
        self.headers.iter().map(|(name, value)| (name.clone(), displayed(name, value))).collect()
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &self.redacted_url())
            .field("headers", &self.redacted_headers())
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// The operator's options for requests. Write a literal with `..BuildOptions::default()`.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'a> {
    /// Replaces the plan's servers, including their paths. The path of this URL is kept.
    pub base_url: Option<&'a str>,
    /// The URL of the document. Relative servers are resolved against it.
    pub document_url: Option<&'a str>,
    /// The values of server variables, replacing their defaults.
    pub server_variables: &'a [(String, String)],
    /// Reads the files that arguments name by a `path`.
    pub files: &'a dyn Files,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        BuildOptions { base_url: None, document_url: None, server_variables: &[], files: &NoFiles }
    }
}

/// A problem of the arguments that prevents building a request.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestProblem {
    /// The kind of problem.
    pub kind: RequestProblemKind,
    /// The argument with the problem; empty if the problem does not concern an argument.
    pub argument: String,
    /// The description of the problem.
    pub message: String,
}

/// The kinds of [`RequestProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestProblemKind {
    /// The arguments are not an object.
    Arguments,
    /// An argument that the request needs has no value.
    MissingArgument,
    /// A placeholder in the path has no argument.
    MissingPathParameter,
    /// A value would change the path it is inserted into.
    UnsafePath,
    /// A value cannot be sent in a header.
    Header,
    /// The body is missing, or unsuitable for the media type.
    Body,
    /// A file argument is invalid.
    File,
    /// The URL is too long.
    TooLong,
    /// There is no base URL.
    BaseUrl,
    /// The plan's server cannot receive HTTP requests, such as `wss://…`.
    Server,
    /// A server variable has a value that is not allowed.
    ServerVariable,
}

impl RequestProblemKind {
    /// Returns the code of the kind, one of [`codes::ALL`](toolgen_kernel::call::codes::ALL).
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            RequestProblemKind::Arguments => "INVALID_INPUT",
            RequestProblemKind::MissingArgument | RequestProblemKind::MissingPathParameter => {
                "MISSING_PARAMETER"
            }
            RequestProblemKind::UnsafePath => "UNSAFE_PATH_PARAM",
            RequestProblemKind::Header => "INVALID_HEADER",
            RequestProblemKind::Body => "INVALID_BODY",
            RequestProblemKind::File => "FILE_ERROR",
            RequestProblemKind::TooLong => "URL_TOO_LONG",
            RequestProblemKind::BaseUrl => "NO_BASE_URL",
            RequestProblemKind::Server => "INVALID_SERVER",
            RequestProblemKind::ServerVariable => "INVALID_SERVER_VARIABLE",
        }
    }

    /// Whether the caller of the tool can fix the problem. Otherwise only the operator can.
    #[must_use]
    pub const fn is_about_arguments(self) -> bool {
        !matches!(
            self,
            RequestProblemKind::BaseUrl | RequestProblemKind::Server | RequestProblemKind::ServerVariable
        )
    }
}

impl RequestProblem {
    pub(super) fn new(
        kind: RequestProblemKind,
        argument: impl Into<String>,
        message: impl Into<String>,
    ) -> RequestProblem {
        RequestProblem { kind, argument: argument.into(), message: message.into() }
    }
}

impl fmt::Display for RequestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

toolgen_core::__readable_debug!(RequestProblem);

impl std::error::Error for RequestProblem {}

/// Maximum length of a URL, in bytes. The `http` crate accepts no more.
pub(super) const MAX_URL: usize = 65_534;

/// Writes a value as a document of a media type: as JSON, or as a string that is unchanged for any other type.
pub(super) fn content(value: &Value, media_type: &str) -> String {
    if is_json(media_type) { value.to_string() } else { style::text(value) }
}
