//! Requests to a server, each with its own answer and its own time, over whatever transport carries messages to it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep_until};
use toolgen_kernel::base::future::BoxFuture;

use super::inbox::{Inbox, OnNotice, Reply, Ticket};

/// How long a transport may take to say what became of a message, once the connection is gone.
const WRITE_STATUS_TIMEOUT: Duration = Duration::from_secs(3);
/// A duration that is never reached.
const NO_TIMEOUT: Duration = Duration::from_secs(365 * 86_400);

/// Carries messages to a server, and puts those from there into the [`Inbox`] that it was
/// started with, for as long as it lives; dropping it ends everything it started, at once.
pub(super) trait Transport: Send + Sync {
    /// Sends a message. Several may be in flight at the same time, in the order in which they were given.
    ///
    /// An answer goes to the inbox, possibly before this future is done. The future may be dropped; the message is
    /// then sent or not, as a whole.
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), Broken>>;

    /// Notifies the server, without waiting, that no caller is waiting for the answer to this request any longer.
    fn cancel(&self, id: u64);

    /// Whether the connection ends when a message cannot be sent; the inbox then gets the reason.
    fn breaks(&self) -> bool {
        false
    }

    /// Notes that both sides have agreed on a revision of the protocol, such as `2025-11-25`.
    fn agreed(&self, revision: &str) {
        let _ = revision;
    }

    /// Whether arguments are repeated in headers.
    fn repeats(&self) -> bool {
        false
    }

    /// Returns the headers that repeat arguments, if the input schema of the tool asks for them.
    ///
    /// # Errors
    ///
    /// Why the schema cannot ask for them. Such a tool is not offered.
    fn repeated(&self, schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, String> {
        let _ = (schema, arguments);
        Ok(Vec::new())
    }

    /// Whether the server can be heard when it says something of its own accord.
    fn hears(&self) -> bool {
        true
    }

    /// Returns what the server wrote that was no message, as the end of a sentence; empty if it did not.
    fn wrote(&self) -> String {
        String::new()
    }

    /// Ends the connection in an orderly way, within a few seconds.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A message to a server.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "a pipe has no headers, and needs no more than the text")]
pub(super) struct Message {
    /// The message: one JSON object, without a line break.
    pub(super) text: String,
    /// The ID, if the message is a request.
    pub(super) id: Option<u64>,
    /// The method. Empty for an answer to a request of the server.
    pub(super) method: &'static str,
    /// What is asked for: the name of the tool that is called.
    pub(super) name: Option<String>,
    /// Headers that repeat arguments, if the schema of the tool asks for them; for HTTP.
    pub(super) headers: Vec<(String, String)>,
}

/// Why a message was not sent.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    /// Whether the server may have received the message, or a part of it.
    pub(super) written: bool,
    /// What went wrong.
    pub(super) why: String,
}

/// A connection to a server. Any number of requests can be in flight at the same time, and no lock is held during
/// one.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) inbox: Inbox,
}

/// A request to a server.
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    /// What `Mcp-Name` says: the name of a tool.
    pub(super) name: Option<String>,
    /// See [`Message::headers`].
    pub(super) headers: Vec<(String, String)>,
    /// How long it may take.
    pub(super) timeouts: RequestTimeouts,
    /// The callback for its progress.
    pub(super) on_progress: Option<OnNotice>,
}

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTimeouts {
    /// How long it may be silent: without an answer and without progress.
    pub(super) idle: Duration,
    /// How long it may take in total.
    pub(super) total: Duration,
}

impl RequestTimeouts {
    /// No limits.
    pub(super) const ENDLESS: RequestTimeouts = RequestTimeouts { idle: NO_TIMEOUT, total: NO_TIMEOUT };

    /// This long in total, and as long without a sign of life.
    pub(super) fn of(total: Duration) -> RequestTimeouts {
        RequestTimeouts { idle: total, total }
    }
}

/// Why a request gave no result.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The server refuses it.
    Refused {
        /// The code of the error.
        code: i64,
        /// What the server says.
        message: String,
        /// What it says to machines.
        data: Value,
    },
    /// It was never sent, for this reason.
    NotSent(String),
    /// It was sent, or a part of it was, and there will be no answer, for this reason.
    ConnectionLost(String),
    /// Its answer cannot be read, for this reason.
    Unread(String),
    /// The server was silent for this long. What came instead of an answer, if anything did.
    Silent(Duration, String),
    /// It took longer than this limit. What came instead of an answer, if anything did.
    Late(Duration, String),
}

impl Request {
    /// Creates a request without parameters.
    pub(super) fn new(method: &'static str, patience: RequestTimeouts) -> Request {
        Request {
            method,
            params: Map::new(),
            name: None,
            headers: Vec::new(),
            timeouts: patience,
            on_progress: None,
        }
    }

    /// Writes the request with its ID.
    pub(super) fn message(mut self, id: u64) -> Message {
        if self.on_progress.is_some() {
            let meta = self.params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(meta) = meta {
                meta.insert("progressToken".to_owned(), Value::from(id));
            }
        }
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": self.method });
        // No parameters are left out: some servers refuse an empty object where they expect none.
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
    /// Makes a request. If the future is dropped before the answer is there, the server is notified that no caller is
    /// waiting for it any longer.
    ///
    /// # Errors
    ///
    /// Why there is no result.
    pub(super) async fn request(&self, request: Request) -> Result<Value, Failure> {
        let patience = request.timeouts;
        let ticket = self.inbox.expect(request.on_progress.clone()).map_err(Failure::NotSent)?;
        // A handshake cannot be cancelled.
        let cancels = !matches!(request.method, "initialize" | "server/discover");
        let sending = self.transport.send(request.message(ticket.id));
        let waiting = PendingRequest { ticket, transport: &self.transport, cancels };
        await_response(waiting, sending, patience).await
    }

    /// Sends a notice, or an answer to a request of the server.
    ///
    /// # Errors
    ///
    /// Why it was not sent.
    pub(super) async fn notify(&self, method: &'static str, mut message: Value) -> Result<(), Broken> {
        message["jsonrpc"] = Value::from("2.0");
        let text = message.to_string();
        self.transport.send(Message { text, id: None, method, name: None, headers: Vec::new() }).await
    }
}

/// A request that was made, and is cancelled if this is dropped without an answer.
struct PendingRequest<'t> {
    ticket: Ticket,
    transport: &'t Arc<dyn Transport>,
    cancels: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if self.cancels && self.ticket.is_open() {
            self.transport.cancel(self.ticket.id);
        }
    }
}

/// Waits for the answer while the request is sent, as long as there is patience.
async fn await_response(
    mut waiting: PendingRequest<'_>,
    sending: impl Future<Output = Result<(), Broken>>,
    patience: RequestTimeouts,
) -> Result<Value, Failure> {
    let mut sending = pin!(sending);
    let started = Instant::now();
    let mut sleep = pin!(sleep_until(started + patience.idle.min(patience.total)));
    // Whether the message was written, why there is no answer, and whether that is all there is to know.
    let (mut written, mut cause, mut known) = (None, None, false);
    let failed = |written, cause| {
        Poll::Ready(Err(if written { Failure::ConnectionLost(cause) } else { Failure::NotSent(cause) }))
    };
    poll_fn(|cx| {
        if !known && let Poll::Ready(reply) = Pin::new(&mut waiting.ticket.reply).poll(cx) {
            match reply {
                Ok(Reply::Result(result @ Value::Object(_))) => return Poll::Ready(Ok(result)),
                Ok(Reply::Result(_)) => {
                    let message = "its result is not an object".to_owned();
                    return Poll::Ready(Err(Failure::Refused { code: 0, message, data: Value::Null }));
                }
                Ok(Reply::Error { code, message, data }) => {
                    return Poll::Ready(Err(Failure::Refused { code, message, data }));
                }
                Ok(Reply::Unread(cause)) => return Poll::Ready(Err(Failure::Unread(cause))),
                Ok(Reply::Lost(reason)) => cause = Some(reason),
                Err(_) => cause = Some("the connection was dropped".to_owned()),
            }
            known = true;
            sleep.as_mut().reset(Instant::now() + WRITE_STATUS_TIMEOUT);
        }
        if written.is_none()
            && let Poll::Ready(outcome) = sending.as_mut().poll(cx)
        {
            written = Some(outcome.as_ref().map_or_else(|broken| broken.written, |()| true));
            if let Err(Broken { why: reason, .. }) = outcome {
                cause.get_or_insert(reason);
                known |= !waiting.transport.breaks();
                sleep.as_mut().reset(Instant::now() + WRITE_STATUS_TIMEOUT);
            }
        }
        if let (Some(written), true) = (written, known) {
            return failed(written, cause.take().unwrap_or_default());
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if let Some(cause) = cause.take() {
                return failed(written.unwrap_or(true), cause);
            }
            let (now, heard) = (Instant::now(), waiting.ticket.last_activity());
            if now >= started + patience.total {
                return Poll::Ready(Err(Failure::Late(patience.total, waiting.ticket.strays())));
            }
            if now >= heard + patience.idle {
                return Poll::Ready(Err(Failure::Silent(patience.idle, waiting.ticket.strays())));
            }
            sleep.as_mut().reset((heard + patience.idle).min(started + patience.total));
        }
        Poll::Pending
    })
    .await
}
