//! The thread that writes records.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Value, json};

use super::data::named;
use super::queue::{Ack, Ended, Ending, Message, Queue, Raw};
use super::{AuditError, AuditIntent, AuditOutcome, AuditSink, AuditStatus, CLIENT};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::{contained, discard};
use toolgen_kernel::base::time::rfc3339;
use toolgen_kernel::call::digest::promise;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::layers::redact::{FAILED_MASK, Redactor, Secrets, ToolRedactor};

/// Interval at which a sink that keeps records tries to write them again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The number of cached tools at which dropped ones are removed.
const TOOLS: usize = 4096;
/// Counts of records that are missing.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) dropped: AtomicU64,
    pub(super) errors: AtomicU64,
}

impl Counts {
    fn lose(&self, records: usize) {
        self.errors.fetch_add(u64::try_from(records).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn drop_one(&self) {
        let before = self.dropped.fetch_add(1, Ordering::Relaxed);
        // Logging once is enough while no one reads the log; the counter has the total.
        if before == 0 {
            log::dropped();
        }
    }
}

pub(super) struct Writer {
    sink: Box<dyn AuditSink>,
    redactor: Redactor,
    /// Whether binary content of results is recorded.
    bytes: bool,
    counts: Arc<Counts>,
    /// The calls whose intent was sent to the writer.
    open: BTreeMap<u64, PendingRecord>,
    /// The tools by address, which cannot be reused while the weak pointer exists.
    tools: BTreeMap<usize, (Weak<dyn AgentTool>, Arc<ToolInfo>)>,
    /// The redactor for calls of unknown tools.
    unknown: Arc<ToolInfo>,
    /// The last error since the last requested flush.
    failed: Option<AuditError>,
    /// How many records the sink keeps because it could not write them.
    buffered: usize,
}

/// What is needed to write the outcome of a call.
struct PendingRecord {
    intent: AuditIntent,
    tool_info: Arc<ToolInfo>,
    secrets: Secrets,
}

struct ToolInfo {
    redactor: ToolRedactor,
    spec_hash: Text,
}

/// The records that the writer handles together.
#[derive(Default)]
struct Batch {
    /// How many records the sink accepted.
    accepted: usize,
    /// Callers that wait for their own records.
    acks: Vec<Ack>,
    /// Callers that wait for all records.
    flushes: Vec<Ack>,
}

/// Marks the writer as ended, for any reason.
struct End<'q>(&'q Queue);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Writer {
    pub(super) fn new(
        sink: Box<dyn AuditSink>,
        (redactor, bytes): (Redactor, bool),
        counts: Arc<Counts>,
    ) -> Writer {
        let unknown = redactor.for_unknown().keeping_bytes(bytes);
        let unknown = Arc::new(ToolInfo { redactor: unknown, spec_hash: Text::EMPTY });
        let (open, tools) = (BTreeMap::new(), BTreeMap::new());
        Writer { sink, redactor, bytes, counts, open, tools, unknown, failed: None, buffered: 0 }
    }

    /// Writes until the queue is closed and empty.
    pub(super) fn run(mut self, queue: &Queue) {
        let _end = End(queue);
        let mut spare = Vec::new();
        while let Some(mut messages) = queue.take(spare, (self.buffered > 0).then_some(RETRY_INTERVAL)) {
            let mut batch = Batch::default();
            for message in messages.drain(..) {
                self.message(message, &mut batch);
            }
            self.flush(batch);
            spare = messages;
        }
        if self.buffered > 0 {
            // The last attempt.
            self.flush(Batch::default());
            self.counts.lose(self.buffered);
        }
        // Dropped before callers are notified of the end; a panic of the sink while it is dropped must not prevent
        // that.
        discard(self);
    }

    fn message(&mut self, message: Message, batch: &mut Batch) {
        match message {
            Message::Intent(raw, ack) => {
                let open = self.open(*raw);
                let key = open.intent.key;
                let result = self.ask(|sink| sink.intent(&open.intent));
                self.open.insert(key, open);
                self.record_result(result, ack, batch);
            }
            Message::Outcome(Ending { key, ended, took, ran, secrets }) => {
                let Some(mut open) = self.open.remove(&key) else { return };
                if let Some(secrets) = secrets {
                    open.secrets = open.secrets.and(&secrets);
                }
                self.outcome(&open, &ended, took, ran, None, batch);
            }
            Message::Refused(raw, ended, took, ack) => {
                let open = self.open(*raw);
                self.outcome(&open, &ended, took, false, ack, batch);
            }
            Message::Flush(ack) => batch.flushes.push(ack),
        }
    }

    fn outcome(
        &mut self,
        open: &PendingRecord,
        ended: &Ended,
        took: Duration,
        ran: bool,
        ack: Option<Ack>,
        batch: &mut Batch,
    ) {
        let outcome = contained(|| open.outcome(ended, took, ran));
        let outcome = outcome.unwrap_or_else(|| unreadable(ended, took, ran));
        let result = self.ask(|sink| sink.outcome(&open.intent, &outcome));
        self.record_result(result, ack, batch);
    }

    /// Records whether the sink accepted a record.
    fn record_result(&mut self, result: Result<(), AuditError>, ack: Option<Ack>, batch: &mut Batch) {
        match result {
            Ok(()) => {
                batch.accepted += 1;
                batch.acks.extend(ack);
            }
            Err(error) => {
                self.lost(1, 0, &error);
                answer(ack, Err(error));
            }
        }
    }

    /// Makes the sink persist what it accepted.
    fn flush(&mut self, batch: Batch) {
        let result = self.ask(|sink| sink.flush());
        self.buffered = 0;
        if let Err(error) = &result {
            let (kept, lost) = error.buffered.unwrap_or((0, batch.accepted));
            self.buffered = kept;
            self.lost(lost, kept, error);
        }
        for ack in batch.acks {
            answer(Some(ack), result.clone());
        }
        if !batch.flushes.is_empty() {
            // Records that the sink keeps are not written either.
            let failed = self.failed.take().or_else(|| result.err());
            for ack in batch.flushes {
                answer(Some(ack), failed.clone().map_or(Ok(()), Err));
            }
        }
    }

    fn lost(&mut self, records: usize, kept: usize, error: &AuditError) {
        self.counts.lose(records);
        if records > 0 {
            self.failed = Some(error.clone());
        }
        log::lost(records, kept, error);
    }

    fn ask(
        &mut self,
        question: impl FnOnce(&mut dyn AuditSink) -> Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        let sink = &mut *self.sink;
        contained(|| question(sink)).unwrap_or_else(|| Err(AuditError::new("the sink panicked")))
    }

    /// Creates the redacted intent.
    fn open(&mut self, raw: Raw) -> PendingRecord {
        let Raw {
            key,
            parent,
            turn,
            session_id,
            agent_id,
            principal,
            tool_name,
            tool_call_id,
            attempt,
            approver,
            arguments,
            client,
            secrets,
            tool,
            at,
        } = raw;
        let prepared = contained(|| {
            let known = match &tool {
                Some(tool) => self.tool_info(tool),
                None => Arc::clone(&self.unknown),
            };
            let above = secrets.unwrap_or_default();
            let (mut parameters, mut secrets) = known.redactor.arguments_with(arguments, &above);
            if let (Value::Object(displayed), false) = (&mut parameters, client.is_empty()) {
                let (values, more) = self.unknown.redactor.arguments_with(client.into(), &secrets);
                displayed.insert(CLIENT.to_owned(), values);
                secrets = more;
            }
            (known, parameters, secrets)
        });
        let (known, parameters, secrets) =
            prepared.unwrap_or_else(|| (Arc::clone(&self.unknown), Value::from(FAILED_MASK), Secrets::all()));
        let spec_hash = known.spec_hash.clone();
        let timestamp = rfc3339(at);
        // Text that a model or a tool generated.
        let visible = |text: Text| secrets.replace(&text).map_or(text, Text::from);
        let tool_name = if tool.is_none() { visible(tool_name) } else { tool_name };
        // If there are too many secrets to search for, records are still matched by this ID.
        let tool_call_id = if secrets.are_too_many() { tool_call_id } else { visible(tool_call_id) };
        let intent = AuditIntent {
            key,
            parent,
            turn,
            session_id,
            agent_id,
            principal,
            tool_name,
            tool_call_id,
            parameters,
            timestamp,
            spec_hash,
            attempt,
            approved: approver.is_some(),
            approved_by: named(approver),
        };
        PendingRecord { intent, tool_info: known, secrets }
    }

    fn tool_info(&mut self, tool: &Arc<dyn AgentTool>) -> Arc<ToolInfo> {
        let address = Arc::as_ptr(tool).cast::<()>().addr();
        if let Some((_, known)) = self.tools.get(&address) {
            return Arc::clone(known);
        }
        if self.tools.len() >= TOOLS {
            self.tools.retain(|_, (tool, _)| tool.strong_count() > 0);
        }
        let known = Arc::new(ToolInfo {
            redactor: self.redactor.for_tool(tool.spec()).keeping_bytes(self.bytes),
            spec_hash: promise(&**tool).into(),
        });
        self.tools.insert(address, (Arc::downgrade(tool), Arc::clone(&known)));
        known
    }
}

fn answer(ack: Option<Ack>, result: Result<(), AuditError>) {
    if let Some(ack) = ack {
        // A caller that no longer waits has abandoned the call.
        let _ = ack.send(result);
    }
}

impl PendingRecord {
    fn outcome(&self, ended: &Ended, took: Duration, ran: bool) -> AuditOutcome {
        let (redactor, secrets) = (&self.tool_info.redactor, &self.secrets);
        let status = status(ended, ran);
        let (result, error, code) = match ended {
            Ended::With(outcome) => match &**outcome {
                Ok(result) => {
                    let (text, code) = own_error(result);
                    let text = text.map(|text| redactor.text(&text, secrets).into_owned());
                    let code = code.and_then(|code| secrets.code(code));
                    (redactor.result(result, secrets), text, code.map(|code| Cow::Owned(code.to_owned())))
                }
                Err(reason) => {
                    let code = secrets.code(reason.code()).map(|code| Cow::Owned(code.to_owned()));
                    (waits_for(reason), Some(redactor.error(reason, secrets)), code)
                }
            },
            Ended::GivenUp => (Value::Null, Some("Cancelled".to_owned()), Some("CANCELLED".into())),
            Ended::TornDown => (Value::Null, Some("ended by a panic".to_owned()), Some("UNKNOWN".into())),
        };
        let is_error = error.is_some();
        AuditOutcome { status, result, error, error_code: code, is_error, duration: took }
    }
}

/// Returns the result in the record of a call that waits for an approval: the ID of the approval, because a model may
/// give two calls the same ID. `null` for other errors.
fn waits_for(error: &ToolError) -> Value {
    match error {
        ToolError::ApprovalRequired(request) if !request.queue_id().is_empty() => {
            json!({ "approval": request.queue_id() })
        }
        _ => Value::Null,
    }
}

/// Returns the remaining data of an outcome that could not be redacted.
fn unreadable(ended: &Ended, took: Duration, ran: bool) -> AuditOutcome {
    let is_error = status(ended, ran) != AuditStatus::Ok;
    AuditOutcome {
        status: status(ended, ran),
        result: Value::from(FAILED_MASK),
        error: is_error.then(|| FAILED_MASK.to_owned()),
        error_code: None,
        is_error,
        duration: took,
    }
}

fn status(ended: &Ended, ran: bool) -> AuditStatus {
    let outcome = match ended {
        Ended::GivenUp => return AuditStatus::Cancelled,
        Ended::TornDown => return AuditStatus::Unknown,
        Ended::With(outcome) => &**outcome,
    };
    match outcome {
        Err(ToolError::Cancelled) => AuditStatus::Cancelled,
        _ if !ran => AuditStatus::Refused,
        Ok(result) if !result.is_error() => AuditStatus::Ok,
        Err(ToolError::Timeout { .. }) => AuditStatus::Timeout,
        _ => AuditStatus::Error,
    }
}

/// Returns the message and the code of a result that is itself an error.
fn own_error(result: &ToolResult) -> (Option<String>, Option<&str>) {
    if !result.is_error() {
        return (None, None);
    }
    let text = |key| result.details.get(key).and_then(Value::as_str);
    let error = result.operator_text().or_else(|| text("error"));
    (Some(error.map_or_else(|| result.to_text(), str::to_owned)), text("code"))
}

/// Log messages for operators.
mod log {
    use super::AuditError;

    pub(super) fn lost(lost: usize, kept: usize, reason: &AuditError) {
        #[cfg(feature = "tracing")]
        tracing::error!(target: "toolgen::audit", lost, kept, error = %reason, "Audit records could not be written");
        let _ = (lost, kept, reason);
    }

    pub(super) fn dropped() {
        #[cfg(feature = "tracing")]
        tracing::error!(target: "toolgen::audit", "Audit records are dropped");
    }
}
