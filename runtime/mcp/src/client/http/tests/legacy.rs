//! Protocol versions before 2026-07-28: sessions, a stream of server-initiated messages, and resumed streams.

use super::*;

/// Performs the handshake, in a session if there is one.
async fn shaken(server: &mut Server, session: &str) -> Wire {
    let wire = Wire::speaking("", &server.url).await;
    let (ticket, sending) = wire.ask("initialize");
    let asked = server.next().await;
    for name in ["mcp-session-id", "mcp-protocol-version", "mcp-method"] {
        assert_eq!(asked.header(name), None, "{name}");
    }
    let headers = format!("content-type: application/json\r\n{session}");
    asked.respond("200 OK", &headers, &answer(ticket.id, "hello").to_string()).await;
    sending.await.unwrap();
    result(ticket).await;
    wire.transport.agreed(LEGACY);
    wire
}

const IN_SESSION: &str = "Mcp-Session-Id: s-1\r\n";

/// Completes the handshake. If `listened`, the server offers a stream of its own. Returns the request for it.
async fn ready(server: &mut Server, wire: &Wire) -> Asked {
    let message = wire.tell("notifications/initialized");
    let accepted = async {
        let asked = server.next().await;
        assert_eq!(asked.body["method"], "notifications/initialized");
        asked.respond("202 Accepted", "", "").await;
    };
    let (message, ()) = tokio::join!(message, accepted);
    message.unwrap();
    let asked = server.next().await;
    assert_eq!((asked.method.as_str(), asked.header("accept")), ("GET", Some("text/event-stream")));
    asked
}

#[tokio::test]
async fn requests_carry_the_session_and_close_deletes_it() {
    let mut server = Server::start().await;
    let wire = shaken(&mut server, IN_SESSION).await;
    let listening = ready(&mut server, &wire).await;
    for name in [("mcp-session-id", "s-1"), ("mcp-protocol-version", LEGACY)] {
        assert_eq!(listening.header(name.0), Some(name.1));
    }
    listening.respond("405 Method Not Allowed", "", "").await;
    let (ticket, _sending) = wire.ask("tools/list");
    let asked = server.next().await;
    assert_eq!(asked.header("mcp-session-id"), Some("s-1"));
    asked.json(&answer(ticket.id, "tools")).await;
    assert_eq!(result(ticket).await, "tools");
    let end = async {
        let asked = server.next().await;
        assert_eq!((asked.method.as_str(), asked.header("mcp-session-id")), ("DELETE", Some("s-1")));
        asked.respond("200 OK", "", "").await;
    };
    tokio::join!(wire.transport.close(), end);
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn close_without_a_session_sends_nothing() {
    let mut server = Server::start().await;
    let wire = shaken(&mut server, "").await;
    wire.transport.close().await;
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn lost_session_closes_the_connection_before_the_request() {
    let mut server = Server::start().await;
    let wire = shaken(&mut server, IN_SESSION).await;
    let (other, _other_sending) = wire.ask("tools/call");
    let _at_other = server.next().await.stream().await;
    let (_ticket, sending) = wire.ask("tools/call");
    server.next().await.respond("404 Not Found", "", "no such session").await;
    let broken = sending.await.unwrap_err();
    assert!(!broken.written);
    assert_eq!(lost(other).await, "the server has ended the session");
    assert_eq!(wire.inbox.ended().as_deref(), Some("the server has ended the session"));
}

#[tokio::test]
async fn status_404_without_a_session_fails_only_its_request() {
    let mut server = Server::start().await;
    let wire = Wire::speaking("", &server.url).await;
    let (ticket, sending) = wire.ask("initialize");
    server.next().await.respond("404 Not Found", "", "").await;
    sending.await.unwrap();
    let reason = refused(ticket).await;
    assert!(reason.contains("Check that the URL is a Streamable HTTP endpoint"), "{reason}");
    assert_eq!(wire.inbox.ended(), None);
}

#[tokio::test]
async fn server_messages_arrive_and_their_stream_is_resumed() {
    let mut server = Server::start().await;
    let mut wire = shaken(&mut server, IN_SESSION).await;
    let mut listening = ready(&mut server, &wire).await.stream().await;
    listening.write(b"retry: 1\n\n").await;
    listening.event(&json!({"method": "notifications/tools/list_changed"})).await;
    listening.event(&json!({"jsonrpc": "2.0", "id": "a", "method": "ping"})).await;
    // The request is not answered here.
    let (ticket, sending) = wire.ask("tools/list");
    drop(sending);
    let at_ticket = server.next().await;
    listening.event(&answer(ticket.id, "wrong")).await;
    listening.write(b"id: e-1\ndata:\n\nid: e-2\ndata: half").await;
    drop(listening);
    let again = server.next().await;
    assert_eq!(again.header("last-event-id"), Some("e-1"));
    at_ticket.json(&answer(ticket.id, "right")).await;
    assert_eq!(result(ticket).await, "right");
    assert_eq!(wire.inbox.changes(), 1);
    assert!(
        matches!(wire.said.recv().await, Some(ServerMessage::Request { method, .. }) if method == "ping")
    );
}

#[tokio::test]
async fn interrupted_stream_resumes_after_the_retry_delay() {
    let mut server = Server::start().await;
    let wire = shaken(&mut server, IN_SESSION).await;
    let (count, on_progress) = counter();
    let (ticket, _sending) = wire.ask_heard("tools/call", Some(on_progress));
    let mut asked = server.next().await.stream().await;
    let progress =
        json!({"method": "notifications/progress", "params": {"progressToken": ticket.id, "progress": 1}});
    asked
        .write(format!("retry: 200\nid: 1\ndata:\n\nid: 2\ndata: {progress}\n\nid: 3\ndata: {{").as_bytes())
        .await;
    let before = tokio::time::Instant::now();
    drop(asked);
    let mut again = server.next().await;
    assert!(before.elapsed() >= Duration::from_millis(200));
    assert_eq!((again.method.as_str(), again.header("last-event-id")), ("GET", Some("2")));
    assert_eq!(again.header("mcp-session-id"), Some("s-1"));
    again = again.stream().await;
    again.write(b"id: 3\ndata:\n\n").await;
    drop(again);
    let mut again = server.next().await.stream().await;
    assert_eq!(again.header("last-event-id"), Some("3"));
    again.event(&answer(ticket.id, "done")).await;
    assert_eq!(result(ticket).await, "done");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn unresumable_stream_fails_its_request() {
    let mut server = Server::start().await;
    let wire = shaken(&mut server, IN_SESSION).await;
    for (prime, expected) in [
        (
            "id: 1\nretry: 1\ndata:\n\n",
            "the stream ended without a JSON-RPC response, and the server does not resume it: status 405 Method Not \
             Allowed",
        ),
        ("data: {}\n\n", "the stream ended without a JSON-RPC response; it contained an invalid message"),
    ] {
        let (ticket, _sending) = wire.ask("tools/call");
        let mut asked = server.next().await.stream().await;
        asked.write(prime.as_bytes()).await;
        drop(asked);
        if prime.starts_with("id") {
            server.next().await.respond("405 Method Not Allowed", "", "").await;
        }
        assert_eq!(lost(ticket).await, expected);
    }
}

#[tokio::test]
async fn cancel_sends_a_notification() {
    let mut server = Server::start().await;
    let wire = shaken(&mut server, IN_SESSION).await;
    let (ticket, sending) = wire.ask("tools/call");
    let asked = server.next().await.stream().await;
    sending.await.unwrap();
    wire.transport.cancel(ticket.id);
    let message = server.next().await;
    assert_eq!(message.body["method"], "notifications/cancelled");
    assert_eq!(message.body["params"]["requestId"], ticket.id);
    assert_eq!(message.header("mcp-session-id"), Some("s-1"));
    message.respond("202 Accepted", "", "").await;
    asked.closed().await;
}

#[tokio::test]
async fn rejected_notification_is_an_error() {
    let mut server = Server::start().await;
    let wire = shaken(&mut server, "").await;
    let refuse = async { server.next().await.respond("400 Bad Request", "", "no").await };
    let (message, ()) = tokio::join!(wire.tell("notifications/initialized"), refuse);
    assert!(message.unwrap_err().why.contains("status 400 Bad Request: no"));
    // No stream is requested.
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn batched_responses_are_accepted() {
    let mut server = Server::start().await;
    let wire = shaken(&mut server, "").await;
    let (ticket, _sending) = wire.ask("tools/list");
    let changed = json!({"method": "notifications/tools/list_changed"});
    server.next().await.json(&json!([changed, answer(99, "wrong"), answer(ticket.id, "right")])).await;
    assert_eq!(result(ticket).await, "right");
    assert_eq!(wire.inbox.changes(), 1);
}
