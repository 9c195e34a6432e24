//! Requests that are not calls of HTTP tools: for documents, and for other engines, such as messages to MCP servers.
//!
//! They use the same client and the same guard as tool calls.

use reqwest::Url;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::Network;

use super::guard::Guard;
use super::request::{Body, HttpRequest};
use super::secret::{AppliedCredentials, Secret};
use super::{secret, transport};

/// Why a request has no response.
#[derive(Debug)]
#[doc(hidden)]
pub struct SendFailure {
    /// Whether the server may have received the request.
    #[doc(hidden)]
    pub written: bool,
    /// Whether another attempt may succeed: the connection failed or broke.
    #[doc(hidden)]
    pub retryable: bool,
    /// What went wrong, without credentials.
    #[doc(hidden)]
    pub why: String,
}

impl HttpRequest {
    /// Creates a request without a body. A secret header replaces a plain header of the same name.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL cannot be requested, or contains a user name or password.
    #[doc(hidden)]
    pub fn direct<'a>(
        method: &str,
        url: &str,
        plain_headers: Vec<(String, String)>,
        secret_headers: impl IntoIterator<Item = (&'a str, &'a Secret)>,
    ) -> Result<HttpRequest, String> {
        let url = Url::parse(url.trim()).map_err(|error| format!("this is not a URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("this is not an http or https URL".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the URL must not contain a user name or a password; send a header".to_owned());
        }
        let (mut credentials, mut headers) = (AppliedCredentials::default(), plain_headers);
        for secret in secret::secret_pairs(url.query().unwrap_or_default()) {
            credentials.hide(secret);
        }
        for (name, value) in secret_headers {
            credentials.hide(value.expose());
            headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
            headers.push((name.to_owned(), value.expose().to_owned()));
        }
        Ok(HttpRequest {
            method: method.to_owned(),
            url: url.to_string(),
            headers,
            body: Body::None,
            credentials,
        })
    }

    /// Redacts another string, such as the token within a header.
    #[doc(hidden)]
    pub fn hide(&mut self, text: &str) {
        self.credentials.hide(text);
    }

    /// Returns a text with the credentials of the request masked as `****`.
    #[doc(hidden)]
    pub fn redact(&self, text: &str) -> String {
        self.credentials.redact(text)
    }

    /// Describes a network failure without credentials.
    #[doc(hidden)]
    pub fn failure(&self, error: reqwest::Error) -> String {
        self.credentials.redact(&transport::describe(error))
    }
}

/// Checks that a call that is restricted to these hosts may access a URL. An invalid URL is not checked.
///
/// # Errors
///
/// Returns the denial, for the model.
#[doc(hidden)]
pub fn reaches(url: &str, allowed: &Network) -> Result<(), ToolError> {
    let Ok(url) = Url::parse(url.trim()) else { return Ok(()) };
    Ok(Guard::check_allowed(&url, allowed)?)
}
