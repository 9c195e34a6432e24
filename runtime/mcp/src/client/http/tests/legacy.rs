//! Protocol versions before 2026-07-28: sessions, a stream of server-initiated messages, and resumed streams.

use super::*;

/// Performs the handshake, in a session if there is one.
async fn handshake(server: &mut Server, session: &str) -> Wire {
    let wire = Wire::with_version("", &server.url).await;
    let (ticket, sending) = wire.send("initialize");
    let request = server.next().await;
    for name in ["mcp-session-id", "mcp-protocol-version", "mcp-method"] {
        assert_eq!(request.header(name), None, "{name}");
    }
    let headers = format!("content-type: application/json\r\n{session}");
    request.respond("200 OK", &headers, &response(ticket.id, "hello").to_string()).await;
    sending.await.unwrap();
    result(ticket).await;
    wire.transport.set_version(LEGACY);
    wire
}

const IN_SESSION: &str = "Mcp-Session-Id: s-1\r\n";

/// Completes the handshake. Returns the client's request for the stream of server-initiated messages.
async fn initialized(server: &mut Server, wire: &Wire) -> ReceivedRequest {
    let message = wire.notify("notifications/initialized");
    let accepted = async {
        let request = server.next().await;
        assert_eq!(request.body["method"], "notifications/initialized");
        request.respond("202 Accepted", "", "").await;
    };
    let (message, ()) = tokio::join!(message, accepted);
    message.unwrap();
    let request = server.next().await;
    assert_eq!((request.method.as_str(), request.header("accept")), ("GET", Some("text/event-stream")));
    request
}

#[tokio::test]
async fn requests_carry_the_session_and_close_deletes_it() {
    let mut server = Server::start().await;
    let wire = handshake(&mut server, IN_SESSION).await;
    let message_stream = initialized(&mut server, &wire).await;
    for name in [("mcp-session-id", "s-1"), ("mcp-protocol-version", LEGACY)] {
        assert_eq!(message_stream.header(name.0), Some(name.1));
    }
    message_stream.respond("405 Method Not Allowed", "", "").await;
    let (ticket, _sending) = wire.send("tools/list");
    let request = server.next().await;
    assert_eq!(request.header("mcp-session-id"), Some("s-1"));
    request.json(&response(ticket.id, "tools")).await;
    assert_eq!(result(ticket).await, "tools");
    let end = async {
        let request = server.next().await;
        assert_eq!((request.method.as_str(), request.header("mcp-session-id")), ("DELETE", Some("s-1")));
        request.respond("200 OK", "", "").await;
    };
    tokio::join!(wire.transport.close(), end);
    assert!(server.receives_nothing().await);
}

#[tokio::test]
async fn close_without_a_session_sends_nothing() {
    let mut server = Server::start().await;
    let wire = handshake(&mut server, "").await;
    wire.transport.close().await;
    assert!(server.receives_nothing().await);
}

#[tokio::test]
async fn lost_session_closes_the_connection_before_the_request() {
    let mut server = Server::start().await;
    let wire = handshake(&mut server, IN_SESSION).await;
    let (other, _other_sending) = wire.send("tools/call");
    let _other_stream = server.next().await.stream().await;
    let (_ticket, sending) = wire.send("tools/call");
    server.next().await.respond("404 Not Found", "", "no such session").await;
    let error = sending.await.unwrap_err();
    assert!(!error.written);
    assert_eq!(loss_reason(other).await, "the server has ended the session");
    assert_eq!(wire.inbox.end_reason().as_deref(), Some("the server has ended the session"));
}

#[tokio::test]
async fn status_404_without_a_session_fails_only_its_request() {
    let mut server = Server::start().await;
    let wire = Wire::with_version("", &server.url).await;
    let (ticket, sending) = wire.send("initialize");
    server.next().await.respond("404 Not Found", "", "").await;
    sending.await.unwrap();
    let reason = rejection_message(ticket).await;
    assert!(reason.contains("Check that the URL is a Streamable HTTP endpoint"), "{reason}");
    assert_eq!(wire.inbox.end_reason(), None);
}

#[tokio::test]
async fn server_messages_arrive_and_their_stream_is_resumed() {
    let mut server = Server::start().await;
    let mut wire = handshake(&mut server, IN_SESSION).await;
    let mut message_stream = initialized(&mut server, &wire).await.stream().await;
    message_stream.write(b"retry: 1\n\n").await;
    message_stream.event(&json!({"method": "notifications/tools/list_changed"})).await;
    message_stream.event(&json!({"jsonrpc": "2.0", "id": "a", "method": "ping"})).await;
    // This stream does not hold the response to the request.
    let (ticket, sending) = wire.send("tools/list");
    drop(sending);
    let list_request = server.next().await;
    message_stream.event(&response(ticket.id, "wrong")).await;
    message_stream.write(b"id: e-1\ndata:\n\nid: e-2\ndata: half").await;
    drop(message_stream);
    let resumed = server.next().await;
    assert_eq!(resumed.header("last-event-id"), Some("e-1"));
    list_request.json(&response(ticket.id, "right")).await;
    assert_eq!(result(ticket).await, "right");
    assert_eq!(wire.inbox.changes(), 1);
    assert!(
        matches!(wire.server_messages.recv().await, Some(ServerMessage::Request { method, .. }) if method == "ping")
    );
}

#[tokio::test]
async fn interrupted_stream_resumes_after_the_retry_delay() {
    let mut server = Server::start().await;
    let wire = handshake(&mut server, IN_SESSION).await;
    let (count, on_progress) = counter();
    let (ticket, _sending) = wire.send_with_progress("tools/call", Some(on_progress));
    let mut request = server.next().await.stream().await;
    let progress =
        json!({"method": "notifications/progress", "params": {"progressToken": ticket.id, "progress": 1}});
    request
        .write(format!("retry: 200\nid: 1\ndata:\n\nid: 2\ndata: {progress}\n\nid: 3\ndata: {{").as_bytes())
        .await;
    let before = tokio::time::Instant::now();
    drop(request);
    let mut resumed = server.next().await;
    assert!(before.elapsed() >= Duration::from_millis(200));
    assert_eq!((resumed.method.as_str(), resumed.header("last-event-id")), ("GET", Some("2")));
    assert_eq!(resumed.header("mcp-session-id"), Some("s-1"));
    resumed = resumed.stream().await;
    resumed.write(b"id: 3\ndata:\n\n").await;
    drop(resumed);
    let mut resumed = server.next().await.stream().await;
    assert_eq!(resumed.header("last-event-id"), Some("3"));
    resumed.event(&response(ticket.id, "done")).await;
    assert_eq!(result(ticket).await, "done");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn unresumable_stream_fails_its_request() {
    let mut server = Server::start().await;
    let wire = handshake(&mut server, IN_SESSION).await;
    for (prime, expected) in [
        (
            "id: 1\nretry: 1\ndata:\n\n",
            "the stream ended without a JSON-RPC response, and the server does not resume it: status 405 Method Not \
             Allowed",
        ),
        ("data: {}\n\n", "the stream ended without a JSON-RPC response; it contained an invalid message"),
    ] {
        let (ticket, _sending) = wire.send("tools/call");
        let mut request = server.next().await.stream().await;
        request.write(prime.as_bytes()).await;
        drop(request);
        if prime.starts_with("id") {
            server.next().await.respond("405 Method Not Allowed", "", "").await;
        }
        assert_eq!(loss_reason(ticket).await, expected);
    }
}

#[tokio::test]
async fn cancel_sends_a_notification() {
    let mut server = Server::start().await;
    let wire = handshake(&mut server, IN_SESSION).await;
    let (ticket, sending) = wire.send("tools/call");
    let request = server.next().await.stream().await;
    sending.await.unwrap();
    wire.transport.cancel(ticket.id);
    let message = server.next().await;
    assert_eq!(message.body["method"], "notifications/cancelled");
    assert_eq!(message.body["params"]["requestId"], ticket.id);
    assert_eq!(message.header("mcp-session-id"), Some("s-1"));
    message.respond("202 Accepted", "", "").await;
    request.closed().await;
}

#[tokio::test]
async fn rejected_notification_is_an_error() {
    let mut server = Server::start().await;
    let wire = handshake(&mut server, "").await;
    let reject = async { server.next().await.respond("400 Bad Request", "", "no").await };
    let (message, ()) = tokio::join!(wire.notify("notifications/initialized"), reject);
    assert!(message.unwrap_err().reason.contains("status 400 Bad Request: no"));
    // No stream is requested.
    assert!(server.receives_nothing().await);
}

#[tokio::test]
async fn batched_responses_are_accepted() {
    let mut server = Server::start().await;
    let wire = handshake(&mut server, "").await;
    let (ticket, _sending) = wire.send("tools/list");
    let changed = json!({"method": "notifications/tools/list_changed"});
    server.next().await.json(&json!([changed, response(99, "wrong"), response(ticket.id, "right")])).await;
    assert_eq!(result(ticket).await, "right");
    assert_eq!(wire.inbox.changes(), 1);
}
