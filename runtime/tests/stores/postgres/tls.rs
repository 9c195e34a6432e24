//! Tests of TLS to a server, and of its verification.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::{call, durable, server, welcome};
use crate::prelude::*;

/// Creates a certificate authority, its certificate for `localhost`, and the key.
fn certificates() -> [String; 3] {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let own =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    [authority.pem(), own.pem(), key.serialize_pem()]
}

#[tokio::test]
async fn tls_requires_a_certificate_valid_for_the_host() {
    let Some(server) = server::Server::start(&["fsync=off"]) else { return };
    let [authority, own, key] = certificates();
    let (own, key) = (server.write("own.pem", &own), server.write("own.key", &key));
    let authority = server.write("authority.pem", &authority);
    let other = server.write("other.pem", &certificates()[0]);
    let encoded = |path: &Path| path.display().to_string().replace('/', "%2F");
    let (root, other) = (encoded(&authority), encoded(&other));
    let url = server.database("secret").replace("127.0.0.1", "localhost");
    let with = |options: &str| format!("{url}?{options}");

    // A server without TLS, although TLS is required: nothing is sent.
    let reason = PostgresSink::open(&with("sslmode=require")).unwrap_err().to_string();
    assert!(reason.contains("server does not support TLS"), "{reason}");

    server.stop(server::End::Fast);
    let files = format!("ssl=on\nssl_cert_file='{}'\nssl_key_file='{}'\n", own.display(), key.display());
    let settings = server.data().join("postgresql.conf");
    fs::write(&settings, fs::read_to_string(&settings).unwrap() + &files).unwrap();
    server.run();
    let auditor =
        durable(PostgresSink::open(&with(&format!("sslmode=verify-full&sslrootcert={root}"))).unwrap());
    call(&auditor, "one", welcome()).await;
    auditor.flush().await.unwrap();
    let secret = "SELECT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                  WHERE application_name = 'toolgen'";
    assert_eq!(server.query("secret", secret), "t|TLSv1.3");
    // `require` also verifies.
    let mut reader = store::audit::connect(&with(&format!("sslmode=require&sslrootcert={root}"))).unwrap();
    let mut read = 0;
    reader.for_each_change(&mut |_| read += 1).unwrap();
    assert_eq!(read, 1);

    // An authority that is not trusted, and one that did not sign.
    for options in ["sslmode=verify-full".to_owned(), format!("sslmode=require&sslrootcert={other}")] {
        let reason = PostgresSink::open(&with(&options)).unwrap_err().to_string();
        assert!(reason.contains("TLS handshake") && reason.contains("certificate"), "{options}: {reason}");
    }
    // A certificate for another host.
    let elsewhere = with(&format!("sslmode=verify-ca&sslrootcert={root}")).replace("localhost", "127.0.0.1");
    let reason = PostgresSink::open(&elsewhere).unwrap_err().to_string();
    assert!(reason.contains("not valid for"), "{reason}");
}
