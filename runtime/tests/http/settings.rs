//! Tests that settings are validated when the engine is built.

use toolgen_runtime::engine::http::{HttpEngine, OAuth};

use crate::prelude::*;

/// Returns why an engine cannot be built.
fn refused(builder: HttpEngineBuilder) -> String {
    builder.build().map_or_else(|error| error.to_string(), |_| "it is built".to_owned())
}

#[test]
fn invalid_url_setting_is_rejected_with_help() {
    let token = |url: &str| {
        HttpEngine::builder().oauth("s", OAuth::client_credentials(url, "c", Secret::new("the-secret")))
    };
    for (given, message) in [
        ("127.0.0.1:8901", "write `http://` or `https://` before the host"),
        ("api.example.com/v1", "write `http://` or `https://` before the host"),
        ("localhost:8080", "write `http://` or `https://` before the host"),
        ("", "it is empty"),
        ("/v1", "such as `https://api.example.com/v1`"),
        ("ftp://example.com", "such as `https://api.example.com/v1`"),
        ("https://", "such as `https://api.example.com/v1`"),
    ] {
        let base = refused(HttpEngine::builder().base_url(given));
        assert!(
            base.contains("`base_url`: an http or https URL is expected") && base.contains(message),
            "{given}: {base}"
        );
        let oauth = refused(token(given));
        assert!(oauth.contains("the token URL of `s`: ") && oauth.contains(message), "{given}: {oauth}");
    }
    for given in ["http://127.0.0.1:8901", " https://api.example.com/v1?key=1 ", "http://[::1]:80/"] {
        assert_eq!(refused(HttpEngine::builder().base_url(given)), "it is built", "{given}");
    }
}

#[test]
fn url_as_host_setting_is_rejected_with_help() {
    for (given, message) in [
        ("http://127.0.0.1:8901", "write `127.0.0.1:8901`"),
        ("https://db.internal/x", "write `db.internal`"),
        ("", "such as `db.example.com`"),
        ("a b", "such as `db.example.com`"),
        ("db.*.internal", "`*` stands for all hosts"),
        ("*internal", "`*` stands for all hosts"),
    ] {
        let reason = refused(HttpEngine::builder().private_host(given));
        assert!(reason.contains("`private_host`: ") && reason.contains(message), "{given}: {reason}");
    }
    for given in ["*", "*.svc.cluster.local", "[::1]:8080", "::1", "localhost", "127.0.0.1:1"] {
        assert_eq!(refused(HttpEngine::builder().private_host(given)), "it is built", "{given}");
    }
}

#[test]
fn invalid_headers_and_origins_are_rejected_without_secrets() {
    let origin = |origin: &str| {
        let secret = StaticCredentials::new().with_origin("s", origin, Secret::new("the-secret"));
        HttpEngine::builder().credentials(secret)
    };
    for (builder, message) in [
        (HttpEngine::builder().header("X Key", "the-secret"), "\"X Key\" is not the name of a header"),
        (HttpEngine::builder().header("X-Key", "the-secret\n"), "the value of `X-Key` contains a line break"),
        (origin("api.example.com"), "the credential of `s` has an invalid origin: write `https://host`"),
    ] {
        let reason = refused(builder);
        assert!(reason.contains(message) && !reason.contains("the-secret"), "{reason}");
    }
    assert_eq!(refused(origin("https://api.example.com/v1")), "it is built");
}
