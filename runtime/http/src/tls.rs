//! TLS of the engine's client: the cryptography, the trusted certificates, and the client certificate.
//!
//! The configuration applies to this client only. Nothing is installed for the whole process, because another library
//! or the program may have installed something else.

use std::fmt;

use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, Error};
use toolgen_kernel::base::tls::{certificates, trusting};

/// The identity of a client: its certificate with its chain, and its key, as PEM text.
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
    let config = trusting(roots)?;
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(Identity { certificates: chain, key }) => {
            let chain = certificates("client certificate", std::slice::from_ref(chain))?;
            let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
                Error::General(format!("client key: {error}; pass PEM text with one key"))
            })?;
            config
                .with_client_auth_cert(chain, key)
                .map_err(|error| Error::General(format!("client certificate and key: {error}")))?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
