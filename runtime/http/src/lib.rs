//! Tools that are HTTP requests.
//!
//! [`build`] turns a [`RequestPlan`](toolgen_kernel::spec::plan::RequestPlan) and arguments into an [`HttpRequest`] and is
//! pure; [`authorize`] adds credentials. [`HttpEngine`] does both, sends the request and turns the response into a
//! result.
//!
//! # The result of a call
//!
//! - A response of any status is a result: `{METHOD} {url} → {status}` and, if it has a body, an empty line and the
//!   body. Where redirects were followed, the first line is `{METHOD} {url} → {final url} → {status}`. A JSON body
//!   comes without the blanks between its tokens. `details.ok` says whether it succeeded; `details` hold `status`,
//!   `method`, `url`, `ok`, `headers`, `truncated` and `content_type`.
//! - The first line of a success is followed by `Location` and the headers that the plan names, one per line, if the
//!   answer has them and they hold no credential.
//! - A response with status 400 or above is a result that [failed](toolgen_kernel::ToolResult::is_error), unless the tool
//!   [accepts](HttpEngineBuilder::accept_status) the status; so is a redirect that was not followed.
//! - A line after those says if a body is not the JSON that it claims to be, or ends early. Of an HTML page that is
//!   not a success, a model gets the text that its readers see, at most 2000 characters.
//! - A text longer than the limit is cut off and ends with `... [truncated]`; the rest is not even read.
//! - Bytes, and texts that are longer than the limit, are written to files if the program [says where](HttpEngineBuilder::save_to);
//!   `details.saved` says `path`, `media_type`, `bytes` and `sha256`.
//! - Without a response the call is [`ToolError::Failed`](toolgen_kernel::ToolError::Failed) with `Error: HTTP request failed:
//!   {host}:{port}: …` and the code `http_error`, or `read_error` if the body broke off.
//!
//! # Which hosts are reached
//!
//! Requests reach public addresses, and private ones at hosts that the program
//! [opens](HttpEngineBuilder::private_host), as far as the calling context [allows](toolgen_kernel::ToolContext::allowed_hosts)
//! those hosts. Both are checked for the first URL, whether it comes from the document or from a base URL, for every
//! redirect and for fetched documents, and a connection goes to an address that was checked. A refused host is
//! [`ToolError::Denied`](toolgen_kernel::ToolError::Denied), and nothing is sent to it.
//!
//! # Credentials
//!
//! They go to the origin of the plan's server or of the operator's base URL and nowhere else, not even across
//! redirects. They show as `****` in every text, header and `Debug` output that leaves this module, even if the
//! service sends them back. [`OAuth`] gets tokens, if the engine is to get them itself.
//!
//! # Repetitions and pages
//!
//! A request is repeated if its tool declares that a second one changes nothing more; see [`RetryPolicy`]. A list that
//! comes in pages is read as [`PagedItems`], or as one result if the tool lets a model ask for that.

mod address;
mod body;
mod build;
mod builder;
mod call_error;
mod charset;
mod credentials;
mod derived_arguments;
mod encode;
mod engine;
mod env;
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
mod refusal;
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
mod torn;
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
pub use engine::{BlockedHost, EngineError, HttpEngine};
pub use env::EnvCredentials;
#[doc(hidden)]
pub use env::of_environment;
pub use fetch::{DEFAULT_MAX_DOCUMENT_BYTES, Fetch, FetchError, FetchErrorKind, Fetched};
pub use files::{
    DEFAULT_MAX_FILE_BYTES, DEFAULT_MAX_SAVED_BYTES, Files, FilesRoot, NewFile, NoFiles, SavedFile,
};
pub use guard::Resolver;
pub use items::{PageLimits, PagedItems};
pub use oauth::OAuth;
#[doc(hidden)]
pub use raw_request::{SendFailure, reaches};
pub use request::{Body, BuildOptions, HttpRequest, RequestProblem, RequestProblemKind};
pub use retry::RetryPolicy;
pub use secret::Secret;
#[doc(hidden)]
pub use transport::Redirects;
#[cfg(feature = "typed")]
pub use typed::TypedResponse;
