//! Tools that are HTTP requests.
//!
//! [`build`] turns a [`RequestPlan`](crate::plan::RequestPlan) and arguments into an [`HttpRequest`] and is pure;
//! [`authorize`] adds credentials.

mod body;
mod credentials;
mod encode;
mod files;
mod multipart;
mod request;
mod secret;
mod style;
mod url;

pub use credentials::{
    CredentialRequest, Credentials, EnvCredentials, MissingCredential, NoCredentials, Secret,
    StaticCredentials, authorize,
};
pub use files::{Files, FilesRoot, MAX_FILE, NoFiles};
pub use request::{Body, BuildOptions, HttpRequest, RequestProblem, RequestProblemKind, build};
