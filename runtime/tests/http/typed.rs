//! Tests of typed calls from Rust.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use toolgen_runtime::engine::http::CallError;
use toolgen_runtime::engine::typed::{FromJson, JsonError};
use toolgen_runtime::spec::Network;
use toolgen_runtime::{CancellationToken, TypedTool};

use crate::prelude::*;
use crate::server::{engine, parameter, plan, tool};

#[derive(Serialize)]
struct GetPet {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbose: Option<bool>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Pet {
    name: String,
}

/// Like generated code, but with serde.
impl FromJson for Pet {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        serde_json::from_value(value).map_err(|error| JsonError::new(error.to_string()))
    }
}

static TOOL: LazyLock<Tool> = LazyLock::new(|| {
    let parameters = vec![
        parameter("id", Location::Path, Encoding::SIMPLE),
        parameter("verbose", Location::Query, Encoding::FORM),
    ];
    tool(RequestPlan { parameters: parameters.into(), ..plan("GET", "http://unused.invalid", "/pets/{id}") })
});

impl TypedTool for GetPet {
    type Output = Pet;

    fn tool() -> &'static Tool {
        &TOOL
    }
}

async fn get(status: u16, headers: &'static str, body: &'static [u8]) -> (Result<Pet, CallError>, Server) {
    let server = Server::start(move |_| reply(status, headers, body));
    let engine = engine().base_url(&server.url).max_typed_bytes(50).build().unwrap();
    (engine.call(GetPet { id: 7, verbose: Some(true) }).await, server)
}

#[tokio::test]
async fn typed_call_returns_a_value() {
    let (pet, server) = get(200, "Content-Type: application/json\r\n", b"{\"name\":\"Rex\"}").await;
    assert_eq!(pet.unwrap(), Pet { name: "Rex".to_owned() });
    assert_eq!(server.only().target(), "/pets/7?verbose=true");
    assert_eq!(GetPet { id: 1, verbose: None }.into_arguments().unwrap(), json!({"id": 1}));
}

#[tokio::test]
async fn typed_error_has_the_operator_text() {
    let engine =
        toolgen_runtime::engine::http::HttpEngine::builder().base_url("http://shop.local").build().unwrap();
    let error = engine.call(GetPet { id: 7, verbose: None }).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "t: The host `shop.local` is blocked: it is a link-local name. The program can allow it with \
         `HttpEngineBuilder::private_host(\"shop.local\")`."
    );
}

#[tokio::test]
async fn each_failure_has_its_own_variant() {
    let (error, server) = get(404, "", b"no such pet").await;
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), format!("t: GET {}/pets/7 → 404: no such pet", server.url));
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(matches!(error, CallError::Status { status: 404, body, .. } if body == "no such pet"));
    let (error, server) = get(500, "", b" \n").await;
    assert_eq!(error.unwrap_err().to_string(), format!("t: GET {}/pets/7 → 500", server.url));
    let (error, _) = get(200, "Content-Type: application/json\r\n", b"{}").await;
    assert!(matches!(error, Err(CallError::Decode { .. })));
    let (error, server) = get(200, "Content-Type: application/json\r\n", &[b' '; 51]).await;
    let error = error.unwrap_err();
    assert_eq!(error.status(), Some(200));
    assert_eq!(
        error.to_string(),
        format!("t: GET {}/pets/7 → 200: the response has more than 50 bytes", server.url)
    );
    assert!(matches!(error, CallError::TooLarge { limit: 50, .. }));
    let engine = engine().base_url("http://127.0.0.1:1").build().unwrap();
    let error = engine.call(GetPet { id: 7, verbose: None }).await.unwrap_err();
    assert!(
        error.to_string().starts_with("t: HTTP request failed: GET http://127.0.0.1:1/pets/7: "),
        "{error}"
    );
    assert!(matches!(error, CallError::Transport { .. }));
}

#[tokio::test]
async fn unexpected_response_is_reported_with_its_call() {
    const JSON: &str = "Content-Type: application/json\r\n";
    const TEXT: &str = "Content-Type: text/html\r\n";
    for (headers, body, message) in [
        (TEXT, "<html>login</html>", "the body is not JSON (*): <html>login</html>"),
        (JSON, "<html>login</html>", "the body is not JSON (*): <html>login</html>"),
        (JSON, "", "the body is empty (*)"),
        ("", "", "the body is empty (*)"),
        (JSON, "{\"id\": 7}", "the body is not of the expected type (*): {\"id\": 7}"),
        (TEXT, "5", "the body is not of the expected type (*): 5"),
    ] {
        let (error, server) = get(201, headers, body.as_bytes()).await;
        let error = error.unwrap_err();
        let text = error.to_string();
        let (before, after) = message.split_once('*').unwrap();
        let before = format!("t: GET {}/pets/7 → 201: {before}", server.url);
        assert!(text.starts_with(&before) && text.ends_with(after), "{text}");
        assert_eq!((error.status(), error.body::<Value>()), (Some(201), serde_json::from_str(body).ok()));
    }
}

#[tokio::test]
async fn html_error_page_is_reported_as_text() {
    let page = "<html><title>Gone</title><p>No such <b>pet</b>.";
    let (error, server) = get(404, "Content-Type: text/html\r\n", page.as_bytes()).await;
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), format!("t: GET {}/pets/7 → 404: Gone No such pet.", server.url));
    assert!(matches!(error, CallError::Status { body, .. } if body == page));
}

#[tokio::test]
async fn unfollowed_redirect_is_reported_with_its_location() {
    let (error, server) = get(302, "Location: ftp://h/x\r\n", b"moved").await;
    assert_eq!(
        error.unwrap_err().to_string(),
        format!(
            "t: GET {}/pets/7 → 302 (Location: ftp://h/x. The redirect was not followed: the location is not an http or \
             https URL.): moved",
            server.url
        )
    );
    let server = Server::start(|seen| match seen.target() {
        "/login" => reply(200, "Content-Type: text/html\r\n", [b'a'; 400]),
        _ => reply(302, "Location: /login\r\n", b""),
    });
    let engine = engine().base_url(&server.url).build().unwrap();
    let error = engine.call(GetPet { id: 7, verbose: None }).await.unwrap_err().to_string();
    let url = &server.url;
    assert!(error.starts_with(&format!("t: GET {url}/pets/7 → {url}/login → 200: the body is not JSON (")));
    assert!(error.chars().count() < 750, "{error}");
}

#[tokio::test]
async fn context_cancels_limits_and_restricts_a_typed_call() {
    let server = Server::start(|_| vec![Step::Wait(Duration::from_secs(20))]);
    let engine = engine().base_url(&server.url).build().unwrap();
    let failure = async |ctx: &ToolContext| match engine.call_in(GetPet { id: 7, verbose: None }, ctx).await {
        Err(CallError::Transport { error, .. }) => error,
        other => panic!("{other:?}"),
    };
    let ctx = Turn::default().call_context("1", "t");
    let elsewhere = ctx.clone().with_allowed_hosts(&Network::Hosts(vec!["api.example.com".into()].into()));
    assert_eq!(failure(&elsewhere).await.code(), "PERMISSION_DENIED");
    assert!(server.seen().is_empty());
    let short = ctx.clone().with_timeout(Duration::from_millis(50));
    assert!(matches!(failure(&short).await, ToolError::Timeout { .. }));
    let token = CancellationToken::new();
    let cancelled = ctx.with_cancel(token.clone());
    let (error, ()) = tokio::join!(failure(&cancelled), async { token.cancel() });
    assert!(matches!(error, ToolError::Cancelled), "{error:?}");
}

/// A tool without a declared result.
#[derive(Serialize)]
struct Anything {
    id: u32,
}

impl TypedTool for Anything {
    type Output = Value;

    fn tool() -> &'static Tool {
        &TOOL
    }
}

#[tokio::test]
async fn plain_text_and_empty_bodies_are_values() {
    for (headers, body, expected) in [
        ("Content-Type: text/plain\r\n", "plain", json!("plain")),
        ("Content-Type: text/plain\r\n", "{\"a\":1}", json!({"a": 1})),
        ("", "", json!(null)),
    ] {
        let server = Server::start(move |_| reply(200, headers, body));
        let engine = engine().base_url(&server.url).build().unwrap();
        assert_eq!(engine.call(Anything { id: 1 }).await.unwrap(), expected);
    }
}

/// An operation without a response body.
#[derive(Serialize)]
struct Order {
    id: u32,
}

impl TypedTool for Order {
    type Output = ();

    fn tool() -> &'static Tool {
        &TOOL
    }
}

/// Like generated code, but with serde.
#[derive(Debug, Default, Deserialize, PartialEq)]
struct OrderHeaders {
    location: Option<String>,
}

impl FromJson for OrderHeaders {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        serde_json::from_value(value).map_err(|error| JsonError::new(error.to_string()))
    }
}

#[tokio::test]
async fn typed_response_has_redacted_headers_and_an_optional_body() {
    for body in [&b""[..], b"thanks", b"{\"a\":"] {
        let head = "Location: /pets/8\r\nX-Total: 12\r\nSet-Cookie: a=b\r\nX-Auth-Token: abc\r\nContent-Type: application/json\r\n";
        let server = Server::start(move |_| reply(201, head, body));
        let engine = engine().base_url(&server.url).build().unwrap();
        let response = engine.call_with_response(Order { id: 7 }, &Turn::new("")).await.unwrap();
        assert_eq!((response.value, response.status), ((), 201));
        assert_eq!([response.header("LOCATION"), response.header("x-total")], [Some("/pets/8"), Some("12")]);
        assert_eq!([response.header("set-cookie"), response.header("x-auth-token")], [None, None]);
        assert_eq!(response.headers::<OrderHeaders>(), OrderHeaders { location: Some("/pets/8".to_owned()) });
    }
}
