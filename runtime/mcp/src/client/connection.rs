//! Sends requests over a connection to an MCP server and awaits each response under the request's own timeouts.
//!
//! Requests run concurrently; no lock is held while one is in flight. A request that is dropped is cancelled at the
//! server (`notifications/cancelled`).

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep_until};
use toolgen_kernel::base::future::BoxFuture;

use super::inbox::{Inbox, OnProgress, Reply, Ticket};

/// How long to wait after a disconnect for the transport to report whether a message was written.
const WRITE_STATUS_TIMEOUT: Duration = Duration::from_secs(3);
/// A timeout that never elapses.
const NO_TIMEOUT: Duration = Duration::from_secs(365 * 86_400);

/// Carries messages to a server, and puts its messages into the [`Inbox`]. Dropping a transport stops everything that
/// it has started.
pub(super) trait Transport: Send + Sync {
    /// Sends a message. Several messages may be in flight concurrently; their order is preserved.
    ///
    /// A response is put into the inbox, possibly before this future completes. The future may be dropped: the
    /// message is then sent completely or not at all.
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), TransportError>>;

    /// Notifies the server, without waiting, that a request was cancelled.
    fn cancel(&self, id: u64);

    /// Whether the connection ends when a message cannot be sent; the inbox then receives the reason.
    fn closes_on_send_error(&self) -> bool {
        false
    }

    /// Records the negotiated protocol version, such as `2025-11-25`.
    fn set_version(&self, version: &str) {
        let _ = version;
    }

    /// Whether arguments are also sent as headers.
    fn sends_argument_headers(&self) -> bool {
        false
    }

    /// Returns the headers that repeat arguments, if the tool's input schema requires them.
    ///
    /// # Errors
    ///
    /// Returns the reason if the schema's header annotations are invalid. Such a tool is not offered.
    fn argument_headers(&self, schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, String> {
        let _ = (schema, arguments);
        Ok(Vec::new())
    }

    /// Whether server-initiated messages can be received.
    fn receives_server_messages(&self) -> bool {
        true
    }

    /// Describes invalid output of the server, as the end of a sentence; empty if there was none.
    fn describe_output(&self) -> String {
        String::new()
    }

    /// Closes the connection gracefully, within a few seconds.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A message to a server.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "a pipe has no headers, and needs no more than the text")]
pub(super) struct Message {
    /// The message: one JSON object, without a line break.
    pub(super) text: String,
    /// The ID of a request.
    pub(super) id: Option<u64>,
    /// The method. Empty for a response to a server request.
    pub(super) method: &'static str,
    /// The name of the called tool.
    pub(super) name: Option<String>,
    /// Headers that repeat arguments, if the tool's schema requires them; for HTTP.
    pub(super) headers: Vec<(String, String)>,
}

/// Failure to send a message.
#[derive(Clone, Debug)]
pub(super) struct TransportError {
    /// Whether the server may have received the message, or part of it.
    pub(super) written: bool,
    /// The reason of the failure.
    pub(super) reason: String,
}

/// A connection to a server. Requests run concurrently, and no lock is held during a request.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) inbox: Inbox,
}

/// A request to a server.
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    /// Value of the header `Mcp-Name`: the name of a tool.
    pub(super) name: Option<String>,
    /// See [`Message::headers`].
    pub(super) headers: Vec<(String, String)>,
    /// Timeouts of the request.
    pub(super) timeouts: RequestTimeouts,
    /// Callback for progress.
    pub(super) on_progress: Option<OnProgress>,
}

/// Timeouts of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTimeouts {
    /// Idle timeout: maximum time without a response and without progress.
    pub(super) idle: Duration,
    /// Maximum total time.
    pub(super) total: Duration,
}

impl RequestTimeouts {
    /// No timeouts.
    pub(super) const UNLIMITED: RequestTimeouts = RequestTimeouts { idle: NO_TIMEOUT, total: NO_TIMEOUT };

    /// Uses `total` as both the total and the idle timeout.
    pub(super) fn of(total: Duration) -> RequestTimeouts {
        RequestTimeouts { idle: total, total }
    }
}

/// Failure of a request.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The server rejected the request.
    Refused {
        /// The error code.
        code: i64,
        /// The server's message.
        message: String,
        /// The server's additional data.
        data: Value,
    },
    /// The request was not sent, for this reason.
    NotSent(String),
    /// The request was sent, completely or in part, and there will be no response, for this reason.
    ConnectionLost(String),
    /// The response cannot be parsed, for this reason.
    Unparsable(String),
    /// The idle timeout elapsed. Holds the timeout and a description of stray responses, which may be empty.
    IdleTimeout(Duration, String),
    /// The total timeout elapsed. Holds the timeout and a description of stray responses, which may be empty.
    TotalTimeout(Duration, String),
}

impl Request {
    /// Creates a request without parameters.
    pub(super) fn new(method: &'static str, timeouts: RequestTimeouts) -> Request {
        Request { method, params: Map::new(), name: None, headers: Vec::new(), timeouts, on_progress: None }
    }

    /// Serializes the request with its ID.
    pub(super) fn message(mut self, id: u64) -> Message {
        if self.on_progress.is_some() {
            let meta = self.params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(meta) = meta {
                meta.insert("progressToken".to_owned(), Value::from(id));
            }
        }
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": self.method });
        // Empty parameters are omitted: some servers reject an empty object.
        if !self.params.is_empty() {
            message["params"] = Value::Object(self.params);
        }
        Message {
            text: message.to_string(),
            id: Some(id),
            method: self.method,
            name: self.name,
            headers: self.headers,
        }
    }
}

impl Connection {
    /// Sends a request and awaits its response. If the future is dropped before the response arrives, the request is
    /// cancelled at the server.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no result.
    pub(super) async fn request(&self, request: Request) -> Result<Value, Failure> {
        let timeouts = request.timeouts;
        let ticket = self.inbox.register(request.on_progress.clone()).map_err(Failure::NotSent)?;
        // These requests cannot be cancelled.
        let is_cancellable = !matches!(request.method, "initialize" | "server/discover");
        let sending = self.transport.send(request.message(ticket.id));
        let pending = PendingRequest { ticket, transport: &self.transport, is_cancellable };
        await_response(pending, sending, timeouts).await
    }

    /// Sends a notification, or a response to a server request.
    ///
    /// # Errors
    ///
    /// Returns the reason if the message was not sent.
    pub(super) async fn notify(
        &self,
        method: &'static str,
        mut message: Value,
    ) -> Result<(), TransportError> {
        message["jsonrpc"] = Value::from("2.0");
        let text = message.to_string();
        self.transport.send(Message { text, id: None, method, name: None, headers: Vec::new() }).await
    }
}

/// A pending request. Dropping it without a response cancels the request.
struct PendingRequest<'t> {
    ticket: Ticket,
    transport: &'t Arc<dyn Transport>,
    is_cancellable: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if self.is_cancellable && self.ticket.is_open() {
            self.transport.cancel(self.ticket.id);
        }
    }
}

/// Awaits the response while the request is sent, until a timeout elapses.
async fn await_response(
    mut pending: PendingRequest<'_>,
    sending: impl Future<Output = Result<(), TransportError>>,
    timeouts: RequestTimeouts,
) -> Result<Value, Failure> {
    let mut sending = pin!(sending);
    let started = Instant::now();
    let mut sleep = pin!(sleep_until(started + timeouts.idle.min(timeouts.total)));
    // Whether the message was written, the cause of a missing response, and whether both are final.
    let (mut written, mut cause, mut is_final) = (None, None, false);
    let failure = |written, cause| {
        Poll::Ready(Err(if written { Failure::ConnectionLost(cause) } else { Failure::NotSent(cause) }))
    };
    poll_fn(|cx| {
        if !is_final && let Poll::Ready(reply) = Pin::new(&mut pending.ticket.reply).poll(cx) {
            match reply {
                Ok(Reply::Result(result @ Value::Object(_))) => return Poll::Ready(Ok(result)),
                Ok(Reply::Result(_)) => {
                    let message = "its result is not an object".to_owned();
                    return Poll::Ready(Err(Failure::Refused { code: 0, message, data: Value::Null }));
                }
                Ok(Reply::Error { code, message, data }) => {
                    return Poll::Ready(Err(Failure::Refused { code, message, data }));
                }
                Ok(Reply::Unparsable(cause)) => return Poll::Ready(Err(Failure::Unparsable(cause))),
                Ok(Reply::Lost(reason)) => cause = Some(reason),
                Err(_) => cause = Some("the connection was dropped".to_owned()),
            }
            is_final = true;
            sleep.as_mut().reset(Instant::now() + WRITE_STATUS_TIMEOUT);
        }
        if written.is_none()
            && let Poll::Ready(outcome) = sending.as_mut().poll(cx)
        {
            written = Some(outcome.as_ref().map_or_else(|error| error.written, |()| true));
            if let Err(TransportError { reason, .. }) = outcome {
                cause.get_or_insert(reason);
                is_final |= !pending.transport.closes_on_send_error();
                sleep.as_mut().reset(Instant::now() + WRITE_STATUS_TIMEOUT);
            }
        }
        if let (Some(written), true) = (written, is_final) {
            return failure(written, cause.take().unwrap_or_default());
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if let Some(cause) = cause.take() {
                return failure(written.unwrap_or(true), cause);
            }
            let (now, last_activity) = (Instant::now(), pending.ticket.last_activity());
            if now >= started + timeouts.total {
                return Poll::Ready(Err(Failure::TotalTimeout(timeouts.total, pending.ticket.strays())));
            }
            if now >= last_activity + timeouts.idle {
                return Poll::Ready(Err(Failure::IdleTimeout(timeouts.idle, pending.ticket.strays())));
            }
            sleep.as_mut().reset((last_activity + timeouts.idle).min(started + timeouts.total));
        }
        Poll::Pending
    })
    .await
}
