//! A server on the loopback interface that sends exactly the bytes of the test.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// A timeout that no test reaches.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The requests to a server, each on its own connection.
pub(super) struct Server {
    pub(super) url: String,
    requests: mpsc::UnboundedReceiver<ReceivedRequest>,
}

/// A request, and the connection for its response.
pub(super) struct ReceivedRequest {
    pub(super) method: String,
    /// The path and the query.
    #[cfg_attr(not(feature = "oauth"), allow(dead_code, reason = "only the tests of OAuth look at it"))]
    pub(super) path: String,
    head: String,
    /// The raw body, and the body as JSON if it is JSON.
    pub(super) text: String,
    pub(super) body: Value,
    connection: TcpStream,
}

impl Server {
    pub(super) async fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let sender = sender.clone();
                tokio::spawn(async move {
                    if let Some(request) = ReceivedRequest::read(connection).await {
                        let _ = sender.send(request);
                    }
                });
            }
        });
        Server { url, requests }
    }

    pub(super) async fn next(&mut self) -> ReceivedRequest {
        timeout(TEST_TIMEOUT, self.requests.recv()).await.expect("no request arrived").unwrap()
    }

    pub(super) async fn receives_nothing(&mut self) -> bool {
        timeout(Duration::from_millis(100), self.requests.recv()).await.is_err()
    }
}

impl ReceivedRequest {
    async fn read(mut connection: TcpStream) -> Option<ReceivedRequest> {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
                break end + 4;
            }
            if connection.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut parts = head.split(' ').map(str::to_owned);
        let (method, path) = (parts.next()?, parts.next()?);
        let mut request =
            ReceivedRequest { method, path, head, text: String::new(), body: Value::Null, connection };
        let length: usize = request.header("content-length").map_or(0, |length| length.parse().unwrap());
        while bytes.len() < end + length {
            request.connection.read_buf(&mut bytes).await.ok()?;
        }
        request.text = String::from_utf8(bytes[end..].to_vec()).unwrap();
        request.body = serde_json::from_str(&request.text).unwrap_or_default();
        Some(request)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) {
        self.connection.write_all(bytes).await.unwrap();
    }

    /// Responds with a status, headers with line ends, and a body.
    pub(super) async fn respond(mut self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.write(text.as_bytes()).await;
    }

    pub(super) async fn json(self, body: &Value) {
        self.respond("200 OK", "content-type: application/json\r\n", &body.to_string()).await;
    }

    /// Starts an event stream, which ends with the connection.
    pub(super) async fn stream(mut self) -> ReceivedRequest {
        self.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n").await;
        self
    }

    pub(super) async fn event(&mut self, message: &Value) {
        self.write(format!("data: {message}\n\n").as_bytes()).await;
    }

    /// Waits until the client closes the connection.
    pub(super) async fn closed(mut self) {
        let mut buffer = [0; 64];
        let read = timeout(TEST_TIMEOUT, self.connection.read(&mut buffer))
            .await
            .expect("the connection stays open");
        assert!(matches!(read, Ok(0) | Err(_)), "{buffer:?}");
    }
}
