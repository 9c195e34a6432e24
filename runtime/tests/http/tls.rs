//! Tests of the HTTP engine with a server that has a self-signed certificate.

use std::error::Error;

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use toolgen_runtime::ToolResponse;
use toolgen_runtime::toolbox::ToolboxContext;

use crate::prelude::*;
use crate::server::{call as call_it, engine, plan, secured, tool, turn};

/// A self-signed certificate for these names.
fn certificate(names: &[&str]) -> CertifiedKey<KeyPair> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    generate_simple_self_signed(names).unwrap()
}

/// Starts a server that presents this certificate and returns `sealed` for every request. Returns its URL.
async fn start(certificate: &CertifiedKey<KeyPair>) -> String {
    start_for(certificate, None).await
}

/// Like [`start`], but accepts only clients with this certificate.
async fn start_for(certificate: &CertifiedKey<KeyPair>, client: Option<&CertifiedKey<KeyPair>>) -> String {
    let key = PrivateKeyDer::Pkcs8(certificate.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = match client {
        None => config.with_no_client_auth(),
        Some(client) => {
            let mut roots = RootCertStore::empty();
            roots.add(client.cert.der().clone()).unwrap();
            let provider = Arc::new(ring::default_provider());
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            config.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let mut config = config.with_single_cert(vec![certificate.cert.der().clone()], key).unwrap();
    // Like most servers, it offers both protocols; the engine uses HTTP/1.1.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // A client that does not trust the certificate aborts the handshake.
            let Ok(mut socket) = acceptor.accept(socket).await else { continue };
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n")
                && socket.read_buf(&mut request).await.is_ok_and(|read| read > 0)
            {}
            let response = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nsealed";
            if request.is_empty() || socket.write_all(response).await.is_err() {
                continue;
            }
            let _ = socket.shutdown().await;
        }
    });
    url
}

/// Calls the server, and trusts these root certificates in addition to those of the system.
async fn call(url: &str, roots: &[String]) -> ToolResponse {
    let engine = roots
        .iter()
        .fold(engine().private_host("localhost"), |engine, pem| engine.root_certificates(pem.as_str()));
    let registry = Registry::new(engine.build().unwrap().tools_from([tool(plan("GET", url, "/"))])).unwrap();
    let toolbox = registry.toolbox(ToolboxContext::new());
    toolbox.run(ToolCall::new("1", "t", json!({})), &turn()).await
}

#[tokio::test]
async fn server_is_trusted_through_the_given_root() {
    let own = certificate(&["localhost"]);
    let url = start(&own).await;
    let response = call(&url, &[own.cert.pem()]).await;
    assert_eq!(response.text(), format!("GET {url}/ → 200\n\nsealed"));
    // Several certificates in one text, and several texts.
    let other = certificate(&["other.example"]).cert.pem();
    let response = call(&url, &[other.clone() + &own.cert.pem()]).await;
    assert!(!response.is_error(), "{}", response.text());
    let response = call(&url, &[other, own.cert.pem()]).await;
    assert!(!response.is_error(), "{}", response.text());
}

#[tokio::test]
async fn server_is_rejected_without_its_root() {
    let own = certificate(&["localhost"]);
    let url = start(&own).await;
    // Another certificate with the same name does not help.
    for roots in [vec![], vec![certificate(&["localhost"]).cert.pem()]] {
        let response = call(&url, &roots).await;
        assert!(response.is_error(), "{}", response.text());
        assert!(response.text().starts_with("Error: HTTP request failed: "), "{}", response.text());
        assert!(response.text().contains("invalid peer certificate"), "{}", response.text());
    }
}

#[tokio::test]
async fn certificate_of_another_name_is_rejected() {
    let own = certificate(&["other.example"]);
    let url = start(&own).await;
    let response = call(&url, &[own.cert.pem()]).await;
    assert!(response.is_error(), "{}", response.text());
    assert!(response.text().contains("not valid for name"), "{}", response.text());
}

#[test]
fn invalid_root_certificate_is_rejected_by_build() {
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for text in ["/etc/ssl/certs/own.pem", "", broken] {
        let error = engine().root_certificates(text).build().unwrap_err();
        assert!(error.to_string().starts_with("the HTTP client cannot be set up: "), "{error}");
        assert!(error.source().is_some());
    }
}

#[tokio::test]
async fn engine_installs_no_process_default() {
    engine().build().unwrap();
    assert!(CryptoProvider::get_default().is_none());
}

#[tokio::test]
async fn client_certificate_is_sent_on_request() {
    let (own, client) = (certificate(&["localhost"]), certificate(&["the program"]));
    let url = start_for(&own, Some(&client)).await;
    let trusting = || engine().private_host("localhost").root_certificates(own.cert.pem());
    let wanted = |url: &str| secured(plan("GET", url, "/"), Placement::MutualTls);
    let with = trusting().client_certificate(client.cert.pem(), client.signing_key.serialize_pem());
    let displayed = format!("{with:?}");
    assert!(displayed.contains("identity: Some(****)"), "{displayed}");
    let result = call_it(with, wanted(&url), json!({})).await.unwrap();
    assert_eq!(result.to_text(), format!("GET {url}/ → 200\n\nsealed"));
    // Without the certificate, the call reports what is missing, or fails if the document does not declare that it is
    // required.
    let missing = call_it(trusting(), wanted(&url), json!({})).await.unwrap_err();
    assert!(
        missing.operator_text().contains("`HttpEngineBuilder::client_certificate`"),
        "{}",
        missing.operator_text()
    );
    let failed = call_it(trusting(), plan("GET", &url, "/"), json!({})).await.unwrap_err();
    assert!(failed.to_string().starts_with("Error: HTTP request failed: "), "{failed}");
    // A certificate that the server does not know does not help.
    let other = certificate(&["somebody"]);
    let with = trusting().client_certificate(other.cert.pem(), other.signing_key.serialize_pem());
    call_it(with, wanted(&url), json!({})).await.unwrap_err();
}

#[tokio::test]
async fn client_certificate_is_not_sent_to_another_origin() {
    let (own, client) = (certificate(&["localhost"]), certificate(&["the program"]));
    let url = start_for(&own, Some(&client)).await;
    let to = format!("Location: {url}/\r\n");
    let first = Server::start(move |_| reply(302, &to, b""));
    let engine = engine().private_host("localhost").root_certificates(own.cert.pem());
    let with = engine.client_certificate(client.cert.pem(), client.signing_key.serialize_pem());
    let failed = call_it(with, plan("GET", &first.url, "/"), json!({})).await.unwrap_err();
    assert!(failed.to_string().starts_with("Error: HTTP request failed: "), "{failed}");
}

#[test]
fn invalid_client_certificate_or_key_is_rejected_by_build() {
    let (one, other) = (certificate(&["a"]), certificate(&["b"]));
    let (pem, key) = (one.cert.pem(), one.signing_key.serialize_pem());
    for (pem, key, message) in [
        ("cert.pem".to_owned(), key, "client certificate: no certificate in the PEM text"),
        (pem.clone(), "key.pem".to_owned(), "client key: "),
        (pem, other.signing_key.serialize_pem(), "client certificate and key: "),
    ] {
        let error = engine().client_certificate(pem, key).build().unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}
