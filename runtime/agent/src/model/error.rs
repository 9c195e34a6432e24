//! Why a vendor's API returned no reply.

use std::fmt;
use std::time::Duration;

/// Why a vendor's API returned no reply. `Display` is one sentence with the URL, the cause and what to do. Keys are
/// masked.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestError {
    /// The URL of the request, without a query.
    pub url: String,
    /// What went wrong.
    pub kind: RequestErrorKind,
    /// Number of attempts.
    pub attempts: u32,
}

/// What went wrong with a request.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestErrorKind {
    /// Nothing was sent, because a setting is missing or invalid, such as the key.
    Setup(String),
    /// The host could not be reached, or TLS failed, with the chain of causes.
    Unreachable(String),
    /// There was no complete reply in this time, see [`Model::with_timeout`](super::Model::with_timeout).
    Timeout(Duration),
    /// The reply was interrupted.
    Interrupted(String),
    /// The vendor refused the request.
    Status {
        /// The HTTP status.
        status: u16,
        /// The vendor's own text, or the text of an error page.
        message: String,
        /// What to do about it. May be empty.
        help: String,
    },
    /// A successful response is not a reply of a model.
    Reply(String),
}

impl RequestError {
    /// Returns the HTTP status, if the vendor refused the request.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self.kind {
            RequestErrorKind::Status { status, .. } => Some(status),
            _ => None,
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.url.is_empty() {
            write!(f, "POST {}", self.url)?;
        }
        match &self.kind {
            RequestErrorKind::Setup(reason) if self.url.is_empty() => f.write_str(reason)?,
            RequestErrorKind::Setup(reason) => write!(f, " was not sent: {reason}")?,
            RequestErrorKind::Unreachable(causes) => write!(f, ": {causes}")?,
            RequestErrorKind::Timeout(limit) => {
                write!(f, ": no complete reply within {limit:?}; `Model::with_timeout` sets another limit")?;
            }
            RequestErrorKind::Interrupted(reason) => write!(f, ": the reply was interrupted: {reason}")?,
            RequestErrorKind::Status { status, message, help } => {
                write!(f, " → {status}")?;
                [message, help]
                    .into_iter()
                    .filter(|text| !text.is_empty())
                    .try_for_each(|text| write!(f, ": {text}"))?;
            }
            RequestErrorKind::Reply(reason) => write!(f, ": {reason}")?,
        }
        if self.attempts > 1 { write!(f, " (after {} attempts)", self.attempts) } else { Ok(()) }
    }
}

impl fmt::Debug for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestError({self})")
    }
}

impl fmt::Debug for RequestErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, text) = match self {
            RequestErrorKind::Setup(text) => ("Setup", text),
            RequestErrorKind::Unreachable(text) => ("Unreachable", text),
            RequestErrorKind::Timeout(limit) => return f.debug_tuple("Timeout").field(limit).finish(),
            RequestErrorKind::Interrupted(text) => ("Interrupted", text),
            RequestErrorKind::Status { status, message, .. } => {
                return f.debug_struct("Status").field("status", status).field("message", message).finish();
            }
            RequestErrorKind::Reply(text) => ("Reply", text),
        };
        f.debug_tuple(name).field(text).finish()
    }
}

impl std::error::Error for RequestError {}
