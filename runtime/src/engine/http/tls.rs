//! TLS of the engine's client: its cryptography and its trusted certificates.
//!
//! The configuration belongs to the client alone. Nothing is installed for the whole process, where another library or
//! the program itself may have made another choice.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, Error};
use rustls_platform_verifier::Verifier;

/// Returns the configuration of a client that trusts the system's certificates and these, each as PEM text.
pub(super) fn config(roots: &[Vec<u8>]) -> Result<ClientConfig, Error> {
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(ring::default_provider()));
    let verifier = verifier(certificates(roots)?, provider.clone())?;
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Reads the certificates of some PEM texts. A text without any is an error: often a path was meant.
fn certificates(texts: &[Vec<u8>]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let mut certificates = Vec::new();
    for text in texts {
        let before = certificates.len();
        for certificate in CertificateDer::pem_slice_iter(text) {
            certificates
                .push(certificate.map_err(|error| Error::General(format!("root certificates: {error}")))?);
        }
        if certificates.len() == before {
            return Err(Error::General("root certificates: no certificate in the PEM text".to_owned()));
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
