//! The error of a typed call from Rust.

use std::fmt;

use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url};
use serde_core::de::{Error as _, IgnoredAny};
use toolgen_kernel::base::printable::printable;
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::plan::Tool;

use super::request::HttpRequest;
use super::secret::AppliedCredentials;
use super::{html, response, response_text};

/// The error of a typed call from Rust.
///
/// No model reads it, so `Display` names the call, and shows the [text for operators](ToolError::operator_text) and
/// the start of the response, or of the text of an HTML error page: `get_me: GET https://api.example.com/me → 404: no
/// such user`. `Debug` prints the same, because a `main` that returns an error prints `Debug`.
#[non_exhaustive]
pub enum CallError {
    /// There was no response, or no request: the network, the time limit, a credential or an argument failed.
    #[non_exhaustive]
    Transport {
        /// The name of the tool.
        tool: String,
        /// The failure.
        error: ToolError,
    },
    /// The service returned a status other than success.
    #[non_exhaustive]
    Status {
        /// The tool, the method and the URL, without its query and without credentials.
        call: String,
        /// The status.
        status: u16,
        /// The target of a redirect that was not followed, and the reason; empty for other responses.
        redirect: String,
        /// What the operator can do about a rejected or missing credential; empty for other responses.
        operator: String,
        /// The body, as text. If the body is an HTML page whose text shows a credential, this is only the redacted
        /// text of the page.
        body: String,
    },
    /// The service returned success, but not a value of the expected type.
    #[non_exhaustive]
    Decode {
        /// The tool, the method and the URL, without its query and without credentials.
        call: String,
        /// The status.
        status: u16,
        /// The parse error.
        source: serde_json::Error,
        /// The body, as text; only the item, if it is a list.
        body: String,
    },
    /// The response is larger than the engine accepts.
    #[non_exhaustive]
    TooLarge {
        /// The tool, the method and the URL, without its query and without credentials.
        call: String,
        /// The status.
        status: u16,
        /// The limit, in bytes.
        limit: usize,
    },
}

impl CallError {
    /// Returns the status of the response, if there was one. The status is a success if only the body was unexpected.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            CallError::Transport { .. } => None,
            CallError::Status { status, .. }
            | CallError::Decode { status, .. }
            | CallError::TooLarge { status, .. } => Some(*status),
        }
    }

    /// Parses the body of the response as a type, generated or the program's own. Returns `None` if there was no
    /// response, or if its body does not have the type.
    ///
    /// ```ignore
    /// let Err(error) = engine.call(petstore::GetPet::new(7)).await else { return };
    /// match (error.status(), error.body::<petstore::Problem>()) {
    ///     (Some(404), _) => println!("there is no such pet"),
    ///     (_, Some(problem)) => println!("{}", problem.message),
    ///     (_, None) => println!("{error}"),
    /// }
    /// ```
    #[must_use]
    pub fn body<T: serde_core::de::DeserializeOwned>(&self) -> Option<T> {
        match self {
            CallError::Status { body, .. } | CallError::Decode { body, .. } => {
                serde_json::from_str(body).ok()
            }
            CallError::Transport { .. } | CallError::TooLarge { .. } => None,
        }
    }

    /// Returns a function that converts the failure of a tool without a response into an error.
    pub(super) fn transport_error(tool: &Tool) -> impl Fn(ToolError) -> CallError + Copy {
        |error| CallError::Transport { tool: tool.spec.name.as_str().to_owned(), error }
    }
}

/// The call and status of a response, as errors show them.
#[derive(Clone, Default)]
pub(super) struct ResponseContext {
    call: String,
    status: u16,
    /// The credentials that errors hide.
    credentials: AppliedCredentials,
}

impl ResponseContext {
    /// Creates the context. `final_url` is the target of redirects.
    pub(super) fn new(
        tool: &Tool,
        request: &HttpRequest,
        status: StatusCode,
        final_url: Option<&Url>,
    ) -> ResponseContext {
        let call = format!("{}: {}", tool.spec.name, request.target(final_url));
        ResponseContext { call, status: status.as_u16(), credentials: request.credentials.clone() }
    }

    /// Returns the error for a response whose status is not a success of the operation.
    pub(super) fn status_error(
        self,
        request: &HttpRequest,
        headers: &HeaderMap,
        (redirect_error, operator): (Option<&str>, String),
        body: String,
    ) -> CallError {
        let mut redirect = String::new();
        if let Ok(status) = StatusCode::from_u16(self.status) {
            response_text::append_headers(
                &mut redirect,
                status,
                &response::headers(request, headers),
                None,
                redirect_error,
            );
        }
        let redirect = redirect.trim_start().replace('\n', ". ");
        // Without its markup, a page may show a credential that was not visible before.
        let page = html::page("", &body).map(|page| (self.credentials.redact(&page), page));
        let body = page.filter(|(redacted, page)| redacted != page).map_or(body, |(redacted, _)| redacted);
        CallError::Status { call: self.call, status: self.status, redirect, operator, body }
    }

    /// Returns the error for a response with unexpected content.
    pub(super) fn decode_error(self, reason: &str, body: &str) -> CallError {
        let ResponseContext { call, status, credentials } = self;
        let source = serde_json::Error::custom(cut(&printable(&credentials.redact(reason)), MAX_BODY_CHARS));
        CallError::Decode { call, status, source, body: credentials.redact(body) }
    }

    pub(super) fn too_large(self, limit: usize) -> CallError {
        CallError::TooLarge { call: self.call, status: self.status, limit }
    }
}

/// Describes how a body that should be JSON differs from the expected value.
pub(super) fn json_mismatch(text: &str, reason: impl fmt::Display) -> String {
    if text.trim().is_empty() {
        format!("the body is empty ({reason})")
    } else if serde_json::from_str::<IgnoredAny>(text).is_err() {
        format!("the body is not JSON ({reason})")
    } else {
        format!("the body is not of the expected type ({reason})")
    }
}

/// Maximum length of a response body in the text of an error, in characters.
const MAX_BODY_CHARS: usize = 300;

toolgen_core::__readable_debug!(CallError);

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let page;
        let body = match self {
            CallError::Transport { tool, error } => return write!(f, "{tool}: {}", error.operator_text()),
            CallError::TooLarge { call, status, limit } => {
                return write!(f, "{call} → {status}: the response has more than {limit} bytes");
            }
            CallError::Status { call, status, redirect, operator, body } => {
                write!(f, "{call} → {status}")?;
                for text in [redirect, operator].into_iter().filter(|text| !text.is_empty()) {
                    write!(f, " ({text})")?;
                }
                page =
                    html::page("", body).filter(|page| !page.is_empty()).map(|page| page.replace('\n', " "));
                page.as_ref().unwrap_or(body)
            }
            CallError::Decode { call, status, source, body } => {
                write!(f, "{call} → {status}: {source}")?;
                body
            }
        };
        match cut(printable(body).trim(), MAX_BODY_CHARS) {
            start if start.is_empty() => Ok(()),
            start => write!(f, ": {start}"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Transport { error, .. } => Some(error),
            CallError::Decode { source, .. } => Some(source),
            _ => None,
        }
    }
}
