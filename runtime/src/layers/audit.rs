//! What tools were called, with what, and what came of it, written down.
//!
//! A call leaves one record: what was to be done, before it is done (the intent), and what came of it (the outcome).
//! Secrets are taken out first, see [`redact`](crate::layers::redact). A call that was refused leaves a record, too, and so
//! does one that was given up.
//!
//! Records are written by a thread of their own. Usually nothing waits for it: if it falls behind by more than the
//! queue takes, whole records are dropped and counted. An [`Auditor`] that is *durable* is the other way round: a
//! call is run only once its intent is on disk, and refused if it cannot be written.
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
//! // What a provider does for each of its calls.
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
mod record;
#[cfg(feature = "sqlite")]
mod sqlite;
mod writer;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::frozen::Text;

pub use auditor::{Auditor, AuditorBuilder};
pub use jsonl::JsonLinesSink;
pub use memory::{MemorySink, Row};
pub use record::{CallInfo, Record};
/// The version of the crate whose connections [`SqliteSink::new`] takes.
#[cfg(feature = "sqlite")]
pub use rusqlite;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteSink;

/// What is about to be done.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AuditIntent {
    /// The number of the call among those of one [`Auditor`], from 1.
    pub key: u64,
    /// The session. Empty: none.
    pub session_id: Text,
    /// The agent. Empty: not known.
    pub agent_id: Text,
    /// The tool, as it was called: there may be none of that name.
    pub tool_name: Text,
    /// The model's name for the call.
    pub tool_call_id: Text,
    /// The arguments, without secrets.
    pub parameters: Value,
    /// When the call came: UTC as RFC 3339 with milliseconds, so that texts sort as times do.
    pub timestamp: String,
    /// The SHA-256 of what the tool promised at that time, in hexadecimal. Empty: there is no such tool.
    pub spec_hash: Text,
    /// Which attempt at the call it is, from 1.
    pub attempt: u32,
    /// Somebody has approved of the call.
    pub approved: bool,
    /// Who it was, as far as the program says. Empty: not said.
    pub approved_by: Text,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AuditOutcome {
    /// How it ended.
    pub status: AuditStatus,
    /// The result without secrets, as [`ToolRedactor::result`](crate::layers::redact::ToolRedactor::result) gives it. `Null`:
    /// there is none.
    pub result: Value,
    /// What went wrong, without secrets.
    pub error: Option<String>,
    /// Its code.
    pub error_code: Option<Cow<'static, str>>,
    /// There is no result, or the tool itself says that it failed.
    pub is_error: bool,
    /// How long it took.
    pub duration: Duration,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditStatus {
    /// It was to be run, and nothing more is known yet.
    Started,
    /// It has a result.
    Ok,
    /// It ran and failed.
    Error,
    /// It was answered without being run.
    Refused,
    /// Its time was up.
    Timeout,
    /// The caller gave up. What the tool did until then is not known.
    Cancelled,
    /// The program ended before its end.
    Unknown,
}

impl AuditStatus {
    /// `started`, `ok`, `error`, `refused`, `timeout`, `cancelled` or `unknown`.
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

impl fmt::Display for AuditStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AuditIntent {
    /// The record as an object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "timestamp": self.timestamp,
            "session_id": self.session_id.as_str(),
            "agent_id": self.agent_id.as_str(),
            "tool_name": self.tool_name.as_str(),
            "tool_call_id": self.tool_call_id.as_str(),
            "parameters": self.parameters,
            "spec_hash": self.spec_hash.as_str(),
            "attempt": self.attempt,
            "approved": self.approved,
            "approved_by": self.approved_by.as_str(),
        })
    }
}

impl AuditOutcome {
    /// How long it took, in whole milliseconds.
    #[must_use]
    pub fn duration_ms(&self) -> i64 {
        i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX)
    }

    /// The record as an object.
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

/// Where records go. All functions are called from one thread, which waits for them: they may take their time.
///
/// A sink that fails, by an error or a panic, is counted in [`Auditor::errors`] and asked again for the next record.
pub trait AuditSink: Send {
    /// A call is about to be run.
    ///
    /// # Errors
    ///
    /// If it could not be written. In durable mode the call is then refused.
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError>;

    /// A call has ended. If [`intent`](Self::intent) was not called for it, because it was refused, or failed for it,
    /// this is all that will be heard of it.
    ///
    /// # Errors
    ///
    /// If it could not be written.
    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError>;

    /// Keeps what was handed over since the last time; called after each few records. If the sink is durable, all is
    /// on disk when this returns.
    ///
    /// # Errors
    ///
    /// If it could not be written: then all of it counts as lost.
    fn flush(&mut self) -> Result<(), AuditError> {
        Ok(())
    }

    /// Says before all else that [`flush`](Self::flush) must not return before everything is on disk.
    ///
    /// # Errors
    ///
    /// If the sink cannot do that.
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

/// Why something could not be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditError {
    message: String,
}

impl AuditError {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> AuditError {
        AuditError { message: message.into() }
    }
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AuditError {}

impl From<std::io::Error> for AuditError {
    fn from(why: std::io::Error) -> Self {
        AuditError::new(why.to_string())
    }
}
