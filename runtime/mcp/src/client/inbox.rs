//! Dispatches incoming messages of an MCP server: responses and progress to the pending request, requests and
//! cancellations to a bounded queue, list changes to their watchers.
//!
//! Late, duplicate and unsolicited responses are counted and dropped. So are requests of the server while the queue
//! is full, because they must not delay responses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use toolgen_kernel::base::printable::visible;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::base::truncate::cut;

use super::reading;

/// Maximum number of queued requests and notifications of a server.
const MAX_QUEUED_MESSAGES: usize = 64;

/// The outcome of a request of the client.
#[derive(Debug)]
pub(super) enum Reply {
    /// The result.
    Result(Value),
    /// An error response of the server.
    Error {
        /// The error code, as defined by JSON-RPC or MCP.
        code: i64,
        /// The error message.
        message: String,
        /// Additional data.
        data: Value,
    },
    /// There will be no response, for this reason.
    Lost(String),
    /// The response cannot be parsed, for this reason.
    Unparsable(String),
}

/// An unsolicited message of the server: a request or a cancellation.
#[derive(Debug)]
pub(super) enum ServerMessage {
    /// A request, which needs a response.
    Request {
        /// The ID, which the response repeats.
        id: Value,
        /// The method.
        method: String,
        /// The parameters.
        params: Value,
    },
    /// Cancellation of an earlier request of the server.
    Cancelled(Value),
}

/// Callback for the parameters of each progress notification.
pub(super) type OnProgress = Arc<dyn Fn(&Value) + Send + Sync>;

/// A pending request.
struct Pending {
    reply: oneshot::Sender<Reply>,
    /// Time of the server's last activity on this request.
    last_activity: Arc<Mutex<Instant>>,
    on_progress: Option<OnProgress>,
    strays: Arc<Mutex<Strays>>,
}

/// Responses with unknown IDs that arrived while a request was pending.
#[derive(Default)]
struct Strays {
    count: u64,
    /// Summary of the first response.
    first: String,
}

/// Maximum length of a shown response, in characters.
const MAX_SHOWN_STRAY: usize = 200;
/// Maximum length of an error message, in characters.
const MAX_ERROR_LENGTH: usize = 10_000;

/// Receives the messages of a transport. Clones share one inbox.
#[derive(Clone)]
pub(super) struct Inbox(Arc<Shared>);

struct Shared {
    pending: Mutex<PendingRequests>,
    next_id: AtomicU64,
    server_messages: mpsc::Sender<ServerMessage>,
    changes: watch::Sender<u64>,
    ignored: AtomicU64,
    /// Number of server requests that are being handled.
    active_server_requests: AtomicU64,
    /// Time of the last response to a server request.
    last_answered: Mutex<Option<Instant>>,
    /// The listener for raw messages.
    listener: OnceLock<OnMessage>,
}

type OnMessage = Box<dyn Fn(&Value) + Send + Sync>;

/// A request of the server that is being handled. The idle timeout does not run while this exists.
pub(super) struct ServerRequestGuard(Inbox);

impl Drop for ServerRequestGuard {
    fn drop(&mut self) {
        *unpoisoned(self.0.0.last_answered.lock()) = Some(Instant::now());
        self.0.0.active_server_requests.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Default)]
struct PendingRequests {
    pending: HashMap<u64, Pending>,
    /// Why the connection ended, if it did.
    closed: Option<String>,
}

/// A pending request. Dropping it removes the request from the inbox.
pub(super) struct Ticket {
    /// The ID of the request, also used as its progress token.
    pub(super) id: u64,
    pub(super) reply: oneshot::Receiver<Reply>,
    last_activity: Arc<Mutex<Instant>>,
    strays: Arc<Mutex<Strays>>,
    inbox: Inbox,
}

impl Inbox {
    /// Creates an inbox and the receiver of server-initiated messages.
    pub(super) fn new() -> (Inbox, mpsc::Receiver<ServerMessage>) {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_MESSAGES);
        let shared = Shared {
            pending: Mutex::default(),
            next_id: AtomicU64::new(1),
            server_messages: sender,
            changes: watch::Sender::new(0),
            ignored: AtomicU64::new(0),
            active_server_requests: AtomicU64::new(0),
            last_answered: Mutex::default(),
            listener: OnceLock::new(),
        };
        (Inbox(Arc::new(shared)), receiver)
    }

    /// Accepts a raw message: a JSON object, or an array of objects.
    ///
    /// # Errors
    ///
    /// Returns the reason if the bytes are not a message.
    pub(super) fn accept_text(&self, text: &[u8]) -> Result<(), String> {
        match reading::parse(text)? {
            message @ (Value::Object(_) | Value::Array(_)) => {
                self.accept(message);
                Ok(())
            }
            _ => Err("it is neither an object nor an array".to_owned()),
        }
    }

    /// Sets the listener for raw messages. Only the first call has an effect.
    pub(super) fn set_listener(&self, listener: impl Fn(&Value) + Send + Sync + 'static) {
        let _ = self.0.listener.set(Box::new(listener));
    }

    /// Accepts a message, or an array of messages.
    pub(super) fn accept(&self, message: Value) {
        match message {
            Value::Array(messages) => messages.into_iter().for_each(|message| self.handle_message(message)),
            message => self.handle_message(message),
        }
    }

    /// Records that the response to this request will not arrive, although the connection is alive: its stream ended.
    #[cfg(feature = "http")]
    pub(super) fn report_lost(&self, id: u64, reason: impl Into<String>) {
        self.complete(id, Reply::Lost(reason.into()));
    }

    /// Records that the response to this request arrived, but cannot be parsed.
    pub(super) fn report_unparsable(&self, id: u64, reason: impl Into<String>) {
        self.complete(id, Reply::Unparsable(reason.into()));
    }

    /// Records that the connection has ended and pending requests fail. Only the first reason is kept.
    pub(super) fn close(&self, reason: &str) {
        let lost = {
            let mut requests = unpoisoned(self.0.pending.lock());
            requests.closed.get_or_insert_with(|| reason.to_owned());
            std::mem::take(&mut requests.pending)
        };
        let mut lost: Vec<_> = lost.into_iter().collect();
        lost.sort_unstable_by_key(|(id, _)| *id);
        for (_, pending) in lost {
            // A caller that was dropped needs no result.
            drop(pending.reply.send(Reply::Lost(reason.to_owned())));
        }
        self.0.changes.send_modify(|changes| *changes += 1);
    }

    /// Returns why the connection ended, if it did.
    pub(super) fn end_reason(&self) -> Option<String> {
        unpoisoned(self.0.pending.lock()).closed.clone()
    }

    /// Whether this request is pending.
    pub(super) fn is_pending(&self, id: u64) -> bool {
        unpoisoned(self.0.pending.lock()).pending.contains_key(&id)
    }

    /// Records that a request of the server is being handled.
    pub(super) fn begin_server_request(&self) -> ServerRequestGuard {
        self.0.active_server_requests.fetch_add(1, Ordering::AcqRel);
        ServerRequestGuard(self.clone())
    }

    /// Returns how many times the server reported a change of its tool list.
    pub(super) fn changes(&self) -> u64 {
        *self.0.changes.borrow()
    }

    /// Waits until the list of tools has changed, or the connection has ended.
    pub(super) async fn changed(&self) {
        let mut changes = self.0.changes.subscribe();
        if self.end_reason().is_none() {
            // This inbox owns the sender.
            let _ = changes.changed().await;
        }
    }

    /// Returns the number of dropped messages: late, duplicate or unsolicited responses.
    pub(super) fn ignored(&self) -> u64 {
        self.0.ignored.load(Ordering::Relaxed)
    }

    /// Registers a request that is about to be sent.
    ///
    /// # Errors
    ///
    /// Returns the reason if the connection has ended.
    pub(super) fn register(&self, on_progress: Option<OnProgress>) -> Result<Ticket, String> {
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        let last_activity = Arc::new(Mutex::new(Instant::now()));
        let strays = Arc::default();
        let pending = Pending {
            reply: sender,
            last_activity: Arc::clone(&last_activity),
            on_progress,
            strays: Arc::clone(&strays),
        };
        let mut requests = unpoisoned(self.0.pending.lock());
        match &requests.closed {
            Some(error) => Err(error.clone()),
            None => {
                requests.pending.insert(id, pending);
                Ok(Ticket { id, reply, last_activity, strays, inbox: self.clone() })
            }
        }
    }

    fn handle_message(&self, mut message: Value) {
        if let Some(listener) = self.0.listener.get() {
            listener(&message);
        }
        let method = message.get_mut("method").map(Value::take);
        let id = message.get_mut("id").map(Value::take);
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        match (method, id) {
            (Some(Value::String(method)), Some(id)) if !id.is_null() => {
                self.enqueue(ServerMessage::Request { id, method, params });
            }
            (Some(Value::String(method)), _) => self.handle_notification(&method, params),
            (None, Some(id)) => {
                let is_issued = |id: &u64| *id < self.0.next_id.load(Ordering::Relaxed);
                match request_id(&id).filter(is_issued) {
                    Some(id) => self.complete(id, parse_reply(message)),
                    None => self.record_stray(&id, message),
                }
            }
            _ => self.count_dropped(),
        }
    }

    fn handle_notification(&self, method: &str, mut params: Value) {
        match method {
            "notifications/progress" => {
                let id = params.get("progressToken").and_then(request_id);
                let requests = unpoisoned(self.0.pending.lock());
                let Some(pending) = id.and_then(|id| requests.pending.get(&id)) else {
                    drop(requests);
                    return self.count_dropped();
                };
                *unpoisoned(pending.last_activity.lock()) = Instant::now();
                let listener = pending.on_progress.clone();
                drop(requests);
                if let Some(listener) = listener {
                    listener(&params);
                }
            }
            "notifications/tools/list_changed" => {
                self.0.changes.send_modify(|changes| *changes += 1);
            }
            "notifications/cancelled" => {
                if let Some(id) = params.get_mut("requestId").map(Value::take) {
                    self.enqueue(ServerMessage::Cancelled(id));
                }
            }
            // Log messages and other notifications that this client does not use.
            _ => {}
        }
    }

    /// Queues a server-initiated message, or drops it if the queue is full.
    fn enqueue(&self, message: ServerMessage) {
        if self.0.server_messages.try_send(message).is_err() {
            self.count_dropped();
        }
    }

    fn complete(&self, id: u64, reply: Reply) {
        let pending = unpoisoned(self.0.pending.lock()).pending.remove(&id);
        match pending {
            Some(pending) => drop(pending.reply.send(reply)),
            None => self.count_dropped(),
        }
    }

    /// Records a response with an unknown ID for all pending requests: it may belong to any of them.
    fn record_stray(&self, id: &Value, message: Value) {
        self.count_dropped();
        let requests = unpoisoned(self.0.pending.lock());
        if requests.pending.is_empty() {
            return;
        }
        let mut summary = format!("`{id}`");
        if let Reply::Error { message, .. } = parse_reply(message) {
            summary.push_str(&format!(" (error: {message})"));
        }
        let summary = cut(&visible(&summary).replace('\n', " "), MAX_SHOWN_STRAY);
        requests.pending.values().for_each(|pending| {
            let mut strays = unpoisoned(pending.strays.lock());
            strays.count += 1;
            if strays.count == 1 {
                strays.first.clone_from(&summary);
            }
        });
    }

    /// Counts a dropped message.
    pub(super) fn count_dropped(&self) {
        self.0.ignored.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the client's own ID in a response. Some servers send it back as `"1"` or `1.0`.
fn request_id(id: &Value) -> Option<u64> {
    match id {
        Value::String(id) => id.trim().parse().ok(),
        id => id.as_u64().or_else(|| {
            let id = id.as_f64().filter(|id| id.fract() == 0.0 && (0.0..9e15).contains(id))?;
            Some(id as u64)
        }),
    }
}

/// Parses the response in a message.
fn parse_reply(mut message: Value) -> Reply {
    if let Some(mut error) = message.get_mut("error").map(Value::take).filter(|error| !error.is_null()) {
        let text = match &error {
            Value::String(text) => text.clone(),
            Value::Object(members) if members.is_empty() => "no reason given".to_owned(),
            Value::Object(members) => match members.get("message") {
                Some(Value::String(text)) => text.clone(),
                _ => error.to_string(),
            },
            other => other.to_string(),
        };
        return Reply::Error {
            code: error["code"].as_i64().unwrap_or_default(),
            message: cut(&text, MAX_ERROR_LENGTH),
            data: error.get_mut("data").map(Value::take).unwrap_or_default(),
        };
    }
    match message.get_mut("result") {
        Some(result) => Reply::Result(result.take()),
        None => {
            let message = "its response has neither `result` nor `error`".to_owned();
            Reply::Error { code: 0, message, data: Value::Null }
        }
    }
}

impl Ticket {
    /// Returns the time of the server's last activity on the request, or when it was sent. While the server itself
    /// waits for a response, this is the current time.
    pub(super) fn last_activity(&self) -> Instant {
        let shared = &self.inbox.0;
        if shared.active_server_requests.load(Ordering::Acquire) > 0 {
            return Instant::now();
        }
        let last_activity = *unpoisoned(self.last_activity.lock());
        unpoisoned(shared.last_answered.lock()).map_or(last_activity, |answered| last_activity.max(answered))
    }

    /// Describes the responses with unknown IDs that arrived in the meantime; empty if there were none.
    pub(super) fn strays(&self) -> String {
        let strays = unpoisoned(self.strays.lock());
        let Strays { count, first } = &*strays;
        match count {
            0 => String::new(),
            1 => format!("; meanwhile, a response with an unknown ID arrived: {first}"),
            _ => format!("; meanwhile, {count} responses with unknown IDs arrived, the first with {first}"),
        }
    }

    /// Whether the response is still pending.
    pub(super) fn is_open(&self) -> bool {
        self.inbox.is_pending(self.id)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        unpoisoned(self.inbox.0.pending.lock()).pending.remove(&self.id);
    }
}
