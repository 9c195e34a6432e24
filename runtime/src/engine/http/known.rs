//! The credentials that an engine has: tokens that it got itself, its certificate, and those of the program's source.

use super::credentials::{CredentialRequest, Credentials, with_meant};
use super::oauth::OAuth;
use super::secret::Secret;
use super::settings::HttpEngineBuilder;
use crate::spec::plan::Placement;

/// The tokens of a call, by scheme.
pub(super) type Tokens = Vec<(String, Secret)>;

/// The placeholder for a token that is requested only when a request is sent.
const LATER: &str = "(a token by OAuth)";

/// The credentials of one call.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) settings: &'a HttpEngineBuilder,
    /// The tokens that were got for the call.
    pub(super) tokens: &'a Tokens,
}

impl HttpEngineBuilder {
    /// Returns the value of the header that the program sends with every request where a credential of this placement
    /// goes.
    pub(super) fn header_of(&self, placement: &Placement) -> Option<&str> {
        let name = placement.header()?;
        let found = self.headers.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// Returns the source of the tokens of a scheme, if the engine gets them itself.
    pub(super) fn oauth_of(&self, scheme: &str) -> Option<&OAuth> {
        self.oauth.iter().find(|(known, _)| known == scheme).map(|(_, oauth)| oauth)
    }
}

impl Credentials for Known<'_> {
    fn credential(&self, request: &CredentialRequest<'_>) -> Option<Secret> {
        if let Some(oauth) = self.settings.oauth_of(request.scheme) {
            let got = self.tokens.iter().find(|(scheme, _)| scheme == request.scheme);
            let got = got.map(|(_, token)| token.clone()).or_else(|| oauth.known());
            return Some(got.unwrap_or_else(|| Secret::new(LATER)));
        }
        match request.placement {
            Placement::MutualTls if self.settings.identity.is_some() => Some(Secret::new("")),
            _ => self.settings.credentials.credential(request),
        }
    }

    fn is_sent_otherwise(&self, request: &CredentialRequest<'_>) -> bool {
        self.settings.header_of(request.placement).is_some()
    }

    fn source(&self, request: &CredentialRequest<'_>) -> String {
        let settings = self.settings;
        match (settings.oauth_of(request.scheme), request.placement) {
            (Some(oauth), _) => format!("a token by OAuth from {}", oauth.shown_url()),
            (None, Placement::MutualTls) if settings.identity.is_some() => {
                "the client's certificate".to_owned()
            }
            (None, placement) => match placement.header().filter(|_| settings.header_of(placement).is_some())
            {
                Some(name) if settings.credentials.credential(request).is_none() => {
                    format!("the header `{name}` that the program sends with every request")
                }
                _ => settings.credentials.source(request),
            },
        }
    }

    fn remedy(&self, request: &CredentialRequest<'_>) -> String {
        if *request.placement == Placement::MutualTls {
            return "give the engine the client's certificate and key: `HttpEngineBuilder::client_certificate`, \
                    or `--client-cert` and `--client-key`"
                .to_owned();
        }
        let told = self.settings.credentials.remedy(request);
        with_meant(told, request.scheme, self.settings.oauth.iter().map(|(scheme, _)| scheme.as_str()))
    }
}
