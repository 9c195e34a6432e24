//! The thread that writes records.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::data::non_empty;
use super::queue::{Ack, CallEnd, CallOutcome, Message, Queue, RawRecord};
use super::{AuditError, AuditIntent, AuditOutcome, AuditSink, AuditStatus, CLIENT, PROGRAM, REQUEST};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::{catch_panic, discard};
use toolgen_kernel::base::time::rfc3339;
use toolgen_kernel::call::context::ModelRequest;
use toolgen_kernel::call::digest::promise;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::layers::redact::{FAILED_MASK, Redactor, Secrets, ToolRedactor};

/// Interval at which a sink that keeps records retries to write them.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The number of cached tools at which dropped ones are removed.
const CACHED_TOOLS_BEFORE_SWEEP: usize = 4096;

/// Maximum number of characters of a user's message in a record.
const MAX_PROMPT_CHARS: usize = 200;

/// Counts of records that are missing.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) dropped: AtomicU64,
    pub(super) errors: AtomicU64,
}

impl Counts {
    fn add_errors(&self, records: usize) {
        self.errors.fetch_add(u64::try_from(records).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn drop_one(&self) {
        let before = self.dropped.fetch_add(1, Ordering::Relaxed);
        // One log line is enough; the counter has the total.
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
    /// Whether the user's first message is recorded.
    prompts: bool,
    counts: Arc<Counts>,
    /// The calls whose intent was sent to the writer.
    pending: BTreeMap<u64, PendingRecord>,
    /// The tools by address, which cannot be reused while the weak pointer exists.
    tools: BTreeMap<usize, (Weak<dyn AgentTool>, Arc<ToolInfo>)>,
    /// The redactor for calls of unknown tools.
    unknown_tool: Arc<ToolInfo>,
    /// The last error since the last requested flush.
    last_error: Option<AuditError>,
    /// How many records the sink keeps because it could not write them.
    buffered: usize,
}

/// The data that is needed to write the outcome of a call.
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
    /// Callers that wait for specific records.
    acks: Vec<Ack>,
    /// Callers that wait for all records.
    flushes: Vec<Ack>,
}

/// Marks the writer as ended, for any reason.
struct EndGuard<'q>(&'q Queue);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Writer {
    pub(super) fn new(
        sink: Box<dyn AuditSink>,
        (redactor, bytes, prompts): (Redactor, bool, bool),
        counts: Arc<Counts>,
    ) -> Writer {
        let unknown_tool = redactor.for_unknown().keeping_bytes(bytes);
        let unknown_tool = Arc::new(ToolInfo { redactor: unknown_tool, spec_hash: Text::EMPTY });
        let (pending, tools) = (BTreeMap::new(), BTreeMap::new());
        let (last_error, buffered) = (None, 0);
        Writer { sink, redactor, bytes, prompts, counts, pending, tools, unknown_tool, last_error, buffered }
    }

    /// Writes until the queue is closed and empty.
    pub(super) fn run(mut self, queue: &Queue) {
        let _end = EndGuard(queue);
        let mut buffer = Vec::new();
        while let Some(mut messages) = queue.take(buffer, (self.buffered > 0).then_some(RETRY_INTERVAL)) {
            let mut batch = Batch::default();
            for message in messages.drain(..) {
                self.handle(message, &mut batch);
            }
            self.flush(batch);
            buffer = messages;
        }
        if self.buffered > 0 {
            // This is the last attempt.
            self.flush(Batch::default());
            self.counts.add_errors(self.buffered);
        }
        // The sink is dropped before callers are notified of the end. A panic while it is dropped must not prevent the
        // notification.
        discard(self);
    }

    fn handle(&mut self, message: Message, batch: &mut Batch) {
        match message {
            Message::Intent(raw, ack) => {
                let record = self.prepare(*raw);
                let key = record.intent.key;
                let result = self.call_sink(|sink| sink.intent(&record.intent));
                self.pending.insert(key, record);
                self.record_result(result, ack, batch);
            }
            Message::Outcome(CallOutcome { key, end, duration, has_run, secrets }) => {
                let Some(mut record) = self.pending.remove(&key) else { return };
                if let Some(secrets) = secrets {
                    record.secrets = record.secrets.and(&secrets);
                }
                self.write_outcome(&record, &end, duration, has_run, None, batch);
            }
            Message::Refused(raw, end, duration, ack) => {
                let record = self.prepare(*raw);
                self.write_outcome(&record, &end, duration, false, ack, batch);
            }
            Message::Flush(ack) => batch.flushes.push(ack),
        }
    }

    fn write_outcome(
        &mut self,
        record: &PendingRecord,
        end: &CallEnd,
        duration: Duration,
        has_run: bool,
        ack: Option<Ack>,
        batch: &mut Batch,
    ) {
        let outcome = catch_panic(|| record.outcome(end, duration, has_run));
        let outcome = outcome.unwrap_or_else(|| redaction_failure(end, duration, has_run));
        let result = self.call_sink(|sink| sink.outcome(&record.intent, &outcome));
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
                self.record_loss(1, 0, &error);
                acknowledge(ack, Err(error));
            }
        }
    }

    /// Makes the sink persist what it accepted.
    fn flush(&mut self, batch: Batch) {
        let result = self.call_sink(|sink| sink.flush());
        self.buffered = 0;
        if let Err(error) = &result {
            let (kept, lost) = error.buffered.unwrap_or((0, batch.accepted));
            self.buffered = kept;
            self.record_loss(lost, kept, error);
        }
        for ack in batch.acks {
            acknowledge(Some(ack), result.clone());
        }
        if !batch.flushes.is_empty() {
            // Records that the sink keeps are not written either.
            let error = self.last_error.take().or_else(|| result.err());
            for ack in batch.flushes {
                acknowledge(Some(ack), error.clone().map_or(Ok(()), Err));
            }
        }
    }

    fn record_loss(&mut self, records: usize, kept: usize, error: &AuditError) {
        self.counts.add_errors(records);
        if records > 0 {
            self.last_error = Some(error.clone());
        }
        log::lost(records, kept, error);
    }

    fn call_sink(
        &mut self,
        operation: impl FnOnce(&mut dyn AuditSink) -> Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        let sink = &mut *self.sink;
        catch_panic(|| operation(sink)).unwrap_or_else(|| Err(AuditError::new("the sink panicked")))
    }

    /// Creates the redacted intent.
    fn prepare(&mut self, raw: RawRecord) -> PendingRecord {
        let RawRecord {
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
            request,
            program,
            secrets,
            tool,
            at,
        } = raw;
        let redacted = catch_panic(|| {
            let tool_info = match &tool {
                Some(tool) => self.tool_info(tool),
                None => Arc::clone(&self.unknown_tool),
            };
            let outer_secrets = secrets.unwrap_or_default();
            let (mut parameters, mut secrets) = tool_info.redactor.arguments_with(arguments, &outer_secrets);
            if let (Value::Object(members), false) = (&mut parameters, client.is_empty()) {
                let (values, all_secrets) =
                    self.unknown_tool.redactor.arguments_with(client.into(), &secrets);
                members.insert(CLIENT.to_owned(), values);
                secrets = all_secrets;
            }
            if let (Value::Object(members), Some(request)) = (&mut parameters, &request) {
                let request = request_members(request, self.prompts, &tool_info.redactor, &secrets);
                members.insert(REQUEST.to_owned(), request.into());
            }
            if let (Value::Object(members), Some(program)) = (&mut parameters, &program) {
                let id = secrets.replace(program).unwrap_or_else(|| program.to_string());
                members.insert(PROGRAM.to_owned(), id.into());
            }
            (tool_info, parameters, secrets)
        });
        let (tool_info, parameters, secrets) = redacted
            .unwrap_or_else(|| (Arc::clone(&self.unknown_tool), Value::from(FAILED_MASK), Secrets::all()));
        let spec_hash = tool_info.spec_hash.clone();
        let timestamp = rfc3339(at);
        // A model or a tool generated these strings, so they may contain secrets.
        let redact = |text: Text| secrets.replace(&text).map_or(text, Text::from);
        let tool_name = if tool.is_none() { redact(tool_name) } else { tool_name };
        // If there are too many secrets to search for, records are still matched by this ID.
        let tool_call_id = if secrets.are_too_many() { tool_call_id } else { redact(tool_call_id) };
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
            approved_by: non_empty(approver),
        };
        PendingRecord { intent, tool_info, secrets }
    }

    fn tool_info(&mut self, tool: &Arc<dyn AgentTool>) -> Arc<ToolInfo> {
        let address = Arc::as_ptr(tool).cast::<()>().addr();
        if let Some((_, tool_info)) = self.tools.get(&address) {
            return Arc::clone(tool_info);
        }
        if self.tools.len() >= CACHED_TOOLS_BEFORE_SWEEP {
            self.tools.retain(|_, (tool, _)| tool.strong_count() > 0);
        }
        let tool_info = Arc::new(ToolInfo {
            redactor: self.redactor.for_tool(tool.spec()).keeping_bytes(self.bytes),
            spec_hash: promise(&**tool).into(),
        });
        self.tools.insert(address, (Arc::downgrade(tool), Arc::clone(&tool_info)));
        tool_info
    }
}

/// Returns the redacted request that led to a call. Secrets are redacted before the message is shortened: a part of a
/// secret might not be recognized.
fn request_members(
    request: &ModelRequest,
    prompts: bool,
    redactor: &ToolRedactor,
    secrets: &Secrets,
) -> Map<String, Value> {
    let prompt = if prompts { redactor.text(&request.prompt, secrets) } else { Cow::Borrowed("") };
    let prompt = match prompt.char_indices().nth(MAX_PROMPT_CHARS) {
        Some((end, _)) => format!("{}…", &prompt[..end]),
        None => prompt.into_owned(),
    };
    let known = |text: &str| (!text.is_empty()).then(|| Value::from(text));
    let tokens = |count: u64| (count > 0).then(|| Value::from(count));
    let members = [
        ("number", Some(request.number.into())),
        ("prompt", known(&prompt)),
        ("model", known(&request.model)),
        ("input_tokens", tokens(request.input_tokens)),
        ("output_tokens", tokens(request.output_tokens)),
        ("cost_usd", request.cost_usd.map(Value::from)),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn acknowledge(ack: Option<Ack>, result: Result<(), AuditError>) {
    if let Some(ack) = ack {
        // A caller that no longer waits has abandoned the call.
        let _ = ack.send(result);
    }
}

impl PendingRecord {
    fn outcome(&self, end: &CallEnd, duration: Duration, has_run: bool) -> AuditOutcome {
        let (redactor, secrets) = (&self.tool_info.redactor, &self.secrets);
        let status = status(end, has_run);
        let (result, error, code) = match end {
            CallEnd::Outcome(outcome) => match &**outcome {
                Ok(result) => {
                    let (text, code) = result_error(result);
                    let text = text.map(|text| redactor.text(&text, secrets).into_owned());
                    let code = code.and_then(|code| secrets.code(code));
                    (redactor.result(result, secrets), text, code.map(|code| Cow::Owned(code.to_owned())))
                }
                Err(reason) => {
                    let code = secrets.code(reason.code()).map(|code| Cow::Owned(code.to_owned()));
                    (approval_reference(reason), Some(redactor.error(reason, secrets)), code)
                }
            },
            CallEnd::Abandoned => (Value::Null, Some("Cancelled".to_owned()), Some("CANCELLED".into())),
            CallEnd::Panicked => (Value::Null, Some("ended by a panic".to_owned()), Some("UNKNOWN".into())),
        };
        let is_error = error.is_some();
        AuditOutcome { status, result, error, error_code: code, is_error, duration }
    }
}

/// Returns the result in the record of a call that waits for an approval: the ID of the approval, because a model may
/// give two calls the same ID. Returns `null` for other errors.
fn approval_reference(error: &ToolError) -> Value {
    match error {
        ToolError::ApprovalRequired(request) if !request.queue_id().is_empty() => {
            json!({ "approval": request.queue_id() })
        }
        _ => Value::Null,
    }
}

/// Returns the remaining data of an outcome that could not be redacted.
fn redaction_failure(end: &CallEnd, duration: Duration, has_run: bool) -> AuditOutcome {
    let is_error = status(end, has_run) != AuditStatus::Ok;
    AuditOutcome {
        status: status(end, has_run),
        result: Value::from(FAILED_MASK),
        error: is_error.then(|| FAILED_MASK.to_owned()),
        error_code: None,
        is_error,
        duration,
    }
}

fn status(end: &CallEnd, has_run: bool) -> AuditStatus {
    let outcome = match end {
        CallEnd::Abandoned => return AuditStatus::Cancelled,
        CallEnd::Panicked => return AuditStatus::Unknown,
        CallEnd::Outcome(outcome) => &**outcome,
    };
    match outcome {
        Err(ToolError::Cancelled) => AuditStatus::Cancelled,
        _ if !has_run => AuditStatus::Refused,
        Ok(result) if !result.is_error() => AuditStatus::Ok,
        Err(ToolError::Timeout { .. }) => AuditStatus::Timeout,
        _ => AuditStatus::Error,
    }
}

/// Returns the message and the code of a result that is itself an error.
fn result_error(result: &ToolResult) -> (Option<String>, Option<&str>) {
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
