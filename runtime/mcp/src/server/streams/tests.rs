use std::pin::pin;
use std::task::Poll;

use rmcp::model::{EmptyObject, ServerResult};
use serde_json::json;
use tokio::io::DuplexStream;

use super::*;

type Piped = Streams<tokio::io::ReadHalf<DuplexStream>, tokio::io::WriteHalf<DuplexStream>>;

/// Reads messages while there are any.
async fn receive_all(streams: &mut Piped, handled: &mut VecDeque<IncomingMessage>) {
    let mut waited = 0;
    while waited < 3 {
        let mut next = pin!(streams.receive());
        match std::future::poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await {
            Poll::Ready(message) => handled.push_back(message.unwrap()),
            Poll::Pending => {
                waited += 1;
                tokio::task::yield_now().await;
            }
        }
    }
}

#[tokio::test]
async fn reading_pauses_while_many_messages_are_handled() {
    let (mut client, server) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(server);
    let mut streams = Streams::new(input, output, CancellationToken::new());
    streams.initialized = true;
    for id in 0..200 {
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        client.write_all(format!("{notification}\n{ping}\n").as_bytes()).await.unwrap();
    }
    let mut handled = VecDeque::new();
    receive_all(&mut streams, &mut handled).await;
    assert_eq!(handled.len(), slots::MAX_HANDLED);
    // A handled notification releases its slot; a request releases it when it is answered.
    handled.drain(..10);
    receive_all(&mut streams, &mut handled).await;
    assert_eq!(handled.len(), slots::MAX_HANDLED - 5);
    for id in 0..5 {
        let result = ServerResult::EmptyResult(EmptyObject {});
        streams.send(JsonRpcMessage::response(result, NumberOrString::Number(id))).await.unwrap();
    }
    receive_all(&mut streams, &mut handled).await;
    assert_eq!(handled.len(), slots::MAX_HANDLED);
}
