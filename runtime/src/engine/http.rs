//! Tools that are HTTP requests.
//!
//! [`build`] turns a [`RequestPlan`](crate::spec::plan::RequestPlan) and arguments into an [`HttpRequest`] and is pure;
//! [`authorize`] adds credentials. [`HttpEngine`] does both, sends the request and makes a result of the answer.
//!
//! # What a call gives
//!
//! - An answer of any status is a result: `{METHOD} {url} → {status}`, an empty line and the body. `details.ok`
//!   tells success, `details` hold `status`, `method`, `url`, `ok`, `headers`, `truncated` and `content_type`.
//! - A text that is longer than the limit is cut off and ends with `... [truncated]`; the rest is not even read.
//! - No answer is [`ToolError::Failed`](crate::ToolError::Failed) with `Error: HTTP request failed: …` and the code
//!   `http_error`, or `read_error` if the body broke off.
//!
//! # What holds for credentials
//!
//! They go to the origin of the plan's server or of the operator's base URL and nowhere else, not across redirects
//! either. They show as `****` in every text, header and `Debug` output that leaves this module, even if the
//! service sends them back.

mod body;
mod charset;
mod credentials;
mod encode;
mod engine;
mod fetch;
mod files;
mod multipart;
mod request;
mod response;
mod secret;
mod settings;
mod style;
mod tls;
mod transport;
#[cfg(feature = "typed")]
mod typed;
mod url;

pub use credentials::{
    CredentialRequest, Credentials, EnvCredentials, MissingCredential, NoCredentials, Secret,
    StaticCredentials, authorize,
};
pub use engine::HttpEngine;
pub use fetch::{Fetch, FetchError, FetchErrorKind, Fetched, MAX_DOCUMENT_BYTES};
pub use files::{Files, FilesRoot, MAX_FILE, NoFiles};
pub use request::{Body, BuildOptions, HttpRequest, RequestProblem, RequestProblemKind, build};
pub use settings::{EngineError, HttpEngineBuilder, MAX_BYTES, MAX_MEDIA_BYTES, MAX_TYPED_BYTES};
#[cfg(feature = "typed")]
pub use typed::CallError;
