//! Protocol version 2026-07-28: every request is self-contained.

use super::*;

#[tokio::test]
async fn request_headers_repeat_method_and_name() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
    let (ticket, sending) = wire.send("tools/call");
    let request = server.next().await;
    assert_eq!(request.method, "POST");
    for (name, value) in [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert_eq!(request.header("mcp-session-id"), None);
    assert_eq!(request.body["id"], ticket.id);
    request.json(&response(ticket.id, "one")).await;
    sending.await.unwrap();
    assert_eq!(result(ticket).await, "one");
}

#[tokio::test]
async fn notifications_precede_the_response_in_any_chunks() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
    let (count, on_progress) = counter();
    let (ticket, sending) = wire.send_with_progress("tools/call", Some(on_progress));
    let mut request = server.next().await.stream().await;
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
        request.write(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(result(ticket).await, "größer 😀");
    assert_eq!(count.load(Ordering::Relaxed), 2);
    assert_eq!(wire.inbox.changes(), 1);
}

#[tokio::test]
async fn response_is_accepted_on_its_own_stream_only() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
    let (first, _sending) = wire.send("tools/call");
    let mut first_stream = server.next().await.stream().await;
    let (second, _sending) = wire.send("tools/call");
    let second_request = server.next().await;
    let (third, _sending) = wire.send("tools/call");
    let mut third_stream = server.next().await.stream().await;

    // The response to the first request, on the connections of the second and the third.
    second_request.json(&response(first.id, "wrong")).await;
    third_stream.event(&response(first.id, "wrong")).await;
    third_stream.event(&json!({"id": first.id, "error": {"code": 1, "message": "wrong"}})).await;
    drop(third_stream);
    let reason = loss_reason(second).await;
    assert_eq!(
        reason,
        "the response ended without a JSON-RPC response; it contained the response to another request"
    );
    assert!(loss_reason(third).await.contains("the response to another request"));
    first_stream.event(&response(first.id, "right")).await;
    assert_eq!(result(first).await, "right");
}

#[tokio::test]
async fn interrupted_stream_fails_only_its_request() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
    let (other, _sending) = wire.send("tools/call");
    let other_request = server.next().await;
    let (ticket, _sending) = wire.send("tools/call");
    let mut request = server.next().await.stream().await;
    // A stream that could be resumed in older protocol versions.
    request.write(b"id: 1\ndata:\n\ndata: {\"jsonrpc\": \"2.0\", \"id\"").await;
    drop(request);
    assert_eq!(loss_reason(ticket).await, "the stream ended without a JSON-RPC response");
    assert!(server.receives_nothing().await);
    other_request.json(&response(other.id, "there")).await;
    assert_eq!(result(other).await, "there");
}

#[tokio::test]
async fn invalid_response_error_describes_it() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
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
        let (ticket, sending) = wire.send("tools/list");
        server.next().await.respond(status, headers, body).await;
        let reason = match sending.await {
            Ok(()) => loss_reason(ticket).await,
            Err(TransportError { written, reason }) => {
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
    let wire = Wire::with_version(MODERN, &server.url).await;
    for id in [json!(null), json!(1)] {
        let (ticket, sending) = wire.send("server/discover");
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
    let options = McpOptions { max_message: 1 << 10, ..local_options() };
    let wire = Wire::connect(&server_at(&server.url), &options).await.unwrap();
    wire.transport.set_version(MODERN);
    let large = "x".repeat(2 << 10);
    let (ticket, _sending) = wire.send("tools/list");
    server.next().await.json(&response(ticket.id, &large)).await;
    assert_eq!(loss_reason(ticket).await, "the response has more than 1024 bytes");
    let (ticket, _sending) = wire.send("tools/list");
    let mut request = server.next().await.stream().await;
    request.event(&response(ticket.id, &large)).await;
    assert_eq!(loss_reason(ticket).await, "the server sent an event of more than 1024 bytes");
    request.closed().await;
}

#[tokio::test]
async fn cancel_closes_the_stream() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
    let (ticket, sending) = wire.send("tools/call");
    let request = server.next().await.stream().await;
    sending.await.unwrap();
    wire.transport.cancel(ticket.id);
    request.closed().await;
    // A pending request is affected as well.
    let (ticket, _sending) = wire.send("tools/call");
    let request = server.next().await;
    wire.transport.cancel(ticket.id);
    request.closed().await;
    assert!(server.receives_nothing().await);
}

#[tokio::test]
async fn server_request_on_a_stream_fails_its_call() {
    let mut server = Server::start().await;
    let mut wire = Wire::with_version(MODERN, &server.url).await;
    let (ticket, sending) = wire.send("tools/call");
    drop(sending);
    let mut request = server.next().await.stream().await;
    request
        .event(&json!({"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {}}))
        .await;
    drop(request);
    assert!(loss_reason(ticket).await.ends_with("it contained a request of its own"));
    assert!(wire.server_messages.try_recv().is_err());
}

#[tokio::test]
async fn subscription_reports_changes_until_its_stream_closes() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
    let (ticket, sending) = wire.send("subscriptions/listen");
    let mut request = server.next().await.stream().await;
    assert_eq!(request.header("mcp-method"), Some("subscriptions/listen"));
    sending.await.unwrap();
    request.event(&json!({"method": "notifications/subscriptions/acknowledged", "params": {}})).await;
    for changes in 1..4 {
        request.event(&json!({"method": "notifications/tools/list_changed"})).await;
        timeout(TEST_TIMEOUT, async {
            while wire.inbox.changes() < changes {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }
    drop(request);
    loss_reason(ticket).await;
}

#[tokio::test]
async fn running_requests_end_with_the_transport() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
    let (_ticket, sending) = wire.send("tools/call");
    let request = server.next().await.stream().await;
    sending.await.unwrap();
    let Wire { transport, .. } = wire;
    drop(transport);
    request.closed().await;
}

#[tokio::test]
async fn annotated_arguments_are_sent_as_headers() {
    let mut server = Server::start().await;
    let wire = Wire::with_version(MODERN, &server.url).await;
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let headers = wire.transport.argument_headers(&schema, &json!({"region": "é"})).unwrap();
    let ticket = wire.inbox.register(None).unwrap();
    let text = json!({"jsonrpc": "2.0", "id": ticket.id, "method": "tools/call"}).to_string();
    let name = Some("t".to_owned());
    let _sending =
        wire.transport.send(Message { text, id: Some(ticket.id), method: "tools/call", name, headers });
    assert_eq!(server.next().await.header("mcp-param-region"), Some("=?base64?w6k=?="));
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "number", "x-mcp-header": "Region"}}});
    wire.transport.argument_headers(&schema, &Value::Null).unwrap_err();
    // Older protocol versions have no such headers.
    wire.transport.set_version(LEGACY);
    assert!(wire.transport.argument_headers(&schema, &Value::Null).unwrap().is_empty());
}
