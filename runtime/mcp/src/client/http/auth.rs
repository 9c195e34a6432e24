//! Credentials of a server over HTTP: headers and tokens from environment variables, and token sources.

use std::fmt;
use std::sync::Arc;

use toolgen_core::internal::printable::is_token;
use toolgen_http::{HttpEngine, Secret, secret_from_env};
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::spec::plan::{McpServer, McpTransport};

use crate::client::error::UNSET_VARIABLE;

/// Source of the tokens for an MCP server over HTTP, such as OAuth tokens.
pub trait TokenSource: fmt::Debug + Send + Sync {
    /// Returns the token for the next request; `None` to send no token. The client calls this before every
    /// request, so implementations cache the token, and again if the server rejects the token.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no token, and what to do. The request is not sent.
    fn token<'a>(&'a self, request: &'a McpTokenRequest) -> BoxFuture<'a, Result<Option<Secret>, String>>;
}

/// A request for a token.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpTokenRequest {
    /// The alias of the server.
    pub server: Text,
    /// The URL of the server.
    pub url: Text,
    /// The token that the server has just rejected: another one is needed.
    pub refused: Option<Secret>,
    /// The header `WWW-Authenticate` of the server's last rejection, which may be empty. `None` if the server has not
    /// rejected a request.
    pub challenge: Option<Text>,
    /// The HTTP client for this server, with its allowed hosts.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "for sources that send requests"))]
    pub(super) client: HttpEngine,
}

/// Whether a server accepts the token but requires more scopes (RFC 6750, section 3.1).
pub(super) fn needs_more_scopes(challenge: &str) -> bool {
    challenge.contains("insufficient_scope")
}

/// Headers of the transport, which headers of the program cannot replace.
const RESERVED_HEADERS: [&str; 9] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "te",
    "transfer-encoding",
];

/// Reads the headers of every request from the environment variables that hold their values.
pub(super) fn headers(variables: &List<(Text, Text)>) -> Result<Vec<(String, Secret)>, String> {
    let header = |(name, variable): &(Text, Text)| {
        let lower = name.as_str().to_ascii_lowercase();
        if !is_token(&lower) {
            return Err(format!("`{name}` is not the name of a header"));
        }
        if RESERVED_HEADERS.contains(&lower.as_str()) || lower.starts_with("mcp-") {
            return Err(format!("the header `{name}` is set by the client itself; remove it"));
        }
        Ok((name.to_string(), read_variable(variable, &format!("the header `{name}`"))?))
    };
    variables.iter().map(header).collect()
}

fn read_variable(variable: &Text, purpose: &str) -> Result<Secret, String> {
    secret_from_env(variable)
        .ok_or_else(|| format!("the environment variable {variable}{UNSET_VARIABLE}{purpose} of the server"))
}

/// Returns the values of the variables that hold credentials.
pub(in crate::client) fn credentials(headers: &List<(Text, Text)>, bearer: &Text) -> Secrets {
    let mut credentials = Secrets::default();
    let variables = headers.iter().map(|(_, variable)| variable).chain([bearer]);
    for secret in variables.filter_map(|variable| secret_from_env(variable)) {
        credentials.collect(&secret.expose().into(), 1);
    }
    credentials
}

/// Source of a request's token.
#[derive(Debug)]
pub(super) enum Auth {
    /// No token.
    None,
    /// No token, but headers from environment variables.
    Headers(List<(Text, Text)>),
    /// The token from this environment variable.
    Variable(Text, Secret),
    /// This token source, for this server.
    Source(Arc<dyn TokenSource>, McpTokenRequest),
}

impl Auth {
    pub(super) fn of(
        server: &McpServer,
        bearer: &Text,
        sources: &[(Text, Arc<dyn TokenSource>)],
        client: &HttpEngine,
    ) -> Result<Auth, String> {
        let McpTransport::Http { url, headers, .. } = &server.transport else { return Ok(Auth::None) };
        // The program's last source takes precedence, also over a document.
        if let Some((_, source)) = sources.iter().rev().find(|(alias, _)| *alias == server.alias) {
            let (server, url) = (server.alias.clone(), url.clone());
            let client = client.clone();
            let request = McpTokenRequest { server, url, refused: None, challenge: None, client };
            return Ok(Auth::Source(Arc::clone(source), request));
        }
        if bearer.is_empty() {
            return Ok(if headers.is_empty() { Auth::None } else { Auth::Headers(headers.clone()) });
        }
        Ok(Auth::Variable(bearer.clone(), read_variable(bearer, "the bearer token")?))
    }

    /// Returns a token for the next request that differs from the rejected one.
    pub(super) async fn token(
        &self,
        refused: Option<(Option<Secret>, String)>,
    ) -> Result<Option<Secret>, String> {
        match self {
            Auth::None | Auth::Headers(_) => Ok(None),
            Auth::Variable(_, token) => Ok(Some(token.clone())),
            Auth::Source(source, request) => {
                let mut request = request.clone();
                if let Some((refused, challenge)) = refused {
                    (request.refused, request.challenge) = (refused, Some(challenge.into()));
                }
                source.token(&request).await
            }
        }
    }

    /// Whether another token can be obtained.
    pub(super) fn can_refresh(&self) -> bool {
        matches!(self, Auth::Source(..))
    }

    /// Returns the help for a server that rejects the credentials.
    pub(super) fn help(&self) -> String {
        match self {
            Auth::None => {
                "Name the environment variable with its token (`bearer`), or give the client a source of \
                           tokens: `McpOptions::tokens`"
                    .to_owned()
            }
            Auth::Headers(headers) => {
                let entries = headers.iter().map(|(name, variable)| format!("{variable} (`{name}`)"));
                let variables: Vec<String> = entries.collect();
                format!("Put what it accepts into {}", variables.join(" and "))
            }
            Auth::Variable(variable, _) => format!("Put a token that it accepts into {variable}"),
            Auth::Source(..) => "It rejected the token of its source, and the next one".to_owned(),
        }
    }
}
