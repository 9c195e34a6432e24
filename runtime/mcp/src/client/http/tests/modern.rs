//! Protocol version 2026-07-28: every request is self-contained.

use super::*;

#[tokio::test]
async fn request_headers_repeat_method_and_name() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    let (ticket, sending) = wire.ask("tools/call");
    let asked = server.next().await;
    assert_eq!(asked.method, "POST");
    for (name, value) in [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ] {
        assert_eq!(asked.header(name), Some(value), "{name}");
    }
    assert_eq!(asked.header("mcp-session-id"), None);
    assert_eq!(asked.body["id"], ticket.id);
    asked.json(&answer(ticket.id, "one")).await;
    sending.await.unwrap();
    assert_eq!(result(ticket).await, "one");
}

#[tokio::test]
async fn notifications_precede_the_response_in_any_chunks() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    let (count, on_progress) = counter();
    let (ticket, sending) = wire.ask_heard("tools/call", Some(on_progress));
    let mut asked = server.next().await.stream().await;
    // The request is reported as delivered before its response starts.
    sending.await.unwrap();
    let progress =
        json!({"method": "notifications/progress", "params": {"progressToken": ticket.id, "progress": 1}});
    let changed = json!({"method": "notifications/tools/list_changed"});
    let stream = format!(
        ": hello\r\n\r\nevent: ping\ndata: {{}}\n\ndata: {progress}\r\n\r\ndata: {progress}\r\rdata: {changed}\n\n\
         event: message\r\ndata: {{\"jsonrpc\": \"2.0\",\r\ndata: \"id\": {}, \"result\": \"größer 😀\"}}\r\n\r\n",
        ticket.id
    );
    for byte in stream.as_bytes() {
        asked.write(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(result(ticket).await, "größer 😀");
    assert_eq!(count.load(Ordering::Relaxed), 2);
    assert_eq!(wire.inbox.changes(), 1);
}

#[tokio::test]
async fn response_is_accepted_on_its_own_stream_only() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    let (first, _sending) = wire.ask("tools/call");
    let mut at_first = server.next().await.stream().await;
    let (second, _sending) = wire.ask("tools/call");
    let at_second = server.next().await;
    let (third, _sending) = wire.ask("tools/call");
    let mut at_third = server.next().await.stream().await;

    // The response to the first request, on the connections of the second and the third.
    at_second.json(&answer(first.id, "wrong")).await;
    at_third.event(&answer(first.id, "wrong")).await;
    at_third.event(&json!({"id": first.id, "error": {"code": 1, "message": "wrong"}})).await;
    drop(at_third);
    let reason = lost(second).await;
    assert_eq!(
        reason,
        "the response ended without a JSON-RPC response; it contained the response to another request"
    );
    assert!(lost(third).await.contains("the response to another request"));
    at_first.event(&answer(first.id, "right")).await;
    assert_eq!(result(first).await, "right");
}

#[tokio::test]
async fn interrupted_stream_fails_only_its_request() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    let (other, _sending) = wire.ask("tools/call");
    let at_other = server.next().await;
    let (ticket, _sending) = wire.ask("tools/call");
    let mut asked = server.next().await.stream().await;
    // A stream that could be resumed in older protocol versions.
    asked.write(b"id: 1\ndata:\n\ndata: {\"jsonrpc\": \"2.0\", \"id\"").await;
    drop(asked);
    assert_eq!(lost(ticket).await, "the stream ended without a JSON-RPC response");
    assert!(server.is_left_alone().await);
    at_other.json(&answer(other.id, "there")).await;
    assert_eq!(result(other).await, "there");
}

#[tokio::test]
async fn invalid_response_error_describes_it() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    for (status, headers, body, expected) in [
        ("200 OK", "content-type: application/json\r\n", "{\"id\":", "is not JSON"),
        ("200 OK", "content-type: text/html\r\n", "<p>hello</p>", "answered with `text/html`"),
        ("202 Accepted", "", "", "with status 202 Accepted and without a response"),
        (
            "503 Service Unavailable",
            "retry-after: 7\r\n",
            "too\nbusy",
            "503 Service Unavailable (retry after 7): too busy",
        ),
        (
            "200 OK",
            "content-type: application/json\r\ncontent-encoding: gzip\r\n",
            "no gzip",
            "was interrupted",
        ),
    ] {
        let (ticket, sending) = wire.ask("tools/list");
        server.next().await.respond(status, headers, body).await;
        let reason = match sending.await {
            Ok(()) => lost(ticket).await,
            Err(Broken { written, why: reason }) => {
                assert!(written);
                reason
            }
        };
        assert!(reason.contains(expected), "{reason}");
    }
}

#[tokio::test]
async fn error_status_without_an_id_fails_its_request() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    for id in [json!(null), json!(1)] {
        let (ticket, sending) = wire.ask("server/discover");
        let body =
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32022, "message": "no", "data": {"x": 1}}});
        server.next().await.respond("400 Bad Request", "", &body.to_string()).await;
        sending.await.unwrap();
        match reply(ticket).await {
            Reply::Error { code, message, data } => {
                assert_eq!((code, message.as_str(), data), (-32022, "no", json!({"x": 1})));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn oversized_response_is_not_read() {
    let mut server = Server::start().await;
    let options = McpOptions { max_message: 1 << 10, ..open() };
    let wire = Wire::to(&server_at(&server.url), &options).await.unwrap();
    wire.transport.agreed(MODERN);
    let large = "x".repeat(2 << 10);
    let (ticket, _sending) = wire.ask("tools/list");
    server.next().await.json(&answer(ticket.id, &large)).await;
    assert_eq!(lost(ticket).await, "the response has more than 1024 bytes");
    let (ticket, _sending) = wire.ask("tools/list");
    let mut asked = server.next().await.stream().await;
    asked.event(&answer(ticket.id, &large)).await;
    assert_eq!(lost(ticket).await, "the server sent an event of more than 1024 bytes");
    asked.closed().await;
}

#[tokio::test]
async fn cancel_closes_the_stream() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    let (ticket, sending) = wire.ask("tools/call");
    let asked = server.next().await.stream().await;
    sending.await.unwrap();
    wire.transport.cancel(ticket.id);
    asked.closed().await;
    // A pending request is affected as well.
    let (ticket, _sending) = wire.ask("tools/call");
    let asked = server.next().await;
    wire.transport.cancel(ticket.id);
    asked.closed().await;
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn server_request_on_a_stream_fails_its_call() {
    let mut server = Server::start().await;
    let mut wire = Wire::speaking(MODERN, &server.url).await;
    let (ticket, sending) = wire.ask("tools/call");
    drop(sending);
    let mut asked = server.next().await.stream().await;
    asked.event(&json!({"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {}})).await;
    drop(asked);
    assert!(lost(ticket).await.ends_with("it contained a request of its own"));
    assert!(wire.said.try_recv().is_err());
}

#[tokio::test]
async fn subscription_reports_changes_until_its_stream_closes() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    let (ticket, sending) = wire.ask("subscriptions/listen");
    let mut asked = server.next().await.stream().await;
    assert_eq!(asked.header("mcp-method"), Some("subscriptions/listen"));
    sending.await.unwrap();
    asked.event(&json!({"method": "notifications/subscriptions/acknowledged", "params": {}})).await;
    for changes in 1..4 {
        asked.event(&json!({"method": "notifications/tools/list_changed"})).await;
        timeout(SOON, async {
            while wire.inbox.changes() < changes {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }
    drop(asked);
    lost(ticket).await;
}

#[tokio::test]
async fn running_requests_end_with_the_transport() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    let (_ticket, sending) = wire.ask("tools/call");
    let asked = server.next().await.stream().await;
    sending.await.unwrap();
    let Wire { transport, .. } = wire;
    drop(transport);
    asked.closed().await;
}

#[tokio::test]
async fn annotated_arguments_are_sent_as_headers() {
    let mut server = Server::start().await;
    let wire = Wire::speaking(MODERN, &server.url).await;
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let headers = wire.transport.repeated(&schema, &json!({"region": "é"})).unwrap();
    let ticket = wire.inbox.expect(None).unwrap();
    let text = json!({"jsonrpc": "2.0", "id": ticket.id, "method": "tools/call"}).to_string();
    let name = Some("t".to_owned());
    let _sending =
        wire.transport.send(Message { text, id: Some(ticket.id), method: "tools/call", name, headers });
    assert_eq!(server.next().await.header("mcp-param-region"), Some("=?base64?w6k=?="));
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "number", "x-mcp-header": "Region"}}});
    wire.transport.repeated(&schema, &Value::Null).unwrap_err();
    // Older protocol versions have no such headers.
    wire.transport.agreed(LEGACY);
    assert!(wire.transport.repeated(&schema, &Value::Null).unwrap().is_empty());
}
