//! Standard input of a server: lines are written in order, and each line as a whole.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::AsyncWrite;
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolgen_kernel::base::sync::unpoisoned;

use crate::client::connection::TransportError;
use crate::client::inbox::Inbox;

/// Maximum number of queued bytes, for a server that does not read.
const MAX_QUEUED_BYTES: usize = 64 << 20;
/// Maximum number of bytes per write.
const MAX_BATCH_BYTES: usize = 64 << 10;

/// Receives the outcome of writing a line.
pub(super) type ResultSender = oneshot::Sender<Result<(), TransportError>>;

/// The standard input of a server.
pub(super) struct Input {
    /// The queue of lines; `None` once the input was closed.
    queue: Mutex<Option<mpsc::UnboundedSender<QueuedLine>>>,
    /// Number of bytes that are not written yet.
    queued: Arc<AtomicUsize>,
    pipe: Pipe,
    /// Fires when the server no longer accepts input.
    input_closed: CancellationToken,
}

type Pipe = Arc<Mutex<Option<ChildStdin>>>;

/// A queued line, or its unwritten rest.
struct QueuedLine {
    bytes: Vec<u8>,
    /// The ID if the line is a request. A cancelled request need not be written.
    id: Option<u64>,
    receipt: Receipt,
}

/// Reports the outcome of writing a line, at the latest when it is dropped.
struct Receipt {
    result_tx: Option<ResultSender>,
    started: bool,
}

impl Receipt {
    fn report(&mut self, outcome: Result<(), TransportError>) {
        if let Some(result_tx) = self.result_tx.take() {
            // The sender may have been dropped.
            drop(result_tx.send(outcome));
        }
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        let reason = "the connection to the server has ended".to_owned();
        self.report(Err(TransportError { written: self.started, reason }));
    }
}

impl Input {
    /// Returns the input, and the task that writes what the pipe does not accept immediately.
    pub(super) fn new(
        stdin: Option<ChildStdin>,
        inbox: Inbox,
        input_closed: CancellationToken,
    ) -> (Input, impl Future<Output = ()> + use<>) {
        let (sender, queue) = mpsc::unbounded_channel();
        let (queued, pipe) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(stdin)));
        let write_task = write(Arc::clone(&pipe), queue, inbox, Arc::clone(&queued));
        let token = input_closed.clone();
        let writer = async move {
            if write_task.await.is_err() {
                token.cancel();
            }
        };
        (Input { queue: Mutex::new(Some(sender)), queued, pipe, input_closed }, writer)
    }

    /// Writes a line after all queued lines.
    pub(super) fn write_line(&self, mut line: String, id: Option<u64>, result_tx: Option<ResultSender>) {
        let mut receipt = Receipt { result_tx, started: false };
        line.push('\n');
        let mut bytes = line.into_bytes();
        // While this is locked, no other line is queued.
        let queue = unpoisoned(self.queue.lock());
        let Some(queue) = &*queue else { return };
        let queued = self.queued.load(Ordering::Acquire);
        if queued + bytes.len() > MAX_QUEUED_BYTES {
            let reason = "the server does not read what it is sent".to_owned();
            return receipt.report(Err(TransportError { written: false, reason }));
        }
        // A pipe usually has capacity, so the writer task is not needed.
        if queued == 0 && cfg!(unix) {
            match self.try_write(&bytes) {
                Poll::Ready(Ok(count)) if count == bytes.len() => return receipt.report(Ok(())),
                Poll::Ready(Ok(count)) => {
                    bytes.drain(..count);
                    receipt.started = true;
                }
                Poll::Ready(Err(error)) => {
                    self.input_closed.cancel();
                    return receipt.report(Err(TransportError { written: false, reason: error.to_string() }));
                }
                Poll::Pending => {}
            }
        }
        let id = id.filter(|_| !receipt.started);
        self.queued.fetch_add(bytes.len(), Ordering::AcqRel);
        // If the writer task has ended, dropping the receipt reports it.
        drop(queue.send(QueuedLine { bytes, id, receipt }));
    }

    /// Closes the input after all lines are written.
    pub(super) fn close(&self) {
        drop(unpoisoned(self.queue.lock()).take());
    }

    fn try_write(&self, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *unpoisoned(self.pipe.lock()) {
            Some(stdin) => Pin::new(stdin).poll_write(&mut Context::from_waker(Waker::noop()), bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

/// Writes lines, several per write if they are queued.
async fn write(
    pipe: Pipe,
    mut queue: mpsc::UnboundedReceiver<QueuedLine>,
    inbox: Inbox,
    queued: Arc<AtomicUsize>,
) -> io::Result<()> {
    let (mut bytes, mut receipts) = (Vec::new(), Vec::new());
    while let Some(first) = queue.recv().await {
        let (mut next, mut dequeued) = (Some(first), 0);
        while let Some(QueuedLine { bytes: line, id, mut receipt }) = next.take() {
            dequeued += line.len();
            if id.is_none_or(|id| inbox.is_pending(id)) {
                receipt.started = true;
                receipts.push((bytes.len(), receipt));
                bytes.extend_from_slice(&line);
            }
            if bytes.len() < MAX_BATCH_BYTES {
                next = queue.try_recv().ok();
            }
        }
        let mut written = 0;
        let outcome = write_all(&pipe, &bytes, &mut written).await;
        // Only now may other lines be written directly.
        queued.fetch_sub(dequeued, Ordering::AcqRel);
        bytes.clear();
        for (start, mut receipt) in receipts.drain(..) {
            receipt.report(match &outcome {
                Ok(()) => Ok(()),
                Err(error) => Err(TransportError { written: start < written, reason: error.to_string() }),
            });
        }
        outcome?;
    }
    drop(unpoisoned(pipe.lock()).take());
    Ok(())
}

async fn write_all(pipe: &Pipe, bytes: &[u8], written: &mut usize) -> io::Result<()> {
    poll_fn(|cx| {
        let mut pipe = unpoisoned(pipe.lock());
        let Some(stdin) = &mut *pipe else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        while *written < bytes.len() {
            match ready!(Pin::new(&mut *stdin).poll_write(cx, &bytes[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => *written += count,
            }
        }
        Pin::new(stdin).poll_flush(cx)
    })
    .await
}
