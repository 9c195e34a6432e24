//! TLS of clients: trusted certificates and the cryptography provider.

use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ConfigBuilder, Error};
use rustls_platform_verifier::Verifier;

/// Returns a configuration builder that trusts the system's certificates and `roots`, each in PEM text.
///
/// Uses the cryptography provider that is installed for the process, otherwise `ring`. Installs no provider.
pub fn trusting(roots: &[Vec<u8>]) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, Error> {
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(ring::default_provider()));
    let verifier = verifier(certificates("root certificates", roots)?, provider.clone())?;
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.dangerous().with_custom_certificate_verifier(Arc::new(verifier)))
}

/// Parses the certificates of PEM texts. A text without a certificate is an error: it is usually a path.
pub fn certificates(label: &str, texts: &[Vec<u8>]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let mut certificates = Vec::new();
    for text in texts {
        let count = certificates.len();
        for certificate in CertificateDer::pem_slice_iter(text) {
            certificates.push(certificate.map_err(|error| Error::General(format!("{label}: {error}")))?);
        }
        if certificates.len() == count {
            return Err(Error::General(format!("{label}: no certificate in the PEM text")));
        }
    }
    Ok(certificates)
}

#[cfg(not(target_os = "android"))]
fn verifier(roots: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Verifier, Error> {
    Verifier::new_with_extra_roots(roots, provider)
}

/// Creates the certificate verifier. On Android it accepts no additional certificates.
#[cfg(target_os = "android")]
fn verifier(roots: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Verifier, Error> {
    if roots.is_empty() {
        return Verifier::new(provider);
    }
    Err(Error::General("root certificates: Android trusts those of the system only".to_owned()))
}
