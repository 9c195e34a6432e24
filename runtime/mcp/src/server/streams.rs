//! Transport over a pair of streams: one message per line, and an error response to each invalid line.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::model::{
    ClientNotification, ErrorData, GetExtensions, JsonRpcError, JsonRpcMessage, NumberOrString,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{JsonRpcMessageCodec, JsonRpcMessageCodecError};
use serde_core::de::IgnoredAny;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, watch};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder;
use tokio_util::sync::CancellationToken;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::lines::{Line, Lines, MessageKind};

use super::invalid_request;
use super::slots::{self, Slots};

/// Maximum size of a message, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Maximum number of messages that a client has not read; reading from the client pauses at this limit.
const MAX_UNREAD_MESSAGES: usize = 1024;

/// Maximum number of bytes that a client has not read.
const MAX_UNREAD_BYTES: usize = MAX_MESSAGE_BYTES;

/// Number of bytes per read.
const CHUNK_BYTES: usize = 8 << 10;

type IncomingMessage = RxJsonRpcMessage<RoleServer>;
type OutgoingMessage = TxJsonRpcMessage<RoleServer>;

/// Reads and writes messages. The transport of `rmcp` skips invalid JSON without a response.
pub(super) struct Streams<R, W> {
    input: R,
    chunk: Box<[u8]>,
    lines: Lines,
    received: VecDeque<LineKind>,
    /// The response to an invalid line. Reading pauses until the response is sent.
    pending_rejection: Option<BoxFuture<'static, io::Result<()>>>,
    /// The output; `None` after it was closed.
    output: Arc<Mutex<Option<W>>>,
    backlog: watch::Sender<Backlog>,
    slots: Slots,
    /// Whether a message has started the session, or a request was self-contained.
    initialized: bool,
    /// Fires when the input ends.
    ended: CancellationToken,
}

/// Amount of unwritten output.
#[derive(Default)]
struct Backlog {
    messages: usize,
    bytes: usize,
}

/// A message of some length that waits for the output, or is being written.
struct QueuedMessage(watch::Sender<Backlog>, usize);

impl QueuedMessage {
    fn new(backlog: &watch::Sender<Backlog>, length: usize) -> QueuedMessage {
        backlog.send_modify(|backlog| {
            backlog.messages += 1;
            backlog.bytes += length;
        });
        QueuedMessage(backlog.clone(), length)
    }
}

impl Drop for QueuedMessage {
    fn drop(&mut self) {
        self.0.send_modify(|backlog| {
            backlog.messages -= 1;
            backlog.bytes -= self.1;
        });
    }
}

/// Classification of a line.
enum LineKind {
    Message(Box<IncomingMessage>),
    /// Not a message: the error response for its sender.
    Rejected(Box<OutgoingMessage>),
}

impl<R, W> Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Creates a transport that fires a token when its input ends. `rmcp` waits for seconds for pending requests
    /// before it closes a connection; calls that wait for the client cannot complete in that time.
    pub(super) fn new(input: R, output: W, ended: CancellationToken) -> Streams<R, W> {
        Streams {
            input,
            chunk: vec![0; CHUNK_BYTES].into(),
            lines: Lines::new(MAX_MESSAGE_BYTES),
            received: VecDeque::new(),
            pending_rejection: None,
            output: Arc::new(Mutex::new(Some(output))),
            backlog: watch::Sender::default(),
            slots: Slots::new(),
            initialized: false,
            ended,
        }
    }

    /// Writes a message. The message is queued in serialized form, so that its size is known.
    fn write(&self, message: &OutgoingMessage) -> BoxFuture<'static, io::Result<()>> {
        let line = serde_json::to_vec(message);
        let queued = QueuedMessage::new(&self.backlog, line.as_ref().map_or(0, Vec::len));
        let output = Arc::clone(&self.output);
        Box::pin(async move {
            let _queued = queued;
            let mut line = line?;
            line.push(b'\n');
            let mut output = output.lock().await;
            let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            output.write_all(&line).await?;
            output.flush().await
        })
    }

    /// Waits until there is capacity for another message and its response. Otherwise a client that does not read, or
    /// that sends faster than requests are handled, would exhaust the memory.
    fn wait_for_capacity(&self) -> impl Future<Output = ()> + Send + use<R, W> {
        let (mut backlog, mut handled) = (self.backlog.subscribe(), self.slots.handled());
        async move {
            let is_below_limit = |backlog: &Backlog| {
                backlog.messages < MAX_UNREAD_MESSAGES && backlog.bytes < MAX_UNREAD_BYTES
            };
            let _ = backlog.wait_for(is_below_limit).await;
            let _ = handled.wait_for(|&handled| handled < slots::MAX_HANDLED).await;
        }
    }

    /// Admits a message, or returns the reason to reject it.
    #[expect(clippy::result_large_err, reason = "the rejection is sent unchanged")]
    fn admit(&mut self, mut message: IncomingMessage) -> Result<IncomingMessage, OutgoingMessage> {
        if !self.initialized {
            match invalid_request::check_first_message(&message) {
                Ok(is_started) => self.initialized = is_started,
                Err(reason) => {
                    let id =
                        if let JsonRpcMessage::Request(request) = message { Some(request.id) } else { None };
                    return Err(JsonRpcMessage::Error(JsonRpcError::new(id, reason)));
                }
            }
        }
        match &mut message {
            JsonRpcMessage::Request(request) => match self.slots.request(&request.id) {
                Some(slot) => drop(request.request.extensions_mut().insert(slot)),
                None => {
                    let error = JsonRpcError::new(
                        Some(request.id.clone()),
                        invalid_request::duplicate_id(&serde_json::json!(request.id)),
                    );
                    return Err(JsonRpcMessage::Error(error));
                }
            },
            JsonRpcMessage::Notification(notification) => {
                let cancelled = match &notification.notification {
                    ClientNotification::CancelledNotification(cancellation) => {
                        cancellation.params.request_id.clone()
                    }
                    _ => None,
                };
                notification.notification.extensions_mut().insert(self.slots.notification());
                if let Some(id) = cancelled {
                    self.slots.cancel(&id);
                }
            }
            _ => {}
        }
        Ok(message)
    }
}

impl<R, W> Transport<RoleServer> for Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: OutgoingMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = answered {
            self.slots.complete(id);
        }
        self.write(&message)
    }

    /// This future is cancel safe: read bytes are kept, and a partially written response is continued.
    async fn receive(&mut self) -> Option<IncomingMessage> {
        loop {
            if let Some(pending_rejection) = &mut self.pending_rejection {
                let sent = pending_rejection.await;
                self.pending_rejection = None;
                sent.ok()?;
            }
            if !self.received.is_empty() || !self.ended.is_cancelled() {
                self.wait_for_capacity().await;
            }
            match self.received.pop_front() {
                Some(LineKind::Message(message)) => match self.admit(*message) {
                    Ok(message) => return Some(message),
                    Err(response) => {
                        self.pending_rejection = Some(self.write(&response));
                        continue;
                    }
                },
                Some(LineKind::Rejected(response)) => {
                    self.pending_rejection = Some(self.write(&response));
                    continue;
                }
                None => {}
            }
            if self.ended.is_cancelled() {
                return None;
            }
            let read = self.input.read(&mut self.chunk).await.unwrap_or(0);
            let received = &mut self.received;
            let parse_line = |line: Line<'_>| received.extend(parse_line(line));
            if read > 0 {
                self.lines.push(&self.chunk[..read], parse_line);
            } else {
                self.lines.finish(parse_line);
                self.ended.cancel();
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.lock().await.take());
        Ok(())
    }
}

/// Parses a line; `None` if it can be ignored.
fn parse_line(line: Line<'_>) -> Option<LineKind> {
    let line = match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => return None,
        Line::Whole(line) => line,
        Line::TooLong(glance) => {
            let reason =
                format!("The message has more than {MAX_MESSAGE_BYTES} bytes. Send less data per message.");
            return rejection(glance, ErrorData::invalid_request(reason, None));
        }
    };
    if let Some((glance, error)) = invalid_message(line) {
        return rejection(glance, error);
    }
    // The codec skips notifications that the protocol does not define.
    decode(line).ok().flatten().map(|message| LineKind::Message(Box::new(message)))
}

fn decode(line: &[u8]) -> Result<Option<IncomingMessage>, JsonRpcMessageCodecError> {
    let mut bytes = BytesMut::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line);
    bytes.extend_from_slice(b"\n");
    JsonRpcMessageCodec::<IncomingMessage>::default().decode(&mut bytes)
}

/// Returns why a line is not a message, and its probable kind; `None` if it is a message.
fn invalid_message(line: &[u8]) -> Option<(MessageKind, ErrorData)> {
    let glance = MessageKind::at(line);
    if glance == MessageKind::Odd && serde_json::from_slice::<IgnoredAny>(line).is_ok() {
        // `rmcp` treats such a message as a notification, which has no response.
        let reason = "The `id` of a request must be a string or an integer of at most 64 bits.";
        return Some((glance, ErrorData::invalid_request(reason, None)));
    }
    if decode(line).is_ok() {
        return None;
    }
    Some(match serde_json::from_slice::<Value>(line) {
        Ok(Value::Array(_)) => {
            let reason = "A batch is not a message: send each message on its own line.";
            (MessageKind::Unknown(None), ErrorData::invalid_request(reason, None))
        }
        Ok(_) => {
            let reason = "This is not a valid JSON-RPC 2.0 message: a request has `jsonrpc`, `id`, `method` and \
                optional `params` that are valid for the method.";
            (glance, ErrorData::invalid_request(reason, None))
        }
        Err(error) => {
            let reason = format!("Invalid JSON: {error}. Send one message per line, in UTF-8.");
            (glance, ErrorData::parse_error(reason, None))
        }
    })
}

/// Returns the error for an HTTP body that is not a message; `None` if it is a message, or no response is expected.
pub(super) fn invalid_body(body: &[u8]) -> Option<JsonRpcError> {
    match invalid_message(body.trim_ascii())? {
        (MessageKind::Answer(_) | MessageKind::Request(None), _) => None,
        (MessageKind::Request(id) | MessageKind::Unknown(id), error) => {
            Some(JsonRpcError::new(id.and_then(request_id), error))
        }
        (MessageKind::Odd, error) => Some(JsonRpcError::new(None, error)),
    }
}

/// Reports an invalid line to its sender; or, if it seems to be a response, to the caller that waits for it.
fn rejection(glance: MessageKind, reason: ErrorData) -> Option<LineKind> {
    match glance {
        MessageKind::Answer(id) => {
            let error = JsonRpcError::new(request_id(id), reason);
            Some(LineKind::Message(Box::new(JsonRpcMessage::Error(error))))
        }
        // A notification has no response, even if it is invalid.
        MessageKind::Request(None) => None,
        MessageKind::Odd => rejection(MessageKind::Unknown(None), reason),
        MessageKind::Request(id) | MessageKind::Unknown(id) => {
            let error = JsonRpcError::new(id.and_then(request_id), reason);
            Some(LineKind::Rejected(Box::new(JsonRpcMessage::Error(error))))
        }
    }
}

fn request_id(id: Value) -> Option<NumberOrString> {
    serde_json::from_value(id).ok()
}

#[cfg(test)]
mod tests;
