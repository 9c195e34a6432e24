//! Tests of time limits, cancellation, network failures and credentials.

use std::time::Instant;

use toolgen_runtime::CancellationToken;
use toolgen_runtime::engine::http::EnvCredentials;
use toolgen_runtime::spec::Timeout;
use toolgen_test_support::http::nobody;

use crate::prelude::*;
use crate::server::{call, ctx, engine, plan, secured, tool};

fn silent() -> Server {
    Server::start(|_| vec![Step::Wait(Duration::from_secs(60))])
}

#[tokio::test]
async fn unresponsive_server_times_out() {
    let server = silent();
    let started = Instant::now();
    let engine_timeout = engine().timeout(Duration::from_millis(100));
    let error = call(engine_timeout, plan("GET", &server.url, "/x"), json!({})).await.unwrap_err();
    assert_eq!(error, ToolError::Timeout { duration: Duration::from_millis(100) });

    // The time limit of the tool takes precedence over that of the engine, and the caller may shorten it.
    let mut own = tool(plan("GET", &server.url, "/x"));
    own.spec.timeout = Timeout::Millis(150);
    let tool = engine().timeout(Duration::from_secs(60)).build().unwrap().tool(own);
    let error = tool.execute(json!({}), &ctx()).await.unwrap_err();
    assert_eq!(error, ToolError::Timeout { duration: Duration::from_millis(150) });
    let lower = ctx().with_timeout(Duration::from_millis(50));
    let error = tool.execute(json!({}), &lower).await.unwrap_err();
    assert_eq!(error, ToolError::Timeout { duration: Duration::from_millis(50) });
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn stalled_body_times_out() {
    let server = Server::start(|_| {
        vec![
            open("Content-Type: text/plain\r\n"),
            Step::Send(b"x".to_vec()),
            Step::Wait(Duration::from_secs(60)),
        ]
    });
    let engine = engine().timeout(Duration::from_millis(100));
    let error = call(engine, plan("GET", &server.url, "/x"), json!({})).await.unwrap_err();
    assert_eq!(error.code(), "TIMEOUT");
}

#[tokio::test]
async fn caller_can_cancel_a_request() {
    let server = silent();
    let registry =
        Registry::new([engine().build().unwrap().tool(tool(plan("GET", &server.url, "/x")))]).unwrap();
    let cancel = CancellationToken::new();
    let ctx = ctx().with_cancel(cancel.clone());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let started = Instant::now();
    assert_eq!(registry.call_without_layers("t", json!({}), &ctx).await.unwrap_err(), ToolError::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn connection_error_shows_no_secret() {
    let placement = Placement::Query("key".into());
    let credentials = || StaticCredentials::new().with("s", Secret::new("hunter2hunter2"));
    // No server listens on this port.
    let plan_to = |url: &str| secured(plan("GET", url, "/x"), placement.clone());
    let url = nobody();
    let error = call(engine().credentials(credentials()), plan_to(&url), json!({})).await.unwrap_err();
    // A model sees the host, but neither the path nor the query.
    let at = url.strip_prefix("http://").unwrap();
    assert!(error.to_string().starts_with(&format!("Error: HTTP request failed: {at}: ")), "{error}");
    assert!(!error.to_string().contains("/x"), "{error}");
    assert!(
        error.operator_text().starts_with(&format!("HTTP request failed: GET {url}/x: ")),
        "{}",
        error.operator_text()
    );
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    assert_eq!(error.code(), "HTTP_ERROR");
    // The error names the host that a redirect led to.
    let to = format!("Location: {url}/y?token=abc\r\n");
    let server = Server::start(move |_| reply(302, &to, b""));
    let error = call(engine(), plan("GET", &server.url, "/x"), json!({})).await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("Error: HTTP request failed: {at}: ")), "{error}");
    assert!(!error.to_string().contains("abc"), "{error}");
    // The response is interrupted.
    let broken = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nabc".to_vec();
    let server = Server::start(move |_| vec![Step::Send(broken.clone())]);
    let error = call(engine().credentials(credentials()), plan_to(&server.url), json!({})).await.unwrap_err();
    assert_eq!(error.code(), "READ_ERROR");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn missing_credential_error_names_the_variable() {
    let server = Server::ok();
    let plan = secured(plan("GET", &server.url, "/x"), Placement::Bearer);
    let error = call(engine().credentials(EnvCredentials::new()), plan.clone(), json!({})).await.unwrap_err();
    assert_eq!(
        error.operator_text(),
        "No credential is configured for `s` (set the environment variable TOOLGEN_TEST_NOT_SET)"
    );
    assert_eq!(
        error.to_string(),
        "No credential is configured for `s`: the operator of this program must set it"
    );
    assert_eq!(error.code(), "MISSING_CREDENTIAL");
    let own = EnvCredentials::new().variable("s", "TOOLGEN_TEST_NOT_SET_EITHER");
    for (engine, help) in [
        (engine().credentials(own), "set the environment variable TOOLGEN_TEST_NOT_SET_EITHER"),
        (engine(), "set a source of credentials: `HttpEngineBuilder::credentials`"),
        (engine().credentials(StaticCredentials::new()), "`StaticCredentials::with(\"s\", …)`"),
    ] {
        let error = call(engine, plan.clone(), json!({})).await.unwrap_err();
        assert!(error.operator_text().contains(help), "{error:?}");
    }
    // A program can check in advance.
    let tools = [tool(plan.clone()), tool(self::plan("GET", &server.url, "/open"))];
    let lacking = engine().credentials(EnvCredentials::new()).build().unwrap().missing_credentials(&tools);
    let messages: Vec<String> = lacking.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["tool 't': No credential is configured for `s` (set the environment variable TOOLGEN_TEST_NOT_SET)"]
    );
    // Tools that lack the same credential share one entry.
    let many = [tools[0].clone(), tools[0].clone(), tools[1].clone()];
    let lacking = engine().credentials(EnvCredentials::new()).build().unwrap().missing_credentials(&many);
    let messages: Vec<String> = lacking.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["2 tools: No credential is configured for `s` (set the environment variable TOOLGEN_TEST_NOT_SET)"]
    );
    let given = StaticCredentials::new().with_origin("s", server.url.as_str(), Secret::new("x"));
    assert_eq!(engine().credentials(given).build().unwrap().missing_credentials(&tools), []);
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn echoed_credential_is_redacted() {
    let echo = |seen: &Request| {
        let authorization = seen.header("authorization").unwrap_or_default().to_owned();
        reply(
            200,
            &format!("Content-Type: text/plain\r\nX-Echo: {authorization}\r\n"),
            authorization.as_bytes(),
        )
    };
    let server = Server::start(echo);
    for placement in [Placement::Bearer, Placement::Basic] {
        let credentials = StaticCredentials::new().with("s", Secret::new("user:hunter2hunter2"));
        let plan = secured(plan("GET", &server.url, "/x"), placement);
        let result = call(engine().credentials(credentials), plan, json!({})).await.unwrap();
        let displayed = serde_json::to_string(&result).unwrap();
        assert!(
            displayed.contains("****")
                && !displayed.contains("hunter2")
                && !displayed.contains("aHVudGVyMmh1bnRlcjI")
        );
    }
    let engine = engine().header("Authorization", "Token operator-token");
    let result = call(engine, plan("GET", &server.url, "/x"), json!({})).await.unwrap();
    assert!(!serde_json::to_string(&result).unwrap().contains("operator-token"));
    let seen = server.seen();
    assert_eq!(seen[2].header("authorization"), Some("Token operator-token"));
    let engine = crate::server::engine().base_url(format!("{}/?code=operator-key", server.url));
    assert!(!format!("{engine:?}").contains("operator-key"));
    let result = call(engine, plan("GET", "http://unused", "/x"), json!({})).await.unwrap();
    assert!(result.details["url"].as_str().unwrap().ends_with("/x?code=****"), "{result:?}");
    assert!(!serde_json::to_string(&result).unwrap().contains("operator-key"));
    assert_eq!(server.seen()[3].target(), "/x?code=operator-key");
}

#[tokio::test]
async fn encoded_or_truncated_credential_is_redacted() {
    for (sent_back, limit) in [
        (r#"{"token": "tok\\/abc d"}"#, 1000),
        ("token=tok%2fabc+d&x=1", 1000),
        ("token: tok/abc d", 14),
        ("token: tok/abc d", 11),
    ] {
        let body = sent_back.replace("\\\\", "\\");
        let server = Server::start(move |_| reply(200, "Content-Type: text/plain\r\n", &body));
        let credentials = StaticCredentials::new().with("s", Secret::new("tok/abc d"));
        let plan = secured(plan("GET", &server.url, "/x"), Placement::Header("X-Key".into()));
        let engine = engine().credentials(credentials).max_bytes(limit);
        let displayed = call(engine, plan, json!({})).await.unwrap().to_text();
        assert!(
            !displayed.contains("abc") && !displayed.contains("tok\\") && !displayed.contains("tok/"),
            "{displayed}"
        );
    }
}

#[tokio::test]
async fn plan_without_a_server_is_an_error() {
    let no_server = RequestPlan { path: "/x".into(), ..RequestPlan::EMPTY };
    let error = call(engine(), no_server, json!({})).await.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        ("No base URL found in spec or config", "NO_BASE_URL")
    );
    let error = call(engine(), plan("BAD METHOD", "http://127.0.0.1:1", "/x"), json!({})).await.unwrap_err();
    assert_eq!(error.code(), "INVALID_REQUEST");
}

#[tokio::test]
async fn base_url_of_the_operator_replaces_the_server_of_the_plan() {
    let server = Server::ok();
    let engine = engine().base_url(format!("{}/proxy", server.url));
    call(engine, plan("GET", "https://api.invalid/v1", "/x"), json!({})).await.unwrap();
    assert_eq!(server.only().target(), "/proxy/x");
}
