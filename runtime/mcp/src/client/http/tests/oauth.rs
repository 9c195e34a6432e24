//! OAuth tokens, with an authorization server on the loopback interface.

use std::collections::HashMap;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use toolgen_http::Secret;

use super::*;
use crate::client::{McpOAuth, TokenStore};

/// Both servers: the MCP server, which accepts one token at a time, and the authorization server.
#[derive(Default)]
struct Authority {
    /// The token that is currently accepted.
    valid: String,
    /// The parameters of the last consent, from the opened URL.
    consent: Arc<Mutex<HashMap<String, String>>>,
    /// The grants of the issued tokens.
    grants: Vec<String>,
    /// The advertised issuer of the tokens.
    issuer: Option<String>,
    refuses_refresh: bool,
    /// The scope that a token must have.
    required_scope: Option<&'static str>,
}

fn pairs(query: &str) -> HashMap<String, String> {
    let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8().unwrap().into_owned();
    query.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (decode(k), decode(v))).collect()
}

impl Authority {
    /// Answers requests until one to the MCP server is accepted, and answers that request.
    async fn serve(&mut self, server: &mut Server) {
        let base = server.url.strip_suffix("/mcp").unwrap().to_owned();
        loop {
            let request = server.next().await;
            let json = |body: Value| (request.path.clone(), body);
            let (_, body) = match request.path.as_str() {
                "/mcp"
                    if request.header("authorization") == Some(format!("Bearer {}", self.valid).as_str()) =>
                {
                    let granted = self.consent.lock().unwrap().get("scope").cloned();
                    if let Some(wanted) = self
                        .required_scope
                        .filter(|wanted| !granted.iter().any(|granted| granted.contains(wanted)))
                    {
                        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{wanted}\"");
                        let header = format!("www-authenticate: {challenge}\r\n");
                        request.respond("403 Forbidden", &header, "").await;
                        continue;
                    }
                    let id = request.body["id"].as_u64().unwrap();
                    return request.json(&response(id, "let in")).await;
                }
                "/mcp" => {
                    let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
                    let header = format!(
                        "www-authenticate: Bearer resource_metadata=\"{metadata}\", scope=\"read\"\r\n"
                    );
                    request.respond("401 Unauthorized", &header, "").await;
                    continue;
                }
                "/.well-known/oauth-protected-resource/mcp" => {
                    let issuer = self.issuer.as_ref().unwrap_or(&base);
                    json(
                        json!({"resource": server.url, "authorization_servers": [issuer], "scopes_supported": ["read"]}),
                    )
                }
                "/.well-known/oauth-authorization-server" => json(json!({
                    "issuer": base,
                    "authorization_endpoint": format!("{base}/authorize"),
                    "token_endpoint": format!("{base}/token"),
                    "registration_endpoint": format!("{base}/register"),
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
                })),
                "/register" => {
                    json(json!({"client_id": "registered", "redirect_uris": request.body["redirect_uris"]}))
                }
                "/token" => match self.grant(&pairs(&request.text)) {
                    Some(body) => json(body),
                    None => {
                        let json = "content-type: application/json\r\n";
                        request.respond("400 Bad Request", json, r#"{"error": "invalid_grant"}"#).await;
                        continue;
                    }
                },
                other => panic!("{} {other}", request.method),
            };
            request.json(&body).await;
        }
    }

    fn grant(&mut self, request: &HashMap<String, String>) -> Option<Value> {
        let grant = request["grant_type"].clone();
        match grant.as_str() {
            "authorization_code" => {
                let consent = self.consent.lock().unwrap();
                assert_eq!(request["code"], "the-code");
                assert_eq!(request["redirect_uri"], consent["redirect_uri"]);
                assert_eq!(request["resource"], consent["resource"]);
                let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&request["code_verifier"]));
                assert_eq!(
                    (challenge, "S256"),
                    (consent["code_challenge"].clone(), &*consent["code_challenge_method"])
                );
            }
            "refresh_token" if self.refuses_refresh => return None,
            "refresh_token" => assert_eq!(request["refresh_token"], format!("refresh-{}", self.grants.len())),
            "client_credentials" => {
                assert_eq!((&*request["client_id"], &*request["client_secret"]), ("robot", "robot-secret"));
                assert!(request.contains_key("resource"));
            }
            other => panic!("{other}"),
        }
        self.grants.push(grant);
        self.valid = format!("token-{}", self.grants.len());
        Some(json!({
            "access_token": self.valid,
            "token_type": "Bearer",
            "expires_in": 3600,
            "refresh_token": format!("refresh-{}", self.grants.len()),
        }))
    }

    /// A person who grants access immediately.
    fn person(&self) -> McpOAuth {
        let consent = Arc::clone(&self.consent);
        McpOAuth::consent("http://127.0.0.1:1/callback", move |url| {
            let request = pairs(url.split_once('?').unwrap().1);
            let back = format!("http://127.0.0.1:1/callback?code=the-code&state={}", request["state"]);
            *consent.lock().unwrap() = request;
            async move { Ok(back) }
        })
    }
}

async fn wire_with(server: &Server, tokens: McpOAuth) -> Wire {
    let wire = Wire::connect(&server_at(&server.url), &local_options().tokens("docs", tokens)).await.unwrap();
    wire.transport.set_version(MODERN);
    wire
}

/// Sends one request, which is accepted.
async fn assert_accepted(wire: &Wire, server: &mut Server, authority: &mut Authority) {
    let (ticket, sending) = wire.send("tools/call");
    let (sent, ()) = tokio::join!(sending, authority.serve(server));
    sent.unwrap();
    assert_eq!(result(ticket).await, "let in");
}

/// Stores tokens in memory, like a file.
#[derive(Clone, Debug, Default)]
struct MemoryStore(Arc<Mutex<Option<Secret>>>);

impl TokenStore for MemoryStore {
    fn load(&self) -> BoxFuture<'_, Result<Option<Secret>, String>> {
        let stored = self.0.lock().unwrap().clone();
        Box::pin(async { Ok(stored) })
    }

    fn save(&self, tokens: Option<Secret>) -> BoxFuture<'_, Result<(), String>> {
        *self.0.lock().unwrap() = tokens;
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn consent_is_requested_once_and_tokens_are_refreshed() {
    let (mut server, mut authority, store) =
        (Server::start().await, Authority::default(), MemoryStore::default());
    let wire = wire_with(&server, authority.person().store(store.clone())).await;
    assert_accepted(&wire, &mut server, &mut authority).await;
    assert_eq!(authority.consent.lock().unwrap()["scope"], "read");
    assert_accepted(&wire, &mut server, &mut authority).await;
    assert_eq!(authority.grants, ["authorization_code"]);
    // The server invalidates the token.
    authority.valid = "another".to_owned();
    assert_accepted(&wire, &mut server, &mut authority).await;
    assert_eq!(authority.grants, ["authorization_code", "refresh_token"]);
    // Another run of the program.
    assert!(!format!("{store:?}").contains("token-2"));
    let no_consent = McpOAuth::consent("http://127.0.0.1:1/callback", |_| async {
        Err("no person is present".to_owned())
    });
    let wire = wire_with(&server, no_consent.store(store)).await;
    assert_accepted(&wire, &mut server, &mut authority).await;
    assert_eq!(authority.grants, ["authorization_code", "refresh_token"]);
}

#[tokio::test]
async fn concurrent_rejections_share_one_new_token() {
    let (mut server, mut authority) = (Server::start().await, Authority::default());
    let wire = wire_with(&server, authority.person()).await;
    let (first, first_sending) = wire.send("tools/call");
    let (second, second_sending) = wire.send("tools/call");
    let serve = async {
        authority.serve(&mut server).await;
        authority.serve(&mut server).await;
    };
    let (first_result, second_result, ()) = tokio::join!(first_sending, second_sending, serve);
    first_result.and(second_result).unwrap();
    assert_eq!((result(first).await, result(second).await), (json!("let in"), json!("let in")));
    assert_eq!(authority.grants, ["authorization_code"]);
}

/// Cancelling a call while its token is refreshed does not require another consent.
#[tokio::test]
async fn abandoned_refresh_loses_nothing() {
    let (mut server, mut authority) = (Server::start().await, Authority::default());
    let wire = wire_with(&server, authority.person()).await;
    assert_accepted(&wire, &mut server, &mut authority).await;
    authority.valid = "another".to_owned();
    let (ticket, sending) = wire.send("tools/call");
    let cancel = async {
        server.next().await.respond("401 Unauthorized", "www-authenticate: Bearer\r\n", "").await;
        let request = server.next().await;
        assert_eq!(request.path, "/token");
        wire.transport.cancel(ticket.id);
    };
    assert!(tokio::join!(sending, cancel).0.is_err());
    assert_accepted(&wire, &mut server, &mut authority).await;
    assert_eq!(authority.grants, ["authorization_code", "refresh_token"]);
}

#[tokio::test]
async fn rejected_refresh_requests_consent_again() {
    let (mut server, mut authority) = (Server::start().await, Authority::default());
    let wire = wire_with(&server, authority.person()).await;
    assert_accepted(&wire, &mut server, &mut authority).await;
    (authority.valid, authority.refuses_refresh) = ("another".to_owned(), true);
    assert_accepted(&wire, &mut server, &mut authority).await;
    assert_eq!(authority.grants, ["authorization_code", "authorization_code"]);
}

#[tokio::test]
async fn insufficient_scope_requests_a_broader_token() {
    let (mut server, mut authority) = (Server::start().await, Authority::default());
    let wire = wire_with(&server, authority.person()).await;
    assert_accepted(&wire, &mut server, &mut authority).await;
    authority.required_scope = Some("write");
    assert_accepted(&wire, &mut server, &mut authority).await;
    assert_eq!(authority.grants, ["authorization_code", "authorization_code"]);
    assert!(authority.consent.lock().unwrap()["scope"].contains("write"));
}

#[tokio::test]
async fn client_credentials_need_no_person() {
    let (mut server, mut authority) = (Server::start().await, Authority::default());
    let tokens = McpOAuth::credentials("robot", Secret::new("robot-secret"));
    let tokens = tokens.token_url(server.url.replace("/mcp", "/token"));
    assert!(!format!("{tokens:?}").contains("robot-secret"));
    let wire = wire_with(&server, tokens).await;
    assert_accepted(&wire, &mut server, &mut authority).await;
    authority.valid = "another".to_owned();
    authority.refuses_refresh = true;
    assert_accepted(&wire, &mut server, &mut authority).await;
    assert_eq!(authority.grants, ["client_credentials", "client_credentials"]);
}

#[tokio::test]
async fn client_secret_is_sent_to_the_configured_url_only() {
    let robot = || McpOAuth::credentials("robot", Secret::new("robot-secret"));
    let bound = robot().token_url("https://login.example.com/token");
    let person = Authority::default().person().client("robot", Some(Secret::new("robot-secret")));
    for (tokens, expected) in [
        (bound, "not at https://login.example.com/token"),
        (robot(), "set that URL as `McpOAuth::token_url`"),
        (person, "set that URL as `McpOAuth::token_url`"),
    ] {
        let (mut server, mut authority) = (Server::start().await, Authority::default());
        let wire = wire_with(&server, tokens).await;
        let (_ticket, sending) = wire.send("tools/call");
        let reason = tokio::select! {
            sent = sending => sent.unwrap_err().reason,
            () = authority.serve(&mut server) => panic!("it was let in"),
        };
        assert!(reason.contains(expected), "{reason}");
        assert!(authority.grants.is_empty() && !reason.contains("robot-secret"), "{reason}");
    }
}

#[tokio::test]
async fn failed_consent_fails_the_request() {
    let (mut server, mut authority) = (Server::start().await, Authority::default());
    let no_consent = McpOAuth::consent("http://127.0.0.1:1/callback", |_| async {
        Err("no person is present".to_owned())
    });
    let wire = wire_with(&server, no_consent).await;
    let (_ticket, sending) = wire.send("tools/call");
    let reason = tokio::select! {
        sent = sending => sent.unwrap_err().reason,
        () = authority.serve(&mut server) => panic!("it was let in"),
    };
    assert!(
        reason.contains("no token for the MCP server `docs`") && reason.contains("no person is present"),
        "{reason}"
    );
}

#[tokio::test]
async fn guard_applies_to_token_endpoints() {
    // A private authorization server whose host is not allowed.
    let (mut server, mut closed) = (Server::start().await, Server::start().await);
    let port = closed.url.rsplit_once(':').unwrap().1.strip_suffix("/mcp").unwrap().to_owned();
    let mut authority =
        Authority { issuer: Some(format!("http://localhost:{port}")), ..Authority::default() };
    let wire = wire_with(&server, authority.person()).await;
    let (_ticket, sending) = wire.send("tools/call");
    let reason = tokio::select! {
        sent = sending => sent.unwrap_err().reason,
        () = authority.serve(&mut server) => panic!("it was let in"),
    };
    assert!(reason.contains("The host `localhost` is blocked"), "{reason}");
    assert!(closed.receives_nothing().await);
}
