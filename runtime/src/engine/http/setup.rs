//! Builds engines and their clients, and reports what is wrong with the settings of those.

use std::fmt;
use std::sync::Arc;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use super::engine::HttpEngine;
use super::guard::{Guard, opened_by};
use super::settings::HttpEngineBuilder;
use super::tls::{self, Identity};
use super::transport::Clients;

/// Why an engine could not be built, such as unusable TLS or an unusable system proxy.
#[derive(Debug)]
pub struct EngineError(Box<dyn std::error::Error + Send + Sync>);

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the HTTP client cannot be set up: {}", self.0)
    }
}

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
    /// If TLS or the system's proxy is unusable, or a certificate, its key or the `User-Agent` is invalid.
    pub fn build(self) -> Result<HttpEngine, EngineError> {
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
