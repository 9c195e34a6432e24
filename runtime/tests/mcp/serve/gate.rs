//! Access control over HTTP.

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use toolgen_runtime::call::principal::Principal;

use crate::prelude::*;
use crate::serve::client::{Client, Era, Person, serve};
use crate::serve::tools::server;

/// Sends `initialize` with these headers and returns the status.
async fn status(url: &str, headers: &str) -> u16 {
    status_at("/mcp", url, headers).await
}

/// Like [`status`], with this request target.
async fn status_at(target: &str, url: &str, headers: &str) -> u16 {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let host = if headers.contains("Host:") { String::new() } else { format!("Host: {address}\r\n") };
    let request = format!(
        "POST {target} HTTP/1.1\r\n{host}{headers}Accept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = [0; 12];
    stream.read_exact(&mut response).await.unwrap();
    String::from_utf8_lossy(&response[9..]).parse().unwrap()
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_rejected() {
    let url = serve(server().0).await;
    assert_eq!(status(&url, "").await, 200);
    assert_eq!(status(&url, "Host: localhost\r\n").await, 200);
    assert_eq!(status(&url, "Origin: http://localhost:5173\r\n").await, 200);
    assert_eq!(status(&url, "Host: evil.example\r\n").await, 403);
    assert_eq!(status(&url, "Host: 127.0.0.1.evil.example\r\n").await, 403);
    for origin in ["http://evil.example", "null", "http://localhost.evil.example", "nonsense"] {
        assert_eq!(status(&url, &format!("Origin: {origin}\r\n")).await, 403, "{origin}");
    }
    let open = server().0.allow_host("tools.example").allow_origin("https://app.example:443");
    let url = serve(open).await;
    assert_eq!(status(&url, "Host: tools.example\r\nOrigin: https://app.example\r\n").await, 200);
    assert_eq!(status(&url, "Host: tools.example\r\nOrigin: http://app.example\r\n").await, 403);
}

#[tokio::test]
async fn ambiguous_host_and_origin_are_rejected() {
    let url = serve(server().0).await;
    let (local, evil) = ("Host: localhost\r\n", "Host: evil.example\r\n");
    for (target, headers, expected) in [
        ("/mcp", format!("{local}{evil}"), 400),
        ("/mcp", format!("{local}{local}"), 400),
        ("/mcp", "Host: localhost:abc\r\n".to_owned(), 400),
        ("/mcp", "Host: [::1].evil.example\r\n".to_owned(), 400),
        ("http://evil.example/mcp", local.to_owned(), 400),
        ("http://localhost/mcp", local.to_owned(), 200),
        ("/mcp", format!("{local}Origin: http://localhost\r\nOrigin: http://evil.example\r\n"), 403),
        ("/mcp", format!("{local}Origin: http://[::1].evil.example\r\n"), 403),
        ("/mcp", format!("{local}Origin: http://localhost#@evil.example\r\n"), 403),
        ("/mcp", format!("{local}Origin: http://localhost/x\r\n"), 403),
        ("/mcp", format!("{local}Origin: http://[::1]:5173\r\n"), 200),
    ] {
        assert_eq!(status_at(target, &url, &headers).await, expected, "{target} {headers:?}");
    }
}

#[tokio::test]
async fn bearer_token_is_required() {
    let url = serve(server().0.bearer("s3cret")).await;
    for (header, expected) in [
        ("", 401),
        ("Authorization: Bearer s3cret\r\n", 200),
        ("Authorization: bearer s3cret\r\n", 200),
        ("Authorization: Bearer s3cre\r\n", 401),
        ("Authorization: Bearer s3cret2\r\n", 401),
        ("Authorization: Bearer\r\n", 401),
        ("Authorization: Basic s3cret\r\n", 401),
    ] {
        assert_eq!(status(&url, header).await, expected, "{header:?}");
    }
    for era in [Era::Sessions, Era::Alone] {
        assert!(Client::at(&url, Person::Absent, era, "").await.is_err());
        let client = Client::at(&url, Person::Absent, era, "s3cret").await.unwrap();
        assert_eq!(client.text("add", json!({"a": 1, "b": 1})).await.0, "{\"sum\":2}");
    }
}

#[tokio::test]
async fn call_runs_for_its_principal() {
    let (server, _) = server();
    let url = serve(server.principal(|parts| {
        let token = parts.headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")?;
        let all = Principal::new(token.to_owned()).with_scopes(["read", "write"]);
        match token {
            "alice" => Some(all),
            "bob" => Some(all.with_tools(["who"])),
            _ => None,
        }
    }));
    let url = url.await;
    for era in [Era::Sessions, Era::Alone] {
        let alice = Client::at(&url, Person::Absent, era, "alice").await.unwrap();
        let bob = Client::at(&url, Person::Absent, era, "bob").await.unwrap();
        assert!(Client::at(&url, Person::Absent, era, "mallory").await.is_err());
        assert_eq!(alice.text("who", json!({})).await.0, "alice");
        assert_eq!(bob.text("who", json!({})).await.0, "bob");
        assert_eq!(alice.names().await.len(), 10);
        assert_eq!(bob.names().await, ["who"]);
        let (text, is_error) = bob.text("draw", json!({})).await;
        assert!(is_error && text.contains("does not have access"), "{text}");
    }
}

/// Another principal who learns the ID of a session cannot use it.
#[tokio::test]
async fn session_is_restricted_to_its_principal() {
    let (server, _) = server();
    let url = serve(server.principal(|parts| {
        let token = parts.headers.get("authorization")?.to_str().ok()?.to_owned();
        Some(Principal::new(token).with_scopes(["read", "write"]))
    }))
    .await;
    // Another test may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::new();
    let post = |who: &str, session: Option<String>, body: Value| {
        let mut request = http
            .post(&url)
            .header("authorization", who)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(body.to_string());
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send()
    };
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}});
    let started =
        post("alice", None, json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
    let started = started.await.unwrap();
    let session = started.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "who", "arguments": {}}});
    let mine = post("alice", Some(session.clone()), call(2)).await.unwrap().text().await.unwrap();
    assert!(mine.contains("alice"), "{mine}");
    let theirs = post("mallory", Some(session.clone()), call(3)).await.unwrap().text().await.unwrap();
    assert!(theirs.contains("belongs to another caller") && !theirs.contains("mallory"), "{theirs}");
    // Another principal cannot read the session's stream, end the session, or cancel its calls either.
    let plain = session.split('.').next().unwrap().to_owned();
    for id in [&session, &plain, &format!("{plain}.x.y")] {
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
        let ping = json!({"jsonrpc": "2.0", "id": 4, "method": "ping"});
        for body in [cancel, ping] {
            assert_eq!(post("mallory", Some(id.clone()), body).await.unwrap().status(), 404);
        }
        for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
            let request = http.request(method, &url).header("authorization", "mallory");
            let request = request.header("accept", "text/event-stream").header("mcp-session-id", id);
            assert_eq!(request.send().await.unwrap().status(), 404);
        }
    }
    let mine = post("alice", Some(session), call(5)).await.unwrap().text().await.unwrap();
    assert!(mine.contains("alice"), "{mine}");
}

#[tokio::test]
async fn server_without_a_token_is_local_only() {
    let reason = server().0.http("0.0.0.0:0").await.unwrap_err().to_string();
    assert!(reason.contains("anyone who can reach") && reason.contains("bearer token"), "{reason}");
    let (server, _) = server();
    let open = server.bearer("x").http("0.0.0.0:0");
    assert!(tokio::time::timeout(Duration::from_millis(200), open).await.is_err(), "it serves");
}
