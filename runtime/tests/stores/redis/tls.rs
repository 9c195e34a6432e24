//! A server with a certificate of its own.

use rcgen::generate_simple_self_signed;

use crate::prelude::*;
use crate::redis::builder;
use crate::redis::server::Server;

#[tokio::test]
async fn a_server_is_trusted_for_its_certificate_only() {
    let own = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (own.cert.pem(), own.signing_key.serialize_pem());
    let options = |folder: &Path| {
        let file = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).unwrap();
            folder.join(name).to_str().unwrap().to_owned()
        };
        let (certificate, key) = (file("certificate.pem", &certificate), file("key.pem", &key));
        let options = ["--tls-port", "PORT", "--tls-auth-clients", "no", "--tls-cert-file", &certificate];
        options.into_iter().chain(["--tls-key-file", &key]).map(str::to_owned).collect()
    };
    let Some(server) = Server::start_with(options) else { return };
    let url = format!("rediss://127.0.0.1:{}", server.port());
    let why = builder(&url).build().unwrap().ping().await.unwrap_err().to_string();
    assert!(why.contains("certificate"), "{why}");
    let trusting = builder(&url).root_certificate(certificate.as_str()).build().unwrap();
    assert_eq!(trusting.ping().await, Ok(()));
    // No plain text where TLS was asked for, and the other way round.
    let plain = RedisState::builder(server.url(), "tests").build().unwrap();
    assert!(plain.ping().await.is_err());
    let why = builder(&url).root_certificate("no certificate").build().unwrap_err().to_string();
    assert!(why.contains("no certificate in the PEM text"), "{why}");
}
