//! Credentials of a server: headers and tokens from environment variables, and sources of tokens.

use std::fmt;
use std::sync::Arc;

use toolgen_core::internal::printable::is_token;
use toolgen_http::{HttpEngine, Secret, of_environment};
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::spec::plan::{McpServer, McpTransport};

use crate::client::error::UNSET;

/// Gives the tokens that an MCP server over HTTP wants, such as those of OAuth.
pub trait TokenSource: fmt::Debug + Send + Sync {
    /// Returns the token for the next request; `None` to send it without one. It is asked before every request, so it
    /// keeps what it has, and once more if the server refuses the token.
    ///
    /// # Errors
    ///
    /// Why there is no token, and what to do about it. The request is not sent.
    fn token<'a>(&'a self, wanted: &'a McpTokenRequest) -> BoxFuture<'a, Result<Option<Secret>, String>>;
}

/// A request for a token.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpTokenRequest {
    /// The alias of the server.
    pub server: Text,
    /// The URL of the server.
    pub url: Text,
    /// The token that the server has just refused: another one is wanted.
    pub refused: Option<Secret>,
    /// What the server asked for when it refused the last request: the header `WWW-Authenticate`, which may be empty.
    /// `None` if it has not refused one.
    pub challenge: Option<Text>,
    /// The client of the server, with the hosts that it may reach.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "for sources that send requests"))]
    pub(super) client: HttpEngine,
}

/// Whether a server accepts the token but wants one that allows more (RFC 6750, section 3.1).
pub(super) fn wants_more(challenge: &str) -> bool {
    challenge.contains("insufficient_scope")
}

/// Headers of the transport itself: those of the program cannot take their place.
const RESERVED: [&str; 9] = [
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
pub(super) fn headers(named: &List<(Text, Text)>) -> Result<Vec<(String, Secret)>, String> {
    let header = |(name, variable): &(Text, Text)| {
        let lower = name.as_str().to_ascii_lowercase();
        if !is_token(&lower) {
            return Err(format!("`{name}` is not the name of a header"));
        }
        if RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-") {
            return Err(format!("the header `{name}` is set by the client itself; remove it"));
        }
        Ok((name.to_string(), variable_for(variable, &format!("the header `{name}`"))?))
    };
    named.iter().map(header).collect()
}

fn variable_for(variable: &Text, what: &str) -> Result<Secret, String> {
    of_environment(variable)
        .ok_or_else(|| format!("the environment variable {variable}{UNSET}{what} of the server"))
}

/// Returns the values of the variables that hold credentials.
pub(in crate::client) fn credentials(headers: &List<(Text, Text)>, bearer: &Text) -> Secrets {
    let mut credentials = Secrets::default();
    let variables = headers.iter().map(|(_, variable)| variable).chain([bearer]);
    for secret in variables.filter_map(|variable| of_environment(variable)) {
        credentials.collect(&secret.expose().into(), 1);
    }
    credentials
}

/// Where the token of each request comes from.
#[derive(Debug)]
pub(super) enum Auth {
    /// No token is sent.
    None,
    /// No token is sent, but headers, each from an environment variable.
    Headers(List<(Text, Text)>),
    /// It was in this environment variable.
    Variable(Text, Secret),
    /// It comes from this source, for this server.
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
        // What the program says last counts, and more than a document.
        if let Some((_, source)) = sources.iter().rev().find(|(alias, _)| *alias == server.alias) {
            let (server, url) = (server.alias.clone(), url.clone());
            let client = client.clone();
            let wanted = McpTokenRequest { server, url, refused: None, challenge: None, client };
            return Ok(Auth::Source(Arc::clone(source), wanted));
        }
        if bearer.is_empty() {
            return Ok(if headers.is_empty() { Auth::None } else { Auth::Headers(headers.clone()) });
        }
        Ok(Auth::Variable(bearer.clone(), variable_for(bearer, "the bearer token")?))
    }

    /// Returns the token of the next request, other than the one that was refused.
    pub(super) async fn token(
        &self,
        refused: Option<(Option<Secret>, String)>,
    ) -> Result<Option<Secret>, String> {
        match self {
            Auth::None | Auth::Headers(_) => Ok(None),
            Auth::Variable(_, token) => Ok(Some(token.clone())),
            Auth::Source(source, wanted) => {
                let mut wanted = wanted.clone();
                if let Some((refused, challenge)) = refused {
                    (wanted.refused, wanted.challenge) = (refused, Some(challenge.into()));
                }
                source.token(&wanted).await
            }
        }
    }

    /// Whether another token can be obtained.
    pub(super) fn can_refresh(&self) -> bool {
        matches!(self, Auth::Source(..))
    }

    /// Says what to do when the server refuses the credentials.
    pub(super) fn remedy(&self) -> String {
        match self {
            Auth::None => {
                "Name the environment variable with its token (`bearer`), or give the client a source of \
                           tokens: `McpOptions::tokens`"
                    .to_owned()
            }
            Auth::Headers(headers) => {
                let by_name = headers.iter().map(|(name, variable)| format!("{variable} (`{name}`)"));
                let named: Vec<String> = by_name.collect();
                format!("Put what it accepts into {}", named.join(" and "))
            }
            Auth::Variable(variable, _) => format!("Put a token that it accepts into {variable}"),
            Auth::Source(..) => "It refused the token of its source, and the one after".to_owned(),
        }
    }
}
