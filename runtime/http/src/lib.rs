//! Tools that are HTTP requests.
//!
//! [`build`] turns a [`RequestPlan`](toolgen_kernel::spec::plan::RequestPlan) and arguments into an [`HttpRequest`]
//! and is pure; [`authorize`] adds credentials. [`HttpEngine`] does both, sends the request, and turns the response
//! into a result.
//!
//! # The result of a call
//!
//! - A response of any status is a result: `{METHOD} {url} → {status}` and, if it has a body, an empty line and the
//!   body. After redirects, the first line is `{METHOD} {url} → {final url} → {status}`. White space between the
//!   tokens of a JSON body is removed. `details.ok` states whether the call succeeded; `details` contains `status`,
//!   `method`, `url`, `ok`, `headers`, `truncated` and `content_type`.
//! - After the first line of a success, `Location` and the headers that the plan names follow, one per line. Headers
//!   that contain a credential are omitted.
//! - A response with status 400 or above is a result that [failed](toolgen_kernel::ToolResult::is_error), unless the
//!   tool [accepts](HttpEngineBuilder::accept_status) the status. So is a redirect that was not followed.
//! - If a body is declared as JSON but is invalid or incomplete, a line after the headers states this. From an
//!   HTML error page, a model gets only the visible text, at most 2000 characters.
//! - Text longer than the limit is truncated and ends with `... [truncated]`; the remaining text is not read.
//! - Binary bodies, and text longer than the limit, are saved to files if the program [names a
//!   directory](HttpEngineBuilder::save_to). `details.saved` contains `path`, `media_type`, `bytes` and `sha256`.
//! - Without a response, the call is [`ToolError::Failed`](toolgen_kernel::ToolError::Failed) with the message
//!   `Error: HTTP request failed: {host}:{port}: …` and the code `http_error`, or `read_error` if the body was
//!   interrupted.
//!
//! # Allowed hosts
//!
//! Requests may go to public addresses, and to private addresses of hosts that the program
//! [allows](HttpEngineBuilder::private_host), if the calling context
//! [allows](toolgen_kernel::ToolContext::allowed_hosts) the host as well. Both are checked for the first URL, whether
//! it comes from the document or is a base URL, for every redirect, and for fetched documents. A connection uses only
//! an address that was checked. A blocked host results in [`ToolError::Denied`](toolgen_kernel::ToolError::Denied),
//! and nothing is sent to it.
//!
//! # Credentials
//!
//! Credentials are sent only to the origin of the plan's server or of the operator's base URL; redirects do not
//! change that. They are masked as `****` in every text, header and `Debug` output of this crate, even if the service
//! echoes them. [`OAuth`] requests tokens for the engine.
//!
//! # Retries and pagination
//!
//! A request is retried if its tool declares that a second request has no further effect; see [`RetryPolicy`]. A
//! paginated list is read as [`PagedItems`], or as one result if the tool lets a model request this.

mod address;
mod body;
mod build;
mod builder;
mod call_error;
mod charset;
mod credentials;
mod delimiters;
mod derived_arguments;
mod encode;
mod engine;
mod env;
mod failure;
mod fetch;
mod filename;
mod files;
mod guard;
mod html;
mod inner;
mod items;
mod oauth;
mod pages;
mod raw_request;
mod request;
mod response;
mod response_text;
mod retry;
mod save;
mod secret;
mod sender;
mod sequence;
mod style;
mod tls;
mod tool;
mod transport;
#[cfg(feature = "typed")]
mod typed;
mod url;
mod xml;

pub use build::build;
pub use builder::{
    DEFAULT_MAX_MEDIA_BYTES, DEFAULT_MAX_TEXT_BYTES, DEFAULT_MAX_TYPED_BYTES, HttpEngineBuilder,
};
pub use call_error::CallError;
pub use credentials::{
    CredentialRequest, Credentials, MissingCredential, MissingCredentials, NoCredentials, StaticCredentials,
    authorize,
};
#[doc(hidden)]
pub use encode::escape_uri;
pub use engine::{BlockedHost, EngineError, HttpEngine};
pub use env::EnvCredentials;
#[doc(hidden)]
pub use env::secret_from_env;
pub use fetch::{DEFAULT_MAX_DOCUMENT_BYTES, Fetch, FetchError, FetchErrorKind, Fetched};
pub use files::{
    DEFAULT_MAX_FILE_BYTES, DEFAULT_MAX_SAVED_BYTES, Files, FilesRoot, NewFile, NoFiles, SavedFile,
};
pub use guard::Resolver;
#[doc(hidden)]
pub use html::page as page_text;
pub use items::{PageLimits, PagedItems};
pub use oauth::OAuth;
#[doc(hidden)]
pub use raw_request::{SendFailure, reaches};
pub use request::{Body, BuildOptions, HttpRequest, RequestProblem, RequestProblemKind};
#[doc(hidden)]
pub use reqwest::Response as HttpResponse;
pub use retry::RetryPolicy;
#[doc(hidden)]
pub use retry::{RetryReason, RetryState};
pub use secret::Secret;
#[doc(hidden)]
pub use transport::Redirects;
#[cfg(feature = "typed")]
pub use typed::TypedResponse;
