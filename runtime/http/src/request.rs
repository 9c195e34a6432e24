//! Turns a plan and arguments into an HTTP request, as a pure function.

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
    /// The method, in capitals.
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
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// Returns what it asks for as operators see it: the method, the URL, and the one that redirects led to, without their
    /// queries and without credentials.
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

    /// Returns the URL with credentials shown as `****`.
    #[must_use]
    pub fn redacted_url(&self) -> String {
        self.credentials.redact_url(&self.url)
    }

    /// Returns the headers with credentials shown as `****`.
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

/// The operator's choices about requests. Write a literal with `..BuildOptions::default()`.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'a> {
    /// Replaces the plan's servers; its own path is kept.
    pub base_url: Option<&'a str>,
    /// The URL the document came from; relative servers are resolved against it.
    pub document_url: Option<&'a str>,
    /// The values of server variables, in place of their defaults.
    pub server_variables: &'a [(String, String)],
    /// Reads the files that arguments name by a `path`.
    pub files: &'a dyn Files,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        BuildOptions { base_url: None, document_url: None, server_variables: &[], files: &NoFiles }
    }
}

/// Why no request can be built from the arguments of a call.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestProblem {
    /// The kind of problem.
    pub kind: RequestProblemKind,
    /// The argument with the problem; empty if there is none.
    pub argument: String,
    /// What is wrong.
    pub message: String,
}

/// The kinds of [`RequestProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestProblemKind {
    /// The arguments are not an object.
    Arguments,
    /// A part of the request is made from an argument that has no value.
    MissingArgument,
    /// The path has a placeholder without an argument.
    MissingPathParameter,
    /// A value would change the path it is inserted into.
    UnsafePath,
    /// A value cannot be sent in a header.
    Header,
    /// The body is missing, or is not what the media type needs.
    Body,
    /// A file argument is not usable.
    File,
    /// The URL would be too long to be sent.
    TooLong,
    /// There is no URL to send the request to.
    BaseUrl,
    /// The server of the plan is none that a request can be sent to, such as `wss://…`.
    Server,
    /// A variable of the server has a value that is not allowed.
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

    /// Whether the caller of the tool can fix the problem, as opposed to its operator.
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

/// The longest URL, in bytes: what the `http` crate accepts.
pub(super) const MAX_URL: usize = 65_534;

/// Writes a value as a document of a media type: as JSON, or a text of any other type unchanged.
pub(super) fn content(value: &Value, media_type: &str) -> String {
    if is_json(media_type) { value.to_string() } else { style::text(value) }
}
