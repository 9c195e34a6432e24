//! Where the messages of a server arrive, and who gets them.

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

/// How many requests and notices of a server may wait to be handled.
const MAX_QUEUED_MESSAGES: usize = 64;

/// The outcome of a request of the client.
#[derive(Debug)]
pub(super) enum Reply {
    /// The result.
    Result(Value),
    /// The server refuses the request.
    Error {
        /// The code, as JSON-RPC and MCP define them.
        code: i64,
        /// The text.
        message: String,
        /// More, for machines.
        data: Value,
    },
    /// There will be no answer, for this reason.
    Lost(String),
    /// There was an answer that cannot be read, for this reason.
    Unread(String),
}

/// What a server says of its own accord.
#[derive(Debug)]
pub(super) enum ServerMessage {
    /// A request, which needs an answer.
    Request {
        /// The ID, which the answer repeats.
        id: Value,
        /// The method.
        method: String,
        /// The parameters.
        params: Value,
    },
    /// The server gave up a request of its own.
    Cancelled(Value),
}

/// Called with the parameters of each notice of progress.
pub(super) type OnNotice = Arc<dyn Fn(&Value) + Send + Sync>;

/// A request that waits for its answer.
struct Pending {
    reply: oneshot::Sender<Reply>,
    /// When the server last said something about it.
    last_activity: Arc<Mutex<Instant>>,
    on_progress: Option<OnNotice>,
    strays: Arc<Mutex<Strays>>,
}

/// The answers that came while a request waited, and that are to no request of the client.
#[derive(Default)]
struct Strays {
    count: u64,
    /// What the first of them is.
    first: String,
}

/// How many characters of such an answer are shown.
const SHOWN: usize = 200;
/// How many characters of an error are told.
const LONGEST_ERROR: usize = 10_000;

/// Where a transport puts what comes from the server. Clones share it.
#[derive(Clone)]
pub(super) struct Inbox(Arc<Shared>);

struct Shared {
    pending: Mutex<PendingRequests>,
    next: AtomicU64,
    server_messages: mpsc::Sender<ServerMessage>,
    changes: watch::Sender<u64>,
    ignored: AtomicU64,
    /// How many requests of the server are being answered.
    active_server_requests: AtomicU64,
    /// When one was answered last.
    answered: Mutex<Option<Instant>>,
    /// The listener that gets each message as it came.
    listener: OnceLock<OnMessage>,
}

type OnMessage = Box<dyn Fn(&Value) + Send + Sync>;

/// A request of the server that is being answered: meanwhile the server's silence does not count.
pub(super) struct ServerRequestGuard(Inbox);

impl Drop for ServerRequestGuard {
    fn drop(&mut self) {
        *unpoisoned(self.0.0.answered.lock()) = Some(Instant::now());
        self.0.0.active_server_requests.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Default)]
struct PendingRequests {
    pending: HashMap<u64, Pending>,
    /// Why the connection ended, once it has.
    closed: Option<String>,
}

/// A request whose answer is awaited until this is dropped.
pub(super) struct Ticket {
    /// The ID of the request, which is its progress token, too.
    pub(super) id: u64,
    pub(super) reply: oneshot::Receiver<Reply>,
    last_activity: Arc<Mutex<Instant>>,
    strays: Arc<Mutex<Strays>>,
    inbox: Inbox,
}

impl Inbox {
    /// Creates an inbox, and the receiver of what the server says of its own accord.
    pub(super) fn new() -> (Inbox, mpsc::Receiver<ServerMessage>) {
        let (text, received) = mpsc::channel(MAX_QUEUED_MESSAGES);
        let shared = Shared {
            pending: Mutex::default(),
            next: AtomicU64::new(1),
            server_messages: text,
            changes: watch::Sender::new(0),
            ignored: AtomicU64::new(0),
            active_server_requests: AtomicU64::new(0),
            answered: Mutex::default(),
            listener: OnceLock::new(),
        };
        (Inbox(Arc::new(shared)), received)
    }

    /// Takes a message as it came: a JSON object, or an array of them.
    ///
    /// # Errors
    ///
    /// Why it is not one.
    pub(super) fn text(&self, text: &[u8]) -> Result<(), String> {
        match reading::read(text)? {
            message @ (Value::Object(_) | Value::Array(_)) => {
                self.message(message);
                Ok(())
            }
            _ => Err("it is neither an object nor a list".to_owned()),
        }
    }

    /// Sets the listener that gets each message as it came. The first one set counts.
    pub(super) fn listen(&self, listener: impl Fn(&Value) + Send + Sync + 'static) {
        let _ = self.0.listener.set(Box::new(listener));
    }

    /// Takes a message, or an array of them.
    pub(super) fn message(&self, message: Value) {
        match message {
            Value::Array(messages) => messages.into_iter().for_each(|message| self.handle_message(message)),
            message => self.handle_message(message),
        }
    }

    /// Notes that the answer to this request will not come, while the connection goes on: its stream ended.
    #[cfg(feature = "http")]
    pub(super) fn lost(&self, id: u64, reason: impl Into<String>) {
        self.complete(id, Reply::Lost(reason.into()));
    }

    /// Notes that the answer to this request came and cannot be read.
    pub(super) fn unread(&self, id: u64, reason: impl Into<String>) {
        self.complete(id, Reply::Unread(reason.into()));
    }

    /// Notes that the connection has ended, so that no further request will be answered. The first reason counts.
    pub(super) fn closed(&self, reason: &str) {
        let lost = {
            let mut book = unpoisoned(self.0.pending.lock());
            book.closed.get_or_insert_with(|| reason.to_owned());
            std::mem::take(&mut book.pending)
        };
        let mut lost: Vec<_> = lost.into_iter().collect();
        lost.sort_unstable_by_key(|(id, _)| *id);
        for (_, pending) in lost {
            // Who has given up hears nothing.
            drop(pending.reply.send(Reply::Lost(reason.to_owned())));
        }
        self.0.changes.send_modify(|changes| *changes += 1);
    }

    /// Why the connection ended, if it has.
    pub(super) fn ended(&self) -> Option<String> {
        unpoisoned(self.0.pending.lock()).closed.clone()
    }

    /// Whether somebody waits for the answer to this request.
    pub(super) fn awaits(&self, id: u64) -> bool {
        unpoisoned(self.0.pending.lock()).pending.contains_key(&id)
    }

    /// Notes that a request of the server is being answered.
    pub(super) fn begin_server_request(&self) -> ServerRequestGuard {
        self.0.active_server_requests.fetch_add(1, Ordering::AcqRel);
        ServerRequestGuard(self.clone())
    }

    /// How often the server said that its list of tools has changed.
    pub(super) fn changes(&self) -> u64 {
        *self.0.changes.borrow()
    }

    /// Waits until the list of tools has changed, or the connection has ended.
    pub(super) async fn changed(&self) {
        let mut changes = self.0.changes.subscribe();
        if self.ended().is_none() {
            // The other end is here.
            let _ = changes.changed().await;
        }
    }

    /// How many messages fitted nothing: answers that came late, twice or unasked.
    pub(super) fn ignored(&self) -> u64 {
        self.0.ignored.load(Ordering::Relaxed)
    }

    /// Notes a request that is about to be sent.
    ///
    /// # Errors
    ///
    /// Why the connection has ended, if it has.
    pub(super) fn expect(&self, on_progress: Option<OnNotice>) -> Result<Ticket, String> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        let heard = Arc::new(Mutex::new(Instant::now()));
        let strays = Arc::default();
        let pending = Pending {
            reply: sender,
            last_activity: Arc::clone(&heard),
            on_progress,
            strays: Arc::clone(&strays),
        };
        let mut book = unpoisoned(self.0.pending.lock());
        match &book.closed {
            Some(error) => Err(error.clone()),
            None => {
                book.pending.insert(id, pending);
                Ok(Ticket { id, reply, last_activity: heard, strays, inbox: self.clone() })
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
            (Some(Value::String(method)), _) => self.notice(&method, params),
            (None, Some(id)) => {
                let issued = |id: &u64| *id < self.0.next.load(Ordering::Relaxed);
                match own_id(&id).filter(issued) {
                    Some(id) => self.complete(id, reply(message)),
                    None => self.stray(&id, message),
                }
            }
            _ => self.ignore(),
        }
    }

    fn notice(&self, method: &str, mut params: Value) {
        match method {
            "notifications/progress" => {
                let id = params.get("progressToken").and_then(own_id);
                let book = unpoisoned(self.0.pending.lock());
                let Some(pending) = id.and_then(|id| book.pending.get(&id)) else {
                    drop(book);
                    return self.ignore();
                };
                *unpoisoned(pending.last_activity.lock()) = Instant::now();
                let listener = pending.on_progress.clone();
                drop(book);
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
            // Log messages and the like: nobody here asked for them.
            _ => {}
        }
    }

    /// Passes on what the server says of its own accord. Messages beyond what can be handled are dropped.
    fn enqueue(&self, text: ServerMessage) {
        if self.0.server_messages.try_send(text).is_err() {
            self.ignore();
        }
    }

    fn complete(&self, id: u64, reply: Reply) {
        let pending = unpoisoned(self.0.pending.lock()).pending.remove(&id);
        match pending {
            Some(pending) => drop(pending.reply.send(reply)),
            None => self.ignore(),
        }
    }

    /// Notes an answer to no request for those that wait: one of them may be theirs.
    fn stray(&self, id: &Value, message: Value) {
        self.ignore();
        let book = unpoisoned(self.0.pending.lock());
        if book.pending.is_empty() {
            return;
        }
        let mut first = format!("`{id}`");
        if let Reply::Error { message, .. } = reply(message) {
            first.push_str(&format!(" and says: {message}"));
        }
        let first = cut(&visible(&first).replace('\n', " "), SHOWN);
        book.pending.values().for_each(|pending| {
            let mut strays = unpoisoned(pending.strays.lock());
            strays.count += 1;
            if strays.count == 1 {
                strays.first.clone_from(&first);
            }
        });
    }

    /// Counts a message that fits nothing.
    pub(super) fn ignore(&self) {
        self.0.ignored.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the ID that this client gave a request, also from a server that repeats it as `"1"` or `1.0`.
fn own_id(id: &Value) -> Option<u64> {
    match id {
        Value::String(id) => id.trim().parse().ok(),
        id => id.as_u64().or_else(|| {
            let id = id.as_f64().filter(|id| id.fract() == 0.0 && (0.0..9e15).contains(id))?;
            Some(id as u64)
        }),
    }
}

/// Reads the answer in a message.
fn reply(mut message: Value) -> Reply {
    if let Some(mut error) = message.get_mut("error").map(Value::take).filter(|error| !error.is_null()) {
        let text = match &error {
            Value::String(text) => text.clone(),
            Value::Object(members) if members.is_empty() => "it does not say why".to_owned(),
            Value::Object(members) => match members.get("message") {
                Some(Value::String(text)) => text.clone(),
                _ => error.to_string(),
            },
            other => other.to_string(),
        };
        return Reply::Error {
            code: error["code"].as_i64().unwrap_or_default(),
            message: cut(&text, LONGEST_ERROR),
            data: error.get_mut("data").map(Value::take).unwrap_or_default(),
        };
    }
    match message.get_mut("result") {
        Some(result) => Reply::Result(result.take()),
        None => {
            let message = "its answer has neither `result` nor `error`".to_owned();
            Reply::Error { code: 0, message, data: Value::Null }
        }
    }
}

impl Ticket {
    /// When the server last said something about the request, or when it was made; now, while the server itself waits
    /// for an answer.
    pub(super) fn last_activity(&self) -> Instant {
        let shared = &self.inbox.0;
        if shared.active_server_requests.load(Ordering::Acquire) > 0 {
            return Instant::now();
        }
        let heard = *unpoisoned(self.last_activity.lock());
        unpoisoned(shared.answered.lock()).map_or(heard, |answered| heard.max(answered))
    }

    /// Says which answers came meanwhile that are to no request; empty if there were none.
    pub(super) fn strays(&self) -> String {
        let strays = unpoisoned(self.strays.lock());
        let Strays { count, first } = &*strays;
        match count {
            0 => String::new(),
            1 => format!("; meanwhile an answer came whose ID is that of no request: {first}"),
            _ => format!(
                "; meanwhile {count} answers came whose IDs are those of no request, the first with {first}"
            ),
        }
    }

    /// Whether the answer is not there yet.
    pub(super) fn is_open(&self) -> bool {
        self.inbox.awaits(self.id)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        unpoisoned(self.inbox.0.pending.lock()).pending.remove(&self.id);
    }
}
