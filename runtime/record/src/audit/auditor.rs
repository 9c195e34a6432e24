//! The auditor, which records calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use tokio::sync::oneshot;

use super::handle::{Handle, shut_down_error};
use super::queue::{Message, Queue, RawRecord};
use super::record::{CallInfo, Record};
use super::writer::{Counts, Writer};
use super::{AuditError, AuditSink};
use toolgen_kernel::layers::redact::Redactor;

/// Default maximum number of records that wait to be written.
const DEFAULT_CAPACITY: usize = 8192;

/// Records calls. Clones share the same auditor.
///
/// When the last clone is dropped, it waits until everything is written, for at most five seconds;
/// [`shutdown`](Self::shutdown) does the same without blocking a thread.
#[derive(Clone)]
pub struct Auditor(Option<Arc<Handle>>);

/// A builder for an [`Auditor`].
pub struct AuditorBuilder {
    sink: Box<dyn AuditSink>,
    redactor: Redactor,
    capacity: usize,
    durable: bool,
    bytes: bool,
    prompts: bool,
}

impl AuditorBuilder {
    /// Sets the maximum number of records that wait to be written. Default: 8192. Additional records are dropped and
    /// counted, except for outcomes of calls whose intent was accepted: they may exceed the capacity. No effect in
    /// durable mode, where calls wait.
    #[must_use]
    pub fn capacity(mut self, records: usize) -> AuditorBuilder {
        self.capacity = records;
        self
    }

    /// Sets durable mode: a call runs only after its intent is on disk, and is refused if the intent cannot be
    /// written.
    #[must_use]
    pub fn durable(mut self, durable: bool) -> AuditorBuilder {
        self.durable = durable;
        self
    }

    /// Records the bytes of images, audio and files in results, instead of their length. A [replay](crate::replay) of
    /// such results needs them. This content is not searched for secrets.
    #[must_use]
    pub fn record_bytes(mut self, record_bytes: bool) -> AuditorBuilder {
        self.bytes = record_bytes;
        self
    }

    /// Sets whether the record of an agent's call contains the start of the user's first message, redacted. Default:
    /// `true`. A message may contain secrets that no rule recognizes.
    #[must_use]
    pub fn record_prompts(mut self, record_prompts: bool) -> AuditorBuilder {
        self.prompts = record_prompts;
        self
    }

    /// Sets the redactor. Default: the default rules.
    #[must_use]
    pub fn redactor(mut self, redactor: Redactor) -> AuditorBuilder {
        self.redactor = redactor;
        self
    }

    /// Starts the writer thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread cannot be started, or the sink cannot be made durable.
    pub fn start(mut self) -> Result<Auditor, AuditError> {
        if self.durable {
            self.sink.make_durable()?;
        }
        let (queue, counts) = (Arc::new(Queue::default()), Arc::new(Counts::default()));
        let writer = Writer::new(self.sink, (self.redactor, self.bytes, self.prompts), Arc::clone(&counts));
        let writer_queue = Arc::clone(&queue);
        let thread =
            std::thread::Builder::new().name("tool-audit".into()).spawn(move || writer.run(&writer_queue))?;
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Auditor(Some(Arc::new(Handle {
            id,
            queue,
            counts,
            next_key: AtomicU64::new(1),
            capacity: self.capacity,
            durable: self.durable,
            bytes: self.bytes,
            writer: thread.thread().id(),
        }))))
    }
}

impl Auditor {
    /// Returns an auditor that records nothing and has no cost.
    #[must_use]
    pub const fn none() -> Auditor {
        Auditor(None)
    }

    /// Returns a builder for an auditor that writes to this sink.
    pub fn builder(sink: impl AuditSink + 'static) -> AuditorBuilder {
        let redactor = Redactor::new();
        AuditorBuilder {
            sink: Box::new(sink),
            redactor,
            capacity: DEFAULT_CAPACITY,
            durable: false,
            bytes: false,
            prompts: true,
        }
    }

    /// Returns whether anything is recorded.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Starts the record of a call, which is completed as the call proceeds. `info` is called only if anything is
    /// recorded.
    pub fn record(&self, info: impl FnOnce() -> CallInfo) -> Record {
        let Some(handle) = &self.0 else { return Record::none() };
        let info = info();
        let raw = RawRecord {
            key: handle.next_key.fetch_add(1, Ordering::Relaxed),
            parent: info.outer.filter(|outer| outer.auditor == handle.id).map_or(0, |outer| outer.key),
            turn: info.turn,
            request: info.request,
            program: info.program,
            session_id: info.session_id,
            agent_id: info.agent_id,
            principal: info.principal,
            tool_name: info.tool_name,
            tool_call_id: info.tool_call_id,
            attempt: info.attempt,
            approver: None,
            arguments: info.arguments,
            client: info.client,
            secrets: info.secrets,
            tool: info.tool,
            at: SystemTime::now(),
        };
        Record::new(Arc::clone(handle), raw)
    }

    /// Waits until everything recorded so far is written.
    ///
    /// # Errors
    ///
    /// Returns an error if something could not be written since the last flush, or the auditor is shut down.
    pub async fn flush(&self) -> Result<(), AuditError> {
        let Some(handle) = &self.0 else { return Ok(()) };
        let (ack, response) = oneshot::channel();
        handle.queue.push(Message::Flush(ack), usize::MAX);
        response.await.unwrap_or_else(|_| Err(shut_down_error()))
    }

    /// Writes everything recorded so far, drops the sink and stops. Later records count as dropped; durable calls are
    /// refused.
    pub async fn shutdown(&self) {
        let Some(handle) = &self.0 else { return };
        handle.queue.close();
        if let Some(end) = handle.queue.end_notification() {
            // An error means that the writer has ended, which is the condition to wait for.
            let _ = end.await;
        }
    }

    /// Returns how many calls have no record because the queue was full or the auditor was shut down.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.as_ref().map_or(0, |handle| handle.counts.dropped.load(Ordering::Relaxed))
    }

    /// Returns how many intents and outcomes the sink could not write. Records that the sink keeps to write later do
    /// not count until the auditor is shut down.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.0.as_ref().map_or(0, |handle| handle.counts.errors.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for Auditor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(handle) => f
                .debug_struct("Auditor")
                .field("durable", &handle.durable)
                .field("waiting", &handle.queue.len())
                .field("dropped", &self.dropped())
                .field("errors", &self.errors())
                .finish_non_exhaustive(),
            None => f.write_str("Auditor::none()"),
        }
    }
}

impl fmt::Debug for AuditorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditorBuilder")
            .field("redactor", &self.redactor)
            .field("capacity", &self.capacity)
            .field("durable", &self.durable)
            .finish_non_exhaustive()
    }
}
