//! Resource limits for clients.

use reqwest::{Client, Response, StatusCode};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use toolgen_runtime::call::principal::Principal;

use crate::prelude::*;
use crate::serve::client::serve;
use crate::serve::ending;
use crate::serve::tools::server;

/// A client that writes the protocol by hand.
pub(super) struct Raw {
    pub(super) http: Client,
    pub(super) url: String,
}

impl Raw {
    pub(super) async fn of(server: Server) -> Raw {
        Raw::at(serve(server).await)
    }

    fn at(url: String) -> Raw {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Raw { http: Client::new(), url }
    }

    pub(super) async fn post(&self, who: &str, session: Option<&str>, body: &Value) -> Response {
        let mut request = self.http.post(&self.url).header("authorization", who);
        request = request.header("accept", "application/json, text/event-stream");
        request = request.header("content-type", "application/json").body(body.to_string());
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send().await.unwrap()
    }

    pub(super) async fn begin(&self, who: &str) -> Result<String, (StatusCode, String)> {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let response = self.post(who, None, &body).await;
        if response.status() != 200 {
            assert!(response.headers().contains_key("retry-after"));
            return Err((response.status(), response.text().await.unwrap()));
        }
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let started = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(who, Some(&session), &started).await.status(), 202);
        Ok(session)
    }

    /// Calls a tool in a session. The head of the response arrives before the tool completes.
    pub(super) async fn call(&self, who: &str, session: &str, tool: &str) -> Response {
        let params = json!({"name": tool, "arguments": {}});
        self.post(
            who,
            Some(session),
            &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}),
        )
        .await
    }

    pub(super) async fn status(&self, who: &str, session: &str) -> u16 {
        self.post(who, Some(session), &json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}))
            .await
            .status()
            .as_u16()
    }
}

#[tokio::test]
async fn new_session_evicts_the_least_recently_used_idle_one() {
    let raw = Raw::of(server().0.max_sessions(3)).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(raw.begin("").await.unwrap());
    }
    // The first session was used last; in the second, a call runs.
    assert_eq!(raw.status("", &sessions[0]).await, 200);
    let running = raw.call("", &sessions[1], "hang").await;
    for _ in 0..20 {
        sessions.push(raw.begin("").await.unwrap());
    }
    assert_eq!(raw.status("", &sessions[1]).await, 200);
    assert_eq!(raw.status("", &sessions[0]).await, 404);
    for (number, session) in sessions.iter().enumerate().skip(2) {
        assert_eq!(raw.status("", session).await, if number < 21 { 404 } else { 200 }, "{number}");
    }
    let others = [raw.call("", &sessions[21], "hang").await, raw.call("", &sessions[22], "hang").await];
    let (status, text) = raw.begin("").await.unwrap_err();
    assert_eq!(status, 503);
    assert!(text.contains("busy") && text.contains("retry later"), "{text}");
    for session in [&sessions[1], &sessions[21], &sessions[22]] {
        assert_eq!(raw.status("", session).await, 200);
    }
    // A cancelled call makes room for another session.
    let params = json!({"requestId": 2});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    raw.post("", Some(&sessions[1]), &cancel).await;
    let again = async { while raw.begin("").await.is_err() {} };
    timeout(Duration::from_secs(10), again).await.unwrap();
    drop((running, others));
}

#[tokio::test]
async fn principal_cannot_exhaust_sessions_of_others() {
    let server = server().0.max_sessions(4).max_sessions_per_principal(2).principal(|parts| {
        let token = parts.headers.get("authorization")?.to_str().ok()?.to_owned();
        Some(Principal::new(token).with_scopes(["read", "write"]))
    });
    let raw = Raw::of(server).await;
    let hers = raw.begin("alice").await.unwrap();
    let mut his = Vec::new();
    for _ in 0..10 {
        his.push(raw.begin("bob").await.unwrap());
    }
    assert_eq!(raw.status("alice", &hers).await, 200);
    assert_eq!((raw.status("bob", &his[7]).await, raw.status("bob", &his[8]).await), (404, 200));
    let running = [raw.call("bob", &his[8], "hang").await, raw.call("bob", &his[9], "hang").await];
    assert_eq!(raw.begin("bob").await.unwrap_err().0, 429);
    assert_eq!(raw.status("alice", &hers).await, 200);
    drop(running);
}

/// Sends bytes, and returns the response until the connection ends.
async fn exchange(url: &str, sent: &[u8]) -> String {
    let mut stream = TcpStream::connect(address(url)).await.unwrap();
    stream.write_all(sent).await.unwrap();
    let mut got = Vec::new();
    timeout(Duration::from_secs(10), stream.read_to_end(&mut got)).await.expect("it ends").unwrap();
    String::from_utf8(got).unwrap()
}

fn address(url: &str) -> &str {
    url.trim_start_matches("http://").trim_end_matches("/mcp")
}

#[tokio::test]
async fn incomplete_request_times_out() {
    let url = serve(server().0.read_timeout(Duration::from_millis(200))).await;
    for head in ["", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        let got = exchange(&url, head.as_bytes()).await;
        assert!(!got.contains(" 200 "), "{got}");
    }
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
                Content-Type: application/json\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{";
    let got = exchange(&url, head.as_bytes()).await;
    assert!(got.starts_with("HTTP/1.1 408 ") && got.contains("200ms"), "{got}");
}

#[tokio::test]
async fn oversized_request_is_rejected() {
    let raw = Raw::of(server().0.max_request_bytes(1_000)).await;
    let response = raw.post("", None, &json!("x".repeat(1_000))).await;
    assert_eq!(response.status(), 413);
    assert!(response.text().await.unwrap().contains("1000 bytes"));
    assert!(raw.begin("").await.is_ok());
}

#[tokio::test]
async fn excess_connection_is_rejected_with_a_message() {
    let url = serve(server().0.max_connections(2)).await;
    let held =
        [TcpStream::connect(address(&url)).await.unwrap(), TcpStream::connect(address(&url)).await.unwrap()];
    // After both were accepted.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let got = exchange(&url, b"").await;
    assert!(got.starts_with("HTTP/1.1 503 ") && got.contains("Retry later"), "{got}");
    drop(held);
    let raw = Raw::at(url);
    let again =
        async { while raw.http.get(&raw.url).send().await.is_ok_and(|response| response.status() == 503) {} };
    timeout(Duration::from_secs(10), again).await.unwrap();
}

#[tokio::test]
async fn abandoned_calls_count_towards_the_call_limit() {
    let (server, received) = server();
    let raw = Raw::of(server.max_calls(3)).await;
    let sessions = [raw.begin("").await.unwrap(), raw.begin("").await.unwrap()];
    let start = async |session: &str, id: u32| {
        let params = json!({"name": "hang", "arguments": {}});
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        raw.post("", Some(session), &body).await
    };
    for id in 10..13 {
        // The connection ends, but the call continues.
        drop(start(&sessions[0], id).await);
    }
    for session in &sessions {
        let refused = timeout(Duration::from_secs(10), start(session, 20).await.text()).await;
        let refused = refused.expect("it does not run").unwrap();
        assert!(
            refused.contains("-32603") && refused.contains("Retry when a call has completed"),
            "{refused}"
        );
    }
    assert!(!received.0.load(Ordering::SeqCst));
    // Other requests are answered, and a cancelled call makes room for another one.
    assert_eq!(raw.status("", &sessions[0]).await, 200);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 11}});
    raw.post("", Some(&sessions[0]), &cancel).await;
    let again = async {
        loop {
            let mut response = raw.call("", &sessions[1], "add").await;
            let mut text = String::new();
            while let Some(chunk) = response.chunk().await.unwrap() {
                text.push_str(&String::from_utf8_lossy(&chunk));
            }
            if !text.contains("limit of concurrent calls") {
                return text;
            }
        }
    };
    let text = timeout(Duration::from_secs(10), again).await.unwrap();
    assert!(text.contains("Invalid arguments"), "{text}");
}

#[tokio::test]
async fn client_not_reading_stops_being_read() {
    const MOST: usize = 6_000;
    let mut client = ending::Raw::start();
    client.begins().await;
    let pad = "x".repeat(1_000);
    let mut sent = 0;
    loop {
        let list = json!({"jsonrpc": "2.0", "id": sent + 1, "method": "tools/list", "params": {"_meta": {"pad": pad}}});
        let line = format!("{list}\n");
        if sent == MOST || timeout(Duration::from_secs(1), client.writes(line.as_bytes())).await.is_err() {
            break;
        }
        sent += 1;
    }
    // A thousand unread messages, and those that the pipe holds.
    assert!((1_000..MOST).contains(&sent), "{sent} requests were taken");
    for _ in 0..sent {
        timeout(Duration::from_secs(5), client.hears("\"tools\"")).await.expect("each is answered");
    }
}

#[tokio::test]
async fn client_not_reading_loses_its_connection() {
    let url = serve(server().0.max_connections(1).read_timeout(Duration::from_millis(300))).await;
    let mut deaf = TcpStream::connect(address(&url)).await.unwrap();
    let ask = "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1_000);
    let asks = async { while deaf.write_all(ask.as_bytes()).await.is_ok() {} };
    timeout(Duration::from_secs(15), asks).await.expect("the connection ends");
    // After its connection was closed.
    let raw = Raw::at(url);
    let again = async {
        while raw.http.get(&raw.url).send().await.map_or(true, |response| response.status() == 503) {}
    };
    timeout(Duration::from_secs(10), again).await.unwrap();
}
