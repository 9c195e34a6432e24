//! Tests of OAuth tokens: requests, caching, renewal and redaction.

use std::sync::atomic::{AtomicUsize, Ordering};

use toolgen_runtime::engine::http::{HttpEngine, OAuth};
use toolgen_runtime::spec::{Effects, Network};

use crate::prelude::*;
use crate::server::{call, ctx, engine, plan, secured, tool};

const JSON: &str = "Content-Type: application/json\r\n";

/// Issues the tokens `token-1`, `token-2` and so on, and rejects all tokens except the last one.
fn service(expires_in: &'static str) -> Server {
    let given = AtomicUsize::new(0);
    Server::start(move |seen| {
        if seen.target() == "/token" {
            let number = given.fetch_add(1, Ordering::SeqCst) + 1;
            let body = format!(r#"{{"access_token":"token-{number}","token_type":"Bearer"{expires_in}}}"#);
            return [vec![Step::Wait(Duration::from_millis(30))], reply(200, JSON, body)].concat();
        }
        let last = format!("Bearer token-{}", given.load(Ordering::SeqCst));
        match seen.header("authorization") {
            Some(token) if token == last => reply(200, "", b"ok"),
            token => reply(401, "", format!("not {token:?}")),
        }
    })
}

fn client(server: &Server) -> OAuth {
    OAuth::client_credentials(format!("{}/token", server.url), "the client", Secret::new("its:secret+1"))
}

fn protected(server: &Server) -> RequestPlan {
    secured(plan("GET", &server.url, "/pets"), Placement::Bearer)
}

async fn called(engine: &HttpEngine, plan: RequestPlan) -> Result<ToolResult, ToolError> {
    Registry::new([engine.tool(tool(plan))]).unwrap().call_without_layers("t", json!({}), &ctx()).await
}

fn targets(server: &Server) -> Vec<String> {
    server.seen().iter().map(|seen| seen.target().to_owned()).collect()
}

#[tokio::test]
async fn token_is_requested_once_and_cached() {
    let server = service(r#","expires_in":3600"#);
    let oauth = client(&server).scopes(["read", "write"]).parameter("audience", "https://pets");
    let engine = engine().oauth("s", oauth).build().unwrap();
    for _ in 0..2 {
        let result = called(&engine, protected(&server)).await.unwrap();
        assert!(result.to_text().ends_with("→ 200\n\nok"), "{}", result.to_text());
    }
    assert_eq!(targets(&server), ["/token", "/pets", "/pets"]);
    let asked = server.seen().remove(0);
    assert_eq!(asked.line(), "POST /token HTTP/1.1");
    // `the+client:its%3Asecret%2B1`, as RFC 6749, section 2.3.1 requires.
    assert_eq!(asked.header("authorization"), Some("Basic dGhlK2NsaWVudDppdHMlM0FzZWNyZXQlMkIx"));
    let body = String::from_utf8(asked.body).unwrap();
    assert_eq!(body, "grant_type=client_credentials&scope=read+write&audience=https%3A%2F%2Fpets");
}

#[tokio::test]
async fn concurrent_calls_share_one_token_request() {
    let server = service("");
    let engine = engine().oauth("s", client(&server).client_in_body()).build().unwrap();
    let calls = (0..8).map(|_| {
        let (engine, plan) = (engine.clone(), protected(&server));
        tokio::spawn(async move { called(&engine, plan).await.unwrap().is_error() })
    });
    for call in calls.collect::<Vec<_>>() {
        assert!(!call.await.unwrap());
    }
    let seen = server.seen();
    let asked: Vec<_> = seen.iter().filter(|seen| seen.target() == "/token").collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].header("authorization"), None);
    let body = String::from_utf8_lossy(&asked[0].body);
    assert_eq!(body, "grant_type=client_credentials&client_id=the+client&client_secret=its%3Asecret%2B1");
}

#[tokio::test]
async fn expired_or_rejected_token_is_renewed_once() {
    // The leeway is at most half of the lifetime of two seconds.
    let server = service(r#","expires_in":"0.2""#);
    let engine = engine().oauth("s", client(&server)).build().unwrap();
    assert!(!called(&engine, protected(&server)).await.unwrap().is_error());
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert!(!called(&engine, protected(&server)).await.unwrap().is_error());
    assert_eq!(targets(&server), ["/token", "/pets", "/token", "/pets"]);

    // If a service rejects every token, the request is sent twice, regardless of its method.
    let server = Server::start(|seen| match seen.target() {
        "/token" => reply(200, JSON, br#"{"access_token":"refused-token"}"#),
        _ => reply(401, "", b"refused-token is not valid"),
    });
    let engine = crate::server::engine().oauth("s", client(&server)).build().unwrap();
    let plan = secured(plan("POST", &server.url, "/pets"), Placement::Bearer);
    let result = called(&engine, plan).await.unwrap();
    assert!(result.to_text().ends_with("→ 401\n\n**** is not valid"), "{}", result.to_text());
    assert_eq!(targets(&server), ["/token", "/pets", "/token", "/pets"]);
}

#[tokio::test]
async fn refresh_token_is_used_and_rotated() {
    let server = Server::start(|seen| match seen.target() {
        "/token" => {
            let first = String::from_utf8_lossy(&seen.body).contains("refresh_token=first-refresh");
            let (token, next) =
                if first { ("token-a", "second-refresh") } else { ("token-b", "third-refresh") };
            let body = json!({"access_token": token, "refresh_token": next, "expires_in": 0});
            reply(200, JSON, body.to_string())
        }
        _ => reply(200, "", seen.header("authorization").unwrap_or_default().replace('-', ":")),
    });
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&kept);
    let oauth =
        OAuth::refresh_token(format!("{}/token", server.url), "public", None, Secret::new("first-refresh"))
            .on_refresh_token(move |token| keep.lock().unwrap().push(token.expose().to_owned()));
    let engine = engine().oauth("s", oauth).build().unwrap();
    for token in ["token:a", "token:b"] {
        let result = called(&engine, protected(&server)).await.unwrap();
        assert!(result.to_text().ends_with(&format!("Bearer {token}")), "{}", result.to_text());
    }
    assert_eq!(*kept.lock().unwrap(), ["second-refresh", "third-refresh"]);
    let bodies: Vec<_> =
        server.seen().iter().map(|seen| String::from_utf8_lossy(&seen.body).into_owned()).collect();
    assert_eq!(bodies[0], "grant_type=refresh_token&refresh_token=first-refresh&client_id=public");
    assert_eq!(bodies[2], "grant_type=refresh_token&refresh_token=second-refresh&client_id=public");
}

#[tokio::test]
async fn token_failure_is_shared_and_redacted() {
    let server = Server::start(|_| {
        let body = br#"{"error":"invalid_client","error_description":"unknown its:secret+1"}"#;
        [vec![Step::Wait(Duration::from_millis(50))], reply(401, JSON, body)].concat()
    });
    let engine = engine().oauth("s", client(&server)).build().unwrap();
    let (one, other) = tokio::join!(called(&engine, protected(&server)), called(&engine, protected(&server)));
    for error in [one.unwrap_err(), other.unwrap_err()] {
        let message =
            "No token for `s`: the authorization server returned 401: invalid_client (unknown ****)";
        assert_eq!((error.code(), error.to_string().as_str()), ("OAUTH_ERROR", message));
        assert!(
            error.operator_text().contains("check the client's ID and secret"),
            "{}",
            error.operator_text()
        );
    }
    assert_eq!(targets(&server), ["/token"]);
    // The next call requests a token again.
    called(&engine, protected(&server)).await.unwrap_err();
    assert_eq!(targets(&server).len(), 2);
    let displayed = format!("{engine:?} {:?}", client(&server).parameter("x", "own-key"));
    assert!(displayed.contains("client_credentials") && displayed.contains("/token"), "{displayed}");
    assert!(!displayed.contains("its:secret") && !displayed.contains("own-key"), "{displayed}");
}

#[tokio::test]
async fn invalid_token_response_is_rejected() {
    for (status, body, message) in [
        (200, "{}", "contains no bearer token"),
        (200, r#"{"access_token":"x","token_type":"mac"}"#, "contains no bearer token"),
        (200, r#"{"access_token":"a\r\nb"}"#, "contains no bearer token"),
        (200, "<html>", "contains no bearer token"),
        (500, "", "returned 500: no reason given"),
        (302, "", "returned 302: no reason given"),
    ] {
        let server = Server::start(move |_| reply(status, "Location: /elsewhere\r\n", body));
        let error =
            call(engine().oauth("s", client(&server)), protected(&server), json!({})).await.unwrap_err();
        assert!(error.to_string().ends_with(message), "{error}");
        assert_eq!(targets(&server), ["/token"], "{body}");
    }
}

#[tokio::test]
async fn guard_applies_to_the_token_endpoint() {
    let server = Server::ok();
    let with = |url: &str| {
        let oauth = OAuth::client_credentials(url, "c", Secret::new("the-secret"));
        engine().oauth("s", oauth)
    };
    // Private addresses that are not allowed.
    for url in ["http://10.0.0.1/token", "http://169.254.169.254/token", "http://[::1]/token"] {
        let error = call(with(url), protected(&server), json!({})).await.unwrap_err();
        assert!(matches!(error, ToolError::Denied { .. }), "{error}");
    }
    let error = with("not a url").build().unwrap_err().to_string();
    assert!(error.contains("the token URL of `s`: `OAuth`: an http or https URL is expected"), "{error}");
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn token_host_is_added_to_the_effects_of_the_tool() {
    let plan = secured(plan("GET", "https://api.example.com", "/pets"), Placement::Bearer);
    let mut tool = tool(plan);
    tool.spec.effects =
        Effects { network: Network::Hosts(vec!["api.example.com".into()].into()), ..Effects::NONE };
    let oauth = OAuth::client_credentials("https://auth.example.com:8443/token", "c", Secret::new("s"));
    let engine = HttpEngineBuilder::oauth(engine(), "s", oauth).build().unwrap();
    let hosts = Network::Hosts(vec!["api.example.com".into(), "auth.example.com:8443".into()].into());
    assert_eq!(engine.tool(tool).spec().effects.network, hosts);
}

#[tokio::test]
async fn dry_run_requests_no_token() {
    let server = Server::ok();
    let engine = engine().oauth("s", client(&server)).build().unwrap();
    let (request, missing) = engine.request(&protected(&server), &json!({})).unwrap();
    assert!(missing.is_empty());
    assert_eq!(request.redacted_headers().last().unwrap().1, "Bearer ****");
    assert_eq!(server.seen().len(), 0);
}
