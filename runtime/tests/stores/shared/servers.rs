//! Tests of logins to servers, and of their error messages.

use rcgen::generate_simple_self_signed;
use toolgen_runtime::store::PostgresStore;
use toolgen_test_macros::page;

use super::{LONG, redis};
use crate::prelude::*;

#[tokio::test]
async fn redis_requires_a_trusted_certificate() {
    let own = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (own.cert.pem(), own.signing_key.serialize_pem());
    let options = |dir: &Path| {
        let file = |name: &str, text: &str| {
            std::fs::write(dir.join(name), text).unwrap();
            dir.join(name).to_str().unwrap().to_owned()
        };
        let (certificate, key) = (file("certificate.pem", &certificate), file("key.pem", &key));
        let options = ["--tls-port", "PORT", "--tls-auth-clients", "no", "--tls-cert-file", &certificate];
        options.into_iter().chain(["--tls-key-file", &key]).map(str::to_owned).collect()
    };
    let Some(server) = redis::Server::start_with(options) else { return };
    let url = format!("rediss://127.0.0.1:{}", server.port());
    let builder = || RedisStore::builder(&url, "tests").timeout(LONG);
    let reason = builder().build().unwrap().ping().await.unwrap_err().to_string();
    assert!(reason.contains("certificate"), "{reason}");
    let trusting = builder().root_certificate(certificate.as_str()).build().unwrap();
    assert_eq!(trusting.ping().await, Ok(()));
    // No plain text if TLS was requested, and vice versa.
    let plain = RedisStore::builder(server.url(), "tests").build().unwrap();
    assert!(plain.ping().await.is_err());
    let reason = builder().root_certificate("no certificate").build().unwrap_err().to_string();
    assert!(reason.contains("no certificate in the PEM text"), "{reason}");
}

#[tokio::test]
async fn wrong_password_is_reported_without_showing_it() {
    let Some(server) = redis::Server::start_with(|_| vec!["--requirepass".into(), "right".into()]) else {
        return;
    };
    let at = |password: &str| super::redis_at(&format!("redis://:{password}@127.0.0.1:{}", server.port()));
    let reason = at("s3cret").ping().await.unwrap_err().to_string();
    assert!(!reason.contains("s3cret") && reason.to_lowercase().contains("pass"), "{reason}");
    assert_eq!(at("right").ping().await, Ok(()));
}

#[test]
fn redis_store_requires_a_namespace() {
    let reason = RedisStore::builder("redis://127.0.0.1", " ").build().unwrap_err().to_string();
    assert!(reason.contains("namespace"), "{reason}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn postgresql_tables_are_created_once_and_never_by_readers() {
    let Some((url, _server)) = super::database() else { return };
    assert!(PostgresStore::connect_existing(&url).await.unwrap().is_none(), "there is nothing in it");
    // Both create the tables.
    let (one, other) = tokio::join!(PostgresStore::connect(&url), PostgresStore::connect(&url));
    one.unwrap().ping().await.unwrap();
    assert!(other.unwrap().is_up());
    assert!(PostgresStore::connect_existing(&url).await.unwrap().is_some());
}

#[tokio::test]
async fn unreachable_database_is_reported_without_the_password() {
    for url in ["mysql://me:hunter2@db/a", "postgres://me:hunter2@127.0.0.1:1/a"] {
        let reason = PostgresStore::connect(url).await.unwrap_err().to_string();
        assert!(!reason.contains("hunter2"), "{reason}");
    }
}

fn shared(registry: &Registry, url: &str, key: &[u8; 32]) -> Result<Toolbox, Box<dyn std::error::Error>> {
    page!("docs/sharing.md", "RedisStore::builder(");
    assert!(sessions.open("s-1").is_shared());
    Ok(toolbox)
}

#[tokio::test]
async fn guide_example_builds_a_toolbox_without_a_server() {
    let registry = Registry::builder().seal().unwrap();
    assert!(shared(&registry, "redis://127.0.0.1:1", &[7; 32]).is_ok());
}
