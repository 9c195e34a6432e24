//! The audit log: which tools were called, with which arguments, and with which outcome.
//!
//! A call has one record: the intent, written before the call runs, and the outcome, written when it has ended.
//! Secrets are redacted first, see [`redact`](toolgen_kernel::layers::redact). Calls that were refused and calls that
//! were abandoned are also recorded.
//!
//! A separate thread writes the records. Usually no call waits for it: if it falls behind by more than the capacity of
//! the queue, whole records are dropped and counted. A *durable* [`Auditor`] does the opposite: a call runs only after
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
//! // A toolbox does this for each of its calls.
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
    /// The number of the call among those of one [`Auditor`], starting at 1.
    pub key: u64,
    /// The key of the call that made this one: the call of a tool that calls another, or of a sub-agent. 0 if a
    /// program or a model made the call, or the outer call is not in these records.
    pub parent: u64,
    /// The number of the turn in which a model made the call, among the turns of the program, starting at 1. Nested
    /// calls have the same number. 0 if the call is not part of a turn.
    pub turn: u64,
    /// The session; empty if there is none.
    pub session_id: Text,
    /// The agent; empty if unknown.
    pub agent_id: Text,
    /// The ID of the principal for whom the call is made; empty if there is none.
    pub principal: Text,
    /// The tool name as called; the tool may not exist.
    pub tool_name: Text,
    /// The model's ID for the call.
    pub tool_call_id: Text,
    /// The redacted arguments. If a client sent values of the context, they are in the member [`CLIENT`]; if the loop
    /// of an agent made the call, the request that led to it is in the member [`REQUEST`]; if a program made it, the ID of
    /// the program is in the member [`PROGRAM`].
    pub parameters: Value,
    /// When the call arrived: UTC as RFC 3339 with milliseconds, so that the strings sort like the times.
    pub timestamp: String,
    /// The SHA-256 of the tool's contract at that time, in hexadecimal; empty if there is no such tool.
    pub spec_hash: Text,
    /// The number of this attempt at the call, starting at 1.
    pub attempt: u32,
    /// Whether the call was approved.
    pub approved: bool,
    /// The approver. `None` if the call was not approved, or the program does not name the approver.
    pub approved_by: Option<Text>,
}

/// The member of the recorded [parameters](AuditIntent::parameters) with the values of the context that a client sent,
/// which are not trusted.
pub const CLIENT: &str = "@client";

/// The member of the recorded [parameters](AuditIntent::parameters) with the vendor's ID of the program that made the
/// call, if a program that the model's vendor runs did.
pub const PROGRAM: &str = "@program";

/// The member of the recorded [parameters](AuditIntent::parameters) with the request to the model that led to the
/// call: its `number` among the requests of the program, which all calls of a turn share, the start of the user's first
/// message (`prompt`, redacted), the name of the `model`, `input_tokens` and `output_tokens`. What is unknown is missing.
pub const REQUEST: &str = "@request";

/// The part of a record that is written after the call ended.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct AuditOutcome {
    /// How the call ended.
    pub status: AuditStatus,
    /// The redacted result, as [`ToolRedactor::result`](toolgen_kernel::layers::redact::ToolRedactor::result) returns
    /// it. `Null` if there is no result; for a call that waits for an approval, `{"approval": ID}`, see
    /// [`approval`](Self::approval).
    pub result: Value,
    /// The error message, redacted.
    pub error: Option<String>,
    /// The error code.
    pub error_code: Option<Cow<'static, str>>,
    /// Whether there is no result, or the result itself is an error.
    pub is_error: bool,
    /// Duration of the call.
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
    /// The call was about to run; its outcome is not known.
    Started,
    /// The call has a result.
    Ok,
    /// The call ran and failed.
    Error,
    /// The call was refused without being run.
    Refused,
    /// The call timed out.
    Timeout,
    /// The caller abandoned the call. It is unknown what the tool did before that.
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
    fn by_name(name: &str) -> Option<AuditStatus> {
        use AuditStatus::{Cancelled, Error, Ok, Refused, Started, Timeout, Unknown};
        let statuses = [Started, Ok, Error, Refused, Timeout, Cancelled, Unknown];
        statuses.into_iter().find(|status| status.as_str() == name)
    }
}

impl fmt::Display for AuditStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AuditIntent {
    /// Returns the intent as a JSON object, without the keys, which are meaningful only among the records of one
    /// [`Auditor`].
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = json!({
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
            out["turn"] = self.turn.into();
        }
        out
    }
}

impl AuditOutcome {
    /// Returns the duration in whole milliseconds.
    #[must_use]
    pub fn duration_ms(&self) -> i64 {
        i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns the ID of the approval that the call waits for, which identifies it in the
    /// [queue](toolgen_kernel::toolbox::ToolboxBuilder::approval_queue). `None` if it does not wait for an approval,
    /// or an earlier version wrote the record without the ID.
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

/// A destination for records. All methods are called from one dedicated thread, so they may block.
///
/// If a sink fails, with an error or a panic, the failure is counted in [`Auditor::errors`], and the sink is used
/// again for the next record.
pub trait AuditSink: Send {
    /// Records that a call is about to run.
    ///
    /// # Errors
    ///
    /// Returns an error if the intent could not be written. In durable mode the call is then refused.
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError>;

    /// Records that a call has ended. If [`intent`](Self::intent) was not called, because the call was refused, or
    /// failed, this is the only record of the call.
    ///
    /// # Errors
    ///
    /// Returns an error if the outcome could not be written.
    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError>;

    /// Persists everything received since the last flush; called after every few records. If the sink is durable,
    /// everything must be on disk when this returns.
    ///
    /// # Errors
    ///
    /// Returns an error if the records could not be written. All of them count as lost, unless the error reports that
    /// some are [kept](AuditError::with_buffered).
    fn flush(&mut self) -> Result<(), AuditError> {
        Ok(())
    }

    /// Makes the sink durable: [`flush`](Self::flush) must not return before everything is on disk. Called before all
    /// other methods.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink cannot guarantee that.
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
    /// The number of records that the sink keeps and the number of lost ones, if the sink reports them.
    buffered: Option<(usize, usize)>,
}

impl AuditError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> AuditError {
        AuditError { message: message.into(), buffered: None }
    }

    /// Reports how many records the sink keeps, to write them again with the next [`flush`](AuditSink::flush), which
    /// follows soon, and how many others are lost.
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
