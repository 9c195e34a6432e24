//! TLS of the engine's client: its cryptography, its trusted certificates and its own.
//!
//! The configuration belongs to the client alone. Nothing is installed for the whole process, where another library or
//! the program itself may have made another choice.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, Error};
use rustls_platform_verifier::Verifier;

/// What a client proves who it is with: its certificate with those that vouch for it, and its key, as PEM texts.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) certificates: Vec<u8>,
    pub(super) key: Vec<u8>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

/// Returns the configuration of a client that trusts the system's certificates and these, each as PEM text.
pub(super) fn config(roots: &[Vec<u8>], identity: Option<&Identity>) -> Result<ClientConfig, Error> {
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(ring::default_provider()));
    let verifier = verifier(certificates("root certificates", roots)?, provider.clone())?;
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(Identity { certificates: own, key }) => {
            let own = certificates("client certificate", std::slice::from_ref(own))?;
            let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
                Error::General(format!("client key: {error}; give a PEM text with one key"))
            })?;
            config
                .with_client_auth_cert(own, key)
                .map_err(|error| Error::General(format!("client certificate and key: {error}")))?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Reads the certificates of some PEM texts. A text without any is an error: often a path was meant.
fn certificates(what: &str, texts: &[Vec<u8>]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let mut certificates = Vec::new();
    for text in texts {
        let before = certificates.len();
        for certificate in CertificateDer::pem_slice_iter(text) {
            certificates.push(certificate.map_err(|error| Error::General(format!("{what}: {error}")))?);
        }
        if certificates.len() == before {
            return Err(Error::General(format!("{what}: no certificate in the PEM text")));
        }
    }
    Ok(certificates)
}

#[cfg(not(target_os = "android"))]
fn verifier(roots: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Verifier, Error> {
    Verifier::new_with_extra_roots(roots, provider)
}

/// Android's own verifier accepts no further certificates.
#[cfg(target_os = "android")]
fn verifier(roots: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Verifier, Error> {
    if roots.is_empty() {
        return Verifier::new(provider);
    }
    Err(Error::General("root certificates: Android trusts those of the system only".to_owned()))
}
