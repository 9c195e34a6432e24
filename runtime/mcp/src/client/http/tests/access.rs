//! Which hosts may be reached, and with which credentials.

use toolgen_http::Secret;

use super::*;

fn server_with(url: &str, headers: &[(&'static str, &'static str)], bearer: &'static str) -> McpServer {
    let headers = headers.iter().map(|(name, variable)| ((*name).into(), (*variable).into())).collect();
    let transport = McpTransport::Http { url: url.to_owned().into(), headers, bearer: bearer.into() };
    McpServer { alias: "docs".into(), transport, ..McpServer::EMPTY }
}

async fn start_error(server: &McpServer, options: &McpOptions) -> String {
    Wire::connect(server, options).await.err().expect("it starts")
}

/// A variable that is set in every test run under cargo.
const SET: &str = "CARGO_PKG_NAME";

#[tokio::test]
async fn invalid_header_is_reported_before_sending() {
    let mut server = Server::start().await;
    for (headers, bearer, expected) in [
        (
            &[][..],
            "TOOLGEN_TEST_UNSET",
            "the environment variable TOOLGEN_TEST_UNSET is not set; it holds the bearer token",
        ),
        (&[("X-Key", "TOOLGEN_TEST_UNSET")], "", "it holds the header `X-Key` of the server"),
        (&[("X Key", SET)], "", "`X Key` is not the name of a header"),
        (&[("Mcp-Session-Id", SET)], "", "`Mcp-Session-Id` is set by the client itself"),
        (&[("accept", SET)], "", "`accept` is set by the client itself"),
    ] {
        let reason = start_error(&server_with(&server.url, headers, bearer), &local_options()).await;
        assert!(reason.contains(expected), "{reason}");
    }
    for (url, expected) in [
        ("nowhere", "this is not a URL"),
        ("file:///etc/passwd", "this is not an http or https URL"),
        ("http://user:secret@127.0.0.1/", "must not contain a user name or a password"),
    ] {
        let reason = start_error(&server_at(url), &local_options()).await;
        assert!(reason.contains(expected) && !reason.contains("secret"), "{reason}");
    }
    assert!(server.receives_nothing().await);
}

#[tokio::test]
async fn environment_credentials_are_sent_and_never_shown() {
    let mut server = Server::start().await;
    let secret = std::env::var(SET).unwrap();
    let wire =
        Wire::connect(&server_with(&server.url, &[("X-Key", SET)], SET), &local_options()).await.unwrap();
    let (ticket, sending) = wire.send("initialize");
    let request = server.next().await;
    assert_eq!(request.header("x-key"), Some(secret.as_str()));
    assert_eq!(request.header("authorization"), Some(format!("Bearer {secret}").as_str()));
    // A server that sends credentials back.
    let challenge = format!("www-authenticate: Bearer error=\"invalid_token\", token=\"{secret}\"\r\n");
    request.respond("401 Unauthorized", &challenge, &format!("not {secret}")).await;
    sending.await.unwrap();
    let reason = rejection_message(ticket).await;
    let expected = "the server answered with status 401 Unauthorized: not ****; it asks for `Bearer \
                    error=\"invalid_token\", token=\"****\"`. Put a token that it accepts into CARGO_PKG_NAME";
    assert_eq!(reason, expected);
    // A part of a credential is not shown either, when the message is cut.
    for before in 285..300 {
        let (ticket, sending) = wire.send("initialize");
        let request = server.next().await;
        request.respond("400 Bad Request", "", &format!("{} {secret}", "x".repeat(before))).await;
        let _ = sending.await;
        let reason = rejection_message(ticket).await;
        assert!(reason.contains("xxx") && !reason.contains(&secret[..4]), "{before}: {reason}");
    }
}

#[tokio::test]
async fn private_addresses_must_be_allowed() {
    let mut server = Server::start().await;
    let wire = Wire::connect(&server_at(&server.url), &McpOptions::new()).await.unwrap();
    let (_ticket, sending) = wire.send("initialize");
    let error = sending.await.unwrap_err();
    assert!(
        !error.written && error.reason.contains("`McpOptions::private_host(\"127.0.0.1\")`"),
        "{error:?}"
    );
    for url in ["http://169.254.169.254/latest", "http://[::1]:1/", "http://metadata.google.internal./"] {
        let options = McpOptions::new().http(metadata_resolver());
        let wire = Wire::connect(&server_at(url), &options).await.unwrap();
        let (_ticket, sending) = wire.send("initialize");
        let error = sending.await.unwrap_err();
        assert!(!error.written && error.reason.contains("is blocked"), "{error:?}");
    }
    assert!(server.receives_nothing().await);
}

/// Options whose resolver returns a link-local address for every name.
fn metadata_resolver() -> HttpEngineBuilder {
    #[derive(Debug)]
    struct Metadata;
    impl toolgen_http::Resolver for Metadata {
        fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, std::io::Result<Vec<std::net::IpAddr>>> {
            Box::pin(async { Ok(vec!["169.254.169.254".parse().unwrap()]) })
        }
    }
    HttpEngine::builder().resolver(Metadata)
}

#[tokio::test]
async fn same_origin_redirect_keeps_the_request() {
    let (mut server, mut other) = (Server::start().await, Server::start().await);
    let wire = Wire::with_version(MODERN, &server.url).await;
    for (status, to) in [
        ("307 Temporary Redirect", other.url.as_str()),
        ("308 Permanent Redirect", "http://localhost/"),
        ("303 See Other", other.url.as_str()),
        ("303 See Other", "/elsewhere"),
        ("302 Found", "/elsewhere"),
    ] {
        let (_ticket, sending) = wire.send("tools/call");
        server.next().await.respond(status, &format!("location: {to}\r\n"), "").await;
        let error = sending.await.unwrap_err();
        assert!(
            error.written && error.reason.starts_with("the server redirects the request, and "),
            "{error:?}"
        );
    }
    assert!(other.receives_nothing().await && server.receives_nothing().await);
    let (ticket, _sending) = wire.send("tools/call");
    server.next().await.respond("307 Temporary Redirect", "location: /mcp/\r\n", "").await;
    let request = server.next().await;
    assert_eq!((request.header("mcp-name"), &request.body["id"]), (Some("echo"), &json!(ticket.id)));
    request.json(&response(ticket.id, "there")).await;
    assert_eq!(result(ticket).await, "there");
}

#[tokio::test]
async fn unreachable_server_is_reported_as_not_received() {
    let wire = Wire::with_version(MODERN, &toolgen_test_support::http::nobody()).await;
    let (_ticket, sending) = wire.send("tools/call");
    let error = sending.await.unwrap_err();
    assert!(!error.written && error.reason.contains("refused"), "{error:?}");
}

/// Returns `token-1`, `token-2` and so on: a new token after each rejection.
#[derive(Debug, Default)]
struct Counting(Mutex<Vec<(String, String)>>);

impl TokenSource for Arc<Counting> {
    fn token<'a>(&'a self, request: &'a McpTokenRequest) -> BoxFuture<'a, Result<Option<Secret>, String>> {
        let mut rejected = self.0.lock().unwrap();
        if let Some(token) = &request.refused {
            let challenge = request.challenge.as_ref().map(ToString::to_string);
            rejected.push((token.expose().to_owned(), challenge.unwrap_or_default()));
        }
        let token = Secret::new(format!("token-{}", rejected.len() + 1));
        Box::pin(async move { Ok(Some(token)) })
    }
}

#[tokio::test]
async fn rejected_token_is_replaced_once() {
    let mut server = Server::start().await;
    let source = Arc::new(Counting::default());
    let options = local_options().tokens("docs", Arc::clone(&source));
    let wire = Wire::connect(&server_with(&server.url, &[], "TOOLGEN_TEST_UNSET"), &options).await.unwrap();
    wire.transport.set_version(MODERN);
    let challenge = "www-authenticate: Bearer scope=\"a\"\r\n";
    let (ticket, _sending) = wire.send("tools/call");
    let request = server.next().await;
    assert_eq!(request.header("authorization"), Some("Bearer token-1"));
    request.respond("401 Unauthorized", challenge, "").await;
    let request = server.next().await;
    assert_eq!(request.header("authorization"), Some("Bearer token-2"));
    request.json(&response(ticket.id, "there")).await;
    assert_eq!(result(ticket).await, "there");
    assert_eq!(*source.0.lock().unwrap(), [("token-1".to_owned(), "Bearer scope=\"a\"".to_owned())]);
    // A second rejection is final.
    let (ticket, _sending) = wire.send("tools/call");
    for _ in 0..2 {
        server.next().await.respond("401 Unauthorized", challenge, "no token-3").await;
    }
    let reason = rejection_message(ticket).await;
    assert!(reason.contains("no ****") && reason.contains("It rejected the token of its source"), "{reason}");
    assert!(server.receives_nothing().await);
}
