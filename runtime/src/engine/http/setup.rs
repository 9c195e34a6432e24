//! Builds engines and their clients, and reports what is wrong with the settings of those.

use std::fmt;
use std::sync::Arc;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use toolgen_core::internal::hosts;

use super::engine::HttpEngine;
use super::guard::{Guard, opened_by};
use super::settings::HttpEngineBuilder;
use super::tls::{self, Identity};
use super::transport::Clients;
use super::url;

/// Why an engine could not be built, such as unusable TLS or an unusable system proxy.
pub struct EngineError(Box<dyn std::error::Error + Send + Sync>);

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the HTTP client cannot be set up: {}", self.0)
    }
}

toolgen_core::__readable_debug!(EngineError);

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

impl HttpEngineBuilder {
    /// Builds the engine, with its own client.
    ///
    /// Its TLS uses the cryptography that the program installed for the whole process
    /// (`rustls::crypto::CryptoProvider::install_default`), or else `ring`; it installs nothing.
    ///
    /// # Errors
    ///
    /// If TLS or the system's proxy is unusable, or a certificate, its key, the `User-Agent`, a URL, a host or a header is
    /// invalid.
    pub fn build(self) -> Result<HttpEngine, EngineError> {
        self.check().map_err(|why| EngineError(why.into()))?;
        let urls = self.base_url.0.iter().chain(&self.document_url);
        let opened = urls.filter_map(|url| opened_by(url)).chain(self.private_hosts.iter().cloned());
        let guard = Guard::new(opened, Arc::clone(&self.resolver), self.remedy);
        let usual = self.client(&guard, None)?;
        let identified = match &self.identity {
            Some(identity) => self.client(&guard, Some(identity))?,
            None => usual.clone(),
        };
        Ok(HttpEngine::new(Clients { usual, identified }, guard, self))
    }

    /// Checks what would fail, or have no effect, only when a request is sent. URLs and values are not repeated: they may
    /// hold credentials.
    fn check(&self) -> Result<(), String> {
        if let Some(base) = &self.base_url.0 {
            url::configured(base, "base_url")?;
            url::anonymous(base).map_err(|why| format!("`base_url`: {why}"))?;
        }
        for (scheme, oauth) in &self.oauth {
            let told = |why| format!("the token URL of `{scheme}`: {why}");
            url::configured(oauth.url(), "OAuth").map_err(told)?;
        }
        for host in &self.private_hosts {
            if let Some(why) = hosts::wrong(host) {
                return Err(format!("`private_host`: {why}"));
            }
        }
        for (name, value) in &self.headers.0 {
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                return Err(format!("`header`: {name:?} is not the name of a header"));
            }
            if HeaderValue::from_str(value).is_err() {
                return Err(format!(
                    "`header`: the value of `{name}` holds a line break or another control character"
                ));
            }
        }
        self.credentials.problem().map_or(Ok(()), Err)
    }

    fn client(&self, guard: &Guard, identity: Option<&Identity>) -> Result<Client, EngineError> {
        let client = Client::builder().redirect(Policy::none()).user_agent(self.user_agent.as_str());
        let tls =
            tls::config(&self.root_certificates, identity).map_err(|error| EngineError(error.into()))?;
        let client = client.tls_backend_preconfigured(tls);
        let client = if self.system_proxy { client } else { client.no_proxy() };
        let client = self.connect_timeout.into_iter().fold(client, ClientBuilder::connect_timeout);
        #[cfg(test)]
        let client = match &self.diverted {
            Some(diverted) => diverted.set(client, guard),
            None => client.dns_resolver(guard.clone()),
        };
        #[cfg(not(test))]
        let client = client.dns_resolver(guard.clone());
        client.build().map_err(|error| EngineError(error.into()))
    }
}
