//! The audit log: which tools were called, with which arguments, and with which outcome.
//!
//! A call leaves one record: the intent, written before the call runs, and the outcome, its result. Secrets are
//! redacted first, see [`redact`](toolgen_kernel::layers::redact). Calls that were refused and calls that were abandoned leave
//! a record, too.
//!
//! A separate thread writes the records. Usually no call waits for it: if it falls behind by more than the capacity of
//! the queue, whole records are dropped and counted. A *durable* [`Auditor`] does the opposite: a call runs only once
//! its intent is on disk, and is refused if the intent cannot be written.
//!
//! ```
//! use serde_json::json;
//! use toolgen_runtime::ToolResult;
//! use toolgen_runtime::layers::audit::{AuditStatus, Auditor, CallInfo, MemorySink};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sink = MemorySink::new();
//! let auditor = Auditor::builder(sink.clone()).start()?;
//!
//! // What a toolbox does for each of its calls.
//! let mut record = auditor.record(|| CallInfo::new("call-1", "login", json!({"password": "hunter2"})));
//! record.intent().await?;
//! record.finish(&Ok(ToolResult::text("welcome"))).await;
//!
//! auditor.flush().await?;
//! let row = &sink.rows()[0];
//! assert_eq!(row.intent.parameters, json!({"password": "[REDACTED]"}));
//! assert_eq!(row.status(), AuditStatus::Ok);
//! # Ok(())
//! # }
//! ```

mod auditor;
mod data;
mod handle;
mod jsonl;
mod memory;
mod queue;
mod reader;
mod record;
mod writer;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::redacted_debug::discreet_debug;

pub use auditor::{Auditor, AuditorBuilder};
pub use jsonl::JsonLinesSink;
pub use memory::{MemoryRecord, MemorySink};
pub use reader::{AuditLog, AuditReader, AuditRecord};
pub use record::{CallInfo, Record};

/// The part of a record that is written before the call runs.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct AuditIntent {
    /// The number of the call among those of one [`Auditor`], from 1.
    pub key: u64,
    /// The key of the call that made this one: of a tool that calls another, or of a sub-agent. 0 if a program or a
    /// model made the call, or the call above is not in these records.
    pub parent: u64,
    /// The number of the turn, among those of the program, whose calls a model made together, from 1; the calls that
    /// these make have it, too. 0 if the call is not part of a turn.
    pub turn: u64,
    /// The session; empty if there is none.
    pub session_id: Text,
    /// The agent; empty if unknown.
    pub agent_id: Text,
    /// The ID of the principal for whom the call is made; empty if there is none.
    pub principal: Text,
    /// The tool name as called: there may be no such tool.
    pub tool_name: Text,
    /// The model's id for the call.
    pub tool_call_id: Text,
    /// The arguments, redacted; and, as their member [`CLIENT`], the values of the context that a client sent, if it sent
    /// some.
    pub parameters: Value,
    /// When the call arrived: UTC as RFC 3339 with milliseconds, so that the texts sort like the times.
    pub timestamp: String,
    /// The SHA-256 of the tool's contract at that time, in hexadecimal; empty if there is no such tool.
    pub spec_hash: Text,
    /// The number of this attempt at the call, from 1.
    pub attempt: u32,
    /// Whether the call was approved.
    pub approved: bool,
    /// The approver. `None` if nobody approved the call, or the program does not name who did.
    pub approved_by: Option<Text>,
}

/// The member of the recorded [parameters](AuditIntent::parameters) with the values of the context that a client sent,
/// which nobody vouches for.
pub const CLIENT: &str = "@client";

/// The part of a record that is written after the call ended.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct AuditOutcome {
    /// How the call ended.
    pub status: AuditStatus,
    /// The redacted result, as [`ToolRedactor::result`](toolgen_kernel::layers::redact::ToolRedactor::result) returns it.
    /// `Null` if there is no result; for a call that waits for an approval, `{"approval": ID}`, see
    /// [`approval`](Self::approval).
    pub result: Value,
    /// The error text, redacted.
    pub error: Option<String>,
    /// The error code.
    pub error_code: Option<Cow<'static, str>>,
    /// Whether there is no result, or the result itself is an error.
    pub is_error: bool,
    /// How long the call took.
    pub duration: Duration,
}

discreet_debug!(
    AuditIntent: key, parent, turn, session_id, agent_id, principal, tool_name, tool_call_id, timestamp, spec_hash, attempt, approved, approved_by;
    parameters
);
discreet_debug!(AuditOutcome: status, error_code, is_error, duration; result, error);

/// The status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditStatus {
    /// The call was about to run, and nothing more is known yet.
    Started,
    /// The call has a result.
    Ok,
    /// The call ran and failed.
    Error,
    /// The call was answered without being run.
    Refused,
    /// The call timed out.
    Timeout,
    /// The caller abandoned the call. What the tool did until then is unknown.
    Cancelled,
    /// The program ended before the call did.
    Unknown,
}

impl AuditStatus {
    /// Returns `started`, `ok`, `error`, `refused`, `timeout`, `cancelled` or `unknown`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            AuditStatus::Started => "started",
            AuditStatus::Ok => "ok",
            AuditStatus::Error => "error",
            AuditStatus::Refused => "refused",
            AuditStatus::Timeout => "timeout",
            AuditStatus::Cancelled => "cancelled",
            AuditStatus::Unknown => "unknown",
        }
    }
}

impl AuditStatus {
    /// Returns the status with this name.
    fn of(name: &str) -> Option<AuditStatus> {
        use AuditStatus::{Cancelled, Error, Ok, Refused, Started, Timeout, Unknown};
        let known = [Started, Ok, Error, Refused, Timeout, Cancelled, Unknown];
        known.into_iter().find(|status| status.as_str() == name)
    }
}

impl fmt::Display for AuditStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AuditIntent {
    /// Returns the intent as a JSON object, without the keys, which mean something only among the records of one
    /// [`Auditor`].
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut written = json!({
            "timestamp": self.timestamp,
            "session_id": self.session_id.as_str(),
            "agent_id": self.agent_id.as_str(),
            "principal": self.principal.as_str(),
            "tool_name": self.tool_name.as_str(),
            "tool_call_id": self.tool_call_id.as_str(),
            "parameters": self.parameters,
            "spec_hash": self.spec_hash.as_str(),
            "attempt": self.attempt,
            "approved": self.approved,
            "approved_by": self.approved_by.as_deref(),
        });
        if self.turn > 0 {
            written["turn"] = self.turn.into();
        }
        written
    }
}

impl AuditOutcome {
    /// Returns the duration in whole milliseconds.
    #[must_use]
    pub fn duration_ms(&self) -> i64 {
        i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns the ID of the approval that the call waits for, under which a
    /// [queue](toolgen_kernel::toolbox::ToolboxBuilder::approval_queue) has it. `None` if it waits for none, or the record is
    /// from before records had it.
    #[must_use]
    pub fn approval(&self) -> Option<&str> {
        if self.error_code.as_deref() != Some("APPROVAL_REQUIRED") {
            return None;
        }
        self.result.get("approval")?.as_str()
    }

    /// Returns the outcome as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "status": self.status.as_str(),
            "result": self.result,
            "error": self.error,
            "error_code": self.error_code,
            "is_error": self.is_error,
            "duration_ms": self.duration_ms(),
        })
    }
}

/// A destination for records. All methods are called from one thread that does nothing else, so they may block.
///
/// If a sink fails, by an error or a panic, the failure is counted in [`Auditor::errors`], and the sink is used again
/// for the next record.
pub trait AuditSink: Send {
    /// Records that a call is about to run.
    ///
    /// # Errors
    ///
    /// If the intent could not be written. In durable mode the call is then refused.
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError>;

    /// Records that a call has ended. If [`intent`](Self::intent) was not called, because the call was refused, or
    /// failed, this is all the sink gets about the call.
    ///
    /// # Errors
    ///
    /// If the outcome could not be written.
    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError>;

    /// Persists everything received since the last flush; called after every few records. If the sink is durable,
    /// everything is on disk when this returns.
    ///
    /// # Errors
    ///
    /// If the records could not be written. All of them count as lost, unless the error says that some are
    /// [kept](AuditError::with_kept).
    fn flush(&mut self) -> Result<(), AuditError> {
        Ok(())
    }

    /// Makes the sink durable: [`flush`](Self::flush) must not return before everything is on disk. Called before
    /// everything else.
    ///
    /// # Errors
    ///
    /// If the sink cannot guarantee that.
    fn make_durable(&mut self) -> Result<(), AuditError> {
        Ok(())
    }
}

impl<T: AuditSink + ?Sized> AuditSink for Box<T> {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        (**self).intent(intent)
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        (**self).outcome(intent, outcome)
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        (**self).flush()
    }

    fn make_durable(&mut self) -> Result<(), AuditError> {
        (**self).make_durable()
    }
}

/// The reason why a record could not be written.
#[derive(Clone, PartialEq, Eq)]
pub struct AuditError {
    message: String,
    /// How many records are kept and how many are lost, if the sink says so.
    buffered: Option<(usize, usize)>,
}

impl AuditError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> AuditError {
        AuditError { message: message.into(), buffered: None }
    }

    /// Says that the sink keeps this many records, and tries to write them again with the next
    /// [`flush`](AuditSink::flush), which comes soon; and how many others are lost.
    #[must_use]
    pub fn with_buffered(mut self, kept: usize, lost: usize) -> AuditError {
        self.buffered = Some((kept, lost));
        self
    }
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

toolgen_core::__readable_debug!(AuditError);

impl std::error::Error for AuditError {}

impl From<std::io::Error> for AuditError {
    fn from(error: std::io::Error) -> Self {
        AuditError::new(error.to_string())
    }
}
