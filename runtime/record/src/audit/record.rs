//! The record of one call.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::handle::{Handle, shut_down_error};
use super::queue::{CallEnd, CallOutcome, Message, RawRecord};
use super::{AuditError, Auditor};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::context::{ModelRequest, ToolContext};
use toolgen_kernel::call::context_values::Provenance;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::layers::layer::{Layer, Outcome, Stage};
use toolgen_kernel::layers::observer::{Called, Observer};
use toolgen_kernel::layers::redact::Secrets;

/// The information about a call that is recorded.
#[derive(Clone)]
#[non_exhaustive]
pub struct CallInfo {
    /// The session; empty if there is none.
    pub session_id: Text,
    /// The agent; empty if unknown.
    pub agent_id: Text,
    /// The ID of the principal; empty if there is none.
    pub principal: Text,
    /// The tool that is called.
    pub tool_name: Text,
    /// The model's ID for the call.
    pub tool_call_id: Text,
    /// The number of this attempt at the call, starting at 1.
    pub attempt: u32,
    /// The arguments, including secrets.
    pub arguments: Value,
    /// The tool itself, which declares its secrets. Without a tool, every string may be secret.
    pub tool: Option<Arc<dyn AgentTool>>,
    /// The values of the context that a client sent.
    pub(super) client: Map<String, Value>,
    /// The vendor's ID of the program that made the call.
    pub(super) program: Option<Text>,
    /// The request to the model that led to the call.
    pub(super) request: Option<ModelRequest>,
    /// The secrets of the outer calls, and those that a toolbox found in the arguments.
    pub(super) secrets: Option<Arc<Secrets>>,
    /// The record of the outer call.
    pub(super) outer: Option<RecordPosition>,
    pub(super) turn: u64,
}

impl CallInfo {
    /// Creates the information about a call without session, agent and principal.
    pub fn new(tool_call_id: impl Into<Text>, tool_name: impl Into<Text>, arguments: Value) -> CallInfo {
        CallInfo {
            session_id: Text::EMPTY,
            agent_id: Text::EMPTY,
            principal: Text::EMPTY,
            tool_name: tool_name.into(),
            tool_call_id: tool_call_id.into(),
            attempt: 1,
            arguments,
            tool: None,
            client: Map::new(),
            program: None,
            request: None,
            secrets: None,
            outer: None,
            turn: 0,
        }
    }

    /// Creates the information about a call from its context.
    #[must_use]
    pub fn of(ctx: &ToolContext, arguments: Value) -> CallInfo {
        let mut info = CallInfo::new(ctx.tool_call_id.clone(), ctx.tool_name.clone(), arguments);
        info.secrets = ctx.secrets();
        let client_values =
            ctx.values().iter().filter(|(_, provenance, _)| *provenance == Provenance::Client);
        info.client = client_values.map(|(name, _, value)| (name.to_owned(), value.clone())).collect();
        (info.outer, info.turn) = (ctx.extension().copied(), ctx.turn().turn);
        info.request = ctx.extension().cloned();
        if let Some(principal) = ctx.principal() {
            info.principal = principal.id.clone();
        }
        if let Some(session) = ctx.session() {
            info.session_id = session.id().to_owned().into();
        }
        if let Some(agent_id) = ctx.agent_id() {
            info.agent_id = agent_id.to_owned().into();
        }
        info
    }

    /// Sets the tool itself.
    #[must_use]
    pub fn with_tool(mut self, tool: Option<Arc<dyn AgentTool>>) -> CallInfo {
        self.tool = tool;
        self
    }

    /// Sets the number of the attempt.
    #[must_use]
    pub fn with_attempt(mut self, attempt: u32) -> CallInfo {
        self.attempt = attempt;
        self
    }
}

impl fmt::Debug for CallInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omits the arguments.
        f.debug_struct("CallInfo")
            .field("tool_name", &self.tool_name)
            .field("tool_call_id", &self.tool_call_id)
            .finish_non_exhaustive()
    }
}

/// The position of a record: the auditor that keeps it, and its number there.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPosition {
    pub(super) auditor: u64,
    pub(super) key: u64,
}

/// The record of one call. If it is dropped without [`finish`](Self::finish), the call counts as abandoned.
#[must_use = "dropping a record records that the call was abandoned"]
pub struct Record(Option<Box<LiveRecord>>);

struct LiveRecord {
    handle: Arc<Handle>,
    state: State,
    start: Instant,
    secrets: Option<Arc<Secrets>>,
}

enum State {
    /// Nothing is written yet.
    Fresh(Box<RawRecord>),
    /// The intent was sent to the writer; `may_run` is whether the call may run.
    Intended { key: u64, may_run: bool },
    /// Everything is written.
    Complete,
}

impl Record {
    pub(super) fn none() -> Record {
        Record(None)
    }

    pub(super) fn new(handle: Arc<Handle>, raw: RawRecord) -> Record {
        // Boxed, because the record is part of the future of a call.
        Record(Some(Box::new(LiveRecord {
            handle,
            state: State::Fresh(Box::new(raw)),
            start: Instant::now(),
            secrets: None,
        })))
    }

    /// Replaces the arguments with those that the tool will receive.
    pub fn set_arguments(&mut self, arguments: &Value) {
        if let Some(LiveRecord { state: State::Fresh(raw), .. }) = self.0.as_deref_mut() {
            raw.arguments = arguments.clone();
        }
    }

    /// Records that the call was approved, and the approver; empty if not named.
    pub fn set_approved(&mut self, by: Text) {
        if let Some(LiveRecord { state: State::Fresh(raw), .. }) = self.0.as_deref_mut() {
            raw.approver = Some(by);
        }
    }

    /// Hides additional secrets: all secrets of the call that are known by now.
    fn hide(&mut self, secrets: Option<Arc<Secrets>>) {
        match self.0.as_deref_mut() {
            Some(LiveRecord { state: State::Fresh(raw), .. }) => raw.secrets = secrets,
            Some(live) => live.secrets = secrets,
            None => {}
        }
    }

    /// Returns the position of the record, for the records of nested calls.
    fn position(&self) -> Option<RecordPosition> {
        let live = self.0.as_ref()?;
        let State::Fresh(raw) = &live.state else { return None };
        Some(RecordPosition { auditor: live.handle.id, key: raw.key })
    }

    /// Records that the call is about to run. In durable mode its intent is on disk when this returns.
    ///
    /// # Errors
    ///
    /// In durable mode: `AUDIT_FAILED` if the intent could not be written. Then the call must not run.
    pub async fn intent(&mut self) -> Result<(), ToolError> {
        match self.intend() {
            None => Ok(()),
            Some(response) => response.await,
        }
    }

    /// Like [`intent`](Self::intent); `None` if there is nothing to wait for.
    fn intend(&mut self) -> Option<BoxFuture<'_, Result<(), ToolError>>> {
        let live = self.0.as_mut()?;
        let raw = match std::mem::replace(&mut live.state, State::Complete) {
            State::Fresh(raw) => raw,
            state => {
                live.state = state;
                return None;
            }
        };
        let key = raw.key;
        let handle = &live.handle;
        if !handle.durable {
            if handle.queue.push(Message::Intent(raw, None), handle.capacity) {
                live.state = State::Intended { key, may_run: true };
            } else {
                handle.counts.drop_one();
            }
            return None;
        }
        let (ack, response) = oneshot::channel();
        if handle.queue.push(Message::Intent(raw, Some(ack)), usize::MAX) {
            live.state = State::Intended { key, may_run: false };
        } else {
            handle.counts.drop_one();
        }
        Some(Box::pin(async move {
            match response.await.unwrap_or_else(|_| Err(shut_down_error())) {
                Ok(()) => {
                    live.state = State::Intended { key, may_run: true };
                    Ok(())
                }
                Err(error) => {
                    let text = "The call could not be recorded, so it was not executed";
                    let detail = format!("{text}: {error}");
                    Err(ToolError::failed_with("AUDIT_FAILED", text).with_operator_detail(detail))
                }
            }
        }))
    }

    /// Records the outcome of the call. Waits only for the record of a refused call in durable mode.
    pub async fn finish(mut self, outcome: &Result<ToolResult, ToolError>) {
        if let Some(response) = self.end(outcome) {
            // Failed writes are counted.
            let _ = response.await;
        }
    }

    fn end(&mut self, outcome: &Outcome) -> Option<oneshot::Receiver<Result<(), AuditError>>> {
        let live = self.0.as_mut()?;
        let bytes = live.handle.bytes;
        live.end(|| CallEnd::from_outcome(outcome, bytes))
    }
}

impl Layer for Auditor {
    fn stage(&self) -> Stage {
        Stage::Record
    }

    fn is_single(&self) -> bool {
        true
    }

    fn observe(&self, called: &Called<'_>, ctx: &mut ToolContext) -> Option<Box<dyn Observer>> {
        if !self.is_on() {
            return None;
        }
        let call = called.call();
        let attempt = if call.is_approved() { 2 } else { 1 };
        let info = || {
            CallInfo { program: call.program.clone(), ..CallInfo::of(ctx, call.arguments.clone()) }
                .with_tool(called.tool().cloned())
                .with_attempt(attempt)
        };
        let record = self.record(info);
        if let Some(position) = record.position() {
            ctx.set_extension(position);
        }
        Some(Box::new(record))
    }
}

impl Observer for Record {
    fn arguments(&mut self, arguments: &Value) {
        self.set_arguments(arguments);
    }

    fn approved(&mut self, by: &Text) {
        self.set_approved(by.clone());
    }

    fn intent(&mut self) -> Result<Option<BoxFuture<'_, Result<(), ToolError>>>, ToolError> {
        Ok(self.intend())
    }

    fn finish(
        mut self: Box<Self>,
        outcome: &Outcome,
        secrets: Option<Arc<Secrets>>,
    ) -> Option<BoxFuture<'static, ()>> {
        self.hide(secrets);
        let response = self.end(outcome)?;
        Some(Box::pin(async move {
            // Failed writes are counted.
            let _ = response.await;
        }))
    }
}

impl LiveRecord {
    /// Sends the end of the call to the writer.
    fn end(&mut self, end: impl FnOnce() -> CallEnd) -> Option<oneshot::Receiver<Result<(), AuditError>>> {
        let (handle, duration) = (&self.handle, self.start.elapsed());
        let (message, capacity, response) = match std::mem::replace(&mut self.state, State::Complete) {
            // An outcome with an intent may exceed the capacity: there are no more such outcomes than calls.
            State::Intended { key, may_run } => {
                let outcome =
                    CallOutcome { key, end: end(), duration, has_run: may_run, secrets: self.secrets.take() };
                (Message::Outcome(outcome), usize::MAX, None)
            }
            State::Fresh(raw) if handle.durable => {
                let (ack, response) = oneshot::channel();
                (Message::Refused(raw, end(), duration, Some(ack)), usize::MAX, Some(response))
            }
            State::Fresh(raw) => (Message::Refused(raw, end(), duration, None), handle.capacity, None),
            State::Complete => return None,
        };
        if !handle.queue.push(message, capacity) {
            handle.counts.drop_one();
        }
        response
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some(live) = &mut self.0 {
            // No caller remains to wait for the record.
            let _ =
                live.end(|| if std::thread::panicking() { CallEnd::Panicked } else { CallEnd::Abandoned });
        }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.0.as_ref().map(|live| &live.state) {
            None => "off",
            Some(State::Fresh(_)) => "fresh",
            Some(State::Intended { .. }) => "intended",
            Some(State::Complete) => "complete",
        };
        write!(f, "Record({state})")
    }
}
