//! Reads back the records that sinks have written, all together or as the log grows.

mod jsonl;

use std::fmt;
use std::path::Path;

use serde_core::Deserialize as _;
use serde_json::{Value, json};

use super::{AuditError, AuditIntent, AuditOutcome, AuditStatus};
use jsonl::Lines;

/// The record of a call as it was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The unique ID of the record in the log: that of a database row, or the `call` of JSON lines.
    pub id: String,
    /// The `id` of the record of the call that made this one, if it is a nested call.
    pub parent: Option<String>,
    /// The ID of the writer, such as one run of a program, unique among the writers of the log; empty if unknown.
    pub owner: String,
    /// The intent. Its `key` and its `parent` are 0, because they are meaningful only to the program that wrote it.
    pub intent: AuditIntent,
    /// The outcome, if it is known.
    pub outcome: Option<AuditOutcome>,
}

impl AuditRecord {
    /// Reads a record from an object with the members of its intent and its outcome, in the form of their `to_json`,
    /// for logs that store it in columns. A member that is missing or `null` is empty. A record without a `status`, or
    /// with `started`, has no outcome; a record with an unrecognized status is `unknown`.
    ///
    /// # Errors
    ///
    /// Returns an error if a member has another type.
    pub fn read(
        id: String,
        parent: Option<String>,
        owner: String,
        members: Value,
    ) -> Result<AuditRecord, AuditError> {
        let mut object = json!({
            "session_id": "", "agent_id": "", "tool_name": "", "tool_call_id": "", "parameters": null,
            "timestamp": "", "spec_hash": "", "attempt": 1, "result": null, "is_error": false, "duration_ms": 0,
        });
        if let (Some(object), Value::Object(members)) = (object.as_object_mut(), members) {
            object.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
        }
        let status = object.get("status").and_then(Value::as_str).map(AuditStatus::by_name);
        let has_ended = status.is_some_and(|status| status != Some(AuditStatus::Started));
        if status == Some(None) {
            object["status"] = json!(AuditStatus::Unknown);
        }
        let to_error = |error: serde_json::Error| AuditError::new(format!("the record {id}: {error}"));
        let outcome = has_ended.then(|| AuditOutcome::deserialize(&object)).transpose().map_err(to_error)?;
        let intent = AuditIntent::deserialize(object).map_err(to_error)?;
        Ok(AuditRecord { id, parent, owner, intent: AuditIntent { key: 0, parent: 0, ..intent }, outcome })
    }

    /// Returns the status of the call.
    #[must_use]
    pub fn status(&self) -> AuditStatus {
        self.outcome.as_ref().map_or(AuditStatus::Started, |outcome| outcome.status)
    }
}

/// A log of calls that can be read while it is written.
pub trait AuditLog: fmt::Debug + Send {
    /// Passes each record that is new or has changed since the last call to `each`, in the order in which the calls
    /// arrived; the first time, all records.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be read, or does not contain records of calls.
    fn changes(&mut self, each: &mut dyn FnMut(AuditRecord)) -> Result<(), AuditError>;

    /// Returns the current record with this `id`; `None` if it is not among those that [`changes`](Self::changes) has
    /// returned.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be read.
    fn record(&mut self, id: &str) -> Result<Option<AuditRecord>, AuditError>;

    /// Opens the same log again, to read it from the start.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be opened.
    fn again(&self) -> Result<Box<dyn AuditLog>, AuditError>;

    /// Returns the name of the log: the path of a file, or the URL of a database without password and options.
    fn name(&self) -> String;

    /// Returns how many lines so far are not records, such as those that a program left incomplete when it was killed.
    fn unreadable(&self) -> u64 {
        0
    }
}

/// Reads the records that a sink has written, also while it writes: those of a
/// [`JsonLinesSink`](super::JsonLinesSink), and of any other [log](AuditLog). `store::audit::open` also opens logs in
/// databases.
///
/// ```
/// use serde_json::json;
/// use toolgen_runtime::ToolResult;
/// use toolgen_runtime::layers::audit::{AuditReader, AuditStatus, Auditor, CallInfo, JsonLinesSink};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("toolgen-reader-{}.jsonl", std::process::id()));
/// let auditor = Auditor::builder(JsonLinesSink::open(&path)?).start()?;
/// let mut record = auditor.record(|| CallInfo::new("call-1", "add", json!({"a": 1})));
/// record.intent().await?;
/// auditor.flush().await?;
///
/// let mut reader = AuditReader::open(&path)?;
/// reader.for_each_change(&mut |record| assert_eq!(record.status(), AuditStatus::Started))?;
///
/// record.finish(&Ok(ToolResult::text("2"))).await;
/// auditor.flush().await?;
/// let mut seen = Vec::new();
/// reader.for_each_change(&mut |record| seen.push((record.intent.tool_name.to_string(), record.status())))?;
/// assert_eq!(seen, [("add".to_owned(), AuditStatus::Ok)]);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AuditReader(Box<dyn AuditLog>);

impl AuditReader {
    /// Reads a log.
    pub fn of(log: impl AuditLog + 'static) -> AuditReader {
        AuditReader(Box::new(log))
    }

    /// Opens the JSON lines in the file at `path`. Nothing is written.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<AuditReader, AuditError> {
        let path = path.as_ref();
        let lines = Lines::open(path);
        lines.map(AuditReader::of).map_err(|error| AuditError::new(format!("{}: {error}", path.display())))
    }

    /// Opens the same log again, to read it from the start.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be opened.
    pub fn reopen(&self) -> Result<AuditReader, AuditError> {
        self.0.again().map(AuditReader)
    }

    /// Passes each record that is new or has changed since the last call to `each`, in the order in which the calls
    /// arrived; the first time, all records.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be read, does not contain records of calls, or is a file that was replaced
    /// by a shorter one.
    pub fn for_each_change(&mut self, each: &mut dyn FnMut(AuditRecord)) -> Result<(), AuditError> {
        self.0.changes(each)
    }

    /// Returns the current record with this `id`; `None` if it is not among those that
    /// [`for_each_change`](Self::for_each_change) has returned.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be read.
    pub fn record(&mut self, id: &str) -> Result<Option<AuditRecord>, AuditError> {
        self.0.record(id)
    }

    /// Returns how many lines so far are not records, such as those that a program left incomplete when it was killed.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.0.unreadable()
    }

    /// Returns the name of the log: the path of a file, or the URL of a database without password and options.
    #[must_use]
    pub fn name(&self) -> String {
        self.0.name()
    }
}
