//! The transport over a pair of streams: one message per line, and an answer to each line that is not one.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::model::{ErrorData, JsonRpcError, JsonRpcMessage, NumberOrString};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::JsonRpcMessageCodec;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, watch};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder;
use tokio_util::sync::CancellationToken;

use super::misfit;
use crate::base::future::BoxFuture;
use crate::base::lines::{Glance, Line, Lines};

/// The longest message that is read, in bytes.
pub(super) const LONGEST: usize = 16 << 20;

/// How many messages wait for a client that does not read before nothing more is read from it.
const UNREAD: usize = 1024;

/// How much is read at once, in bytes.
const CHUNK: usize = 8 << 10;

type Received = RxJsonRpcMessage<RoleServer>;
type Sent = TxJsonRpcMessage<RoleServer>;

/// Reads and writes messages. The transport of `rmcp` skips what is not JSON, and its sender waits forever.
pub(super) struct Streams<R, W> {
    input: R,
    chunk: Box<[u8]>,
    lines: Lines,
    heard: VecDeque<Heard>,
    /// The answer to a line that is not a message, while it is being sent; meanwhile nothing is read.
    refusing: Option<BoxFuture<'static, io::Result<()>>>,
    /// `None` once it is closed.
    output: Arc<Mutex<Option<W>>>,
    /// How many messages wait for the output.
    unread: watch::Sender<usize>,
    /// Whether a message has begun the session, or a request stood alone.
    begun: bool,
    /// Fires when the input ends.
    ended: CancellationToken,
}

/// A message that waits for the output, or is being written.
struct Unread(watch::Sender<usize>);

impl Unread {
    fn new(unread: &watch::Sender<usize>) -> Unread {
        unread.send_modify(|unread| *unread += 1);
        Unread(unread.clone())
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.0.send_modify(|unread| *unread -= 1);
    }
}

/// What a line is.
enum Heard {
    Message(Box<Received>),
    /// Not a message: the answer to its sender.
    Refused(Box<Sent>),
}

impl<R, W> Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Creates a transport that fires a token when its input ends. `rmcp` answers open requests before it ends a
    /// connection, and waits seconds for that; calls that wait for the client would wait all that time for nothing.
    pub(super) fn new(input: R, output: W, ended: CancellationToken) -> Streams<R, W> {
        Streams {
            input,
            chunk: vec![0; CHUNK].into(),
            lines: Lines::new(LONGEST),
            heard: VecDeque::new(),
            refusing: None,
            output: Arc::new(Mutex::new(Some(output))),
            unread: watch::Sender::new(0),
            begun: false,
            ended,
        }
    }
}

impl<R, W> Transport<RoleServer> for Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: Sent) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        let unread = Unread::new(&self.unread);
        async move {
            let _unread = unread;
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut output = output.lock().await;
            let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            output.write_all(&line).await?;
            output.flush().await
        }
    }

    /// Nothing is lost if the future is dropped: what was read is kept, and an answer goes on where it stopped.
    async fn receive(&mut self) -> Option<Received> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let sent = refusing.await;
                self.refusing = None;
                sent.ok()?;
            }
            match self.heard.pop_front() {
                Some(Heard::Message(message)) if self.begun => return Some(*message),
                Some(Heard::Message(message)) => match misfit::begins(&message) {
                    Ok(begun) => {
                        self.begun = begun;
                        return Some(*message);
                    }
                    Err(why) => {
                        let id = if let JsonRpcMessage::Request(request) = *message {
                            Some(request.id)
                        } else {
                            None
                        };
                        let answer = JsonRpcMessage::Error(JsonRpcError::new(id, why));
                        self.refusing = Some(Box::pin(self.send(answer)));
                        continue;
                    }
                },
                Some(Heard::Refused(answer)) => {
                    self.refusing = Some(Box::pin(self.send(*answer)));
                    continue;
                }
                None => {}
            }
            if self.ended.is_cancelled() {
                return None;
            }
            // Whoever asks and does not read would fill the memory with answers.
            let _ = self.unread.subscribe().wait_for(|&unread| unread < UNREAD).await;
            let read = self.input.read(&mut self.chunk).await.unwrap_or(0);
            let heard = &mut self.heard;
            let hear = |line: Line<'_>| heard.extend(hear(line));
            if read > 0 {
                self.lines.push(&self.chunk[..read], hear);
            } else {
                self.lines.finish(hear);
                self.ended.cancel();
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.lock().await.take());
        Ok(())
    }
}

/// Reads a line; `None` if there is nothing to do about it.
fn hear(line: Line<'_>) -> Option<Heard> {
    let line = match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => return None,
        Line::Whole(line) => line,
        Line::TooLong(glance) => {
            let why = format!("The message has more than {LONGEST} bytes: send less at once.");
            return refused(glance, ErrorData::invalid_request(why, None));
        }
    };
    // The codec passes over notifications that the protocol does not have.
    let mut bytes = BytesMut::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line);
    bytes.extend_from_slice(b"\n");
    if let Ok(message) = JsonRpcMessageCodec::<Received>::default().decode(&mut bytes) {
        return message.map(|message| Heard::Message(Box::new(message)));
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Array(_)) => {
            let why = "A batch is not a message: send each message on a line of its own.";
            refused(Glance::Unknown(None), ErrorData::invalid_request(why, None))
        }
        Ok(_) => {
            let why = "This is not a message of JSON-RPC 2.0: a request has `jsonrpc`, `id`, `method` and, if any, \
                `params` that fit the method.";
            refused(Glance::at(line), ErrorData::invalid_request(why, None))
        }
        Err(why) => {
            let why = format!("This is not readable JSON: {why}. Send one message a line, as UTF-8.");
            refused(Glance::at(line), ErrorData::parse_error(why, None))
        }
    }
}

/// Tells the sender of a line why it is not a message; or, if it seems to answer a question, tells whoever asked it.
fn refused(glance: Glance, why: ErrorData) -> Option<Heard> {
    match glance {
        Glance::Answer(id) => {
            let error = JsonRpcError::new(request_id(id), why);
            Some(Heard::Message(Box::new(JsonRpcMessage::Error(error))))
        }
        // A notification is not answered, even if it is wrong.
        Glance::Request(None) => None,
        Glance::Request(id) | Glance::Unknown(id) => {
            let error = JsonRpcError::new(id.and_then(request_id), why);
            Some(Heard::Refused(Box::new(JsonRpcMessage::Error(error))))
        }
    }
}

fn request_id(id: Value) -> Option<NumberOrString> {
    serde_json::from_value(id).ok()
}
