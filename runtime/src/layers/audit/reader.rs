//! Reads back the records that the sinks for files and databases have written, all at once or as the log grows.

mod lines;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod rows;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{AuditError, AuditIntent, AuditOutcome, AuditStatus};
use lines::Lines;
#[cfg(feature = "postgres")]
use postgres::Remote;
#[cfg(feature = "sqlite")]
use rows::Rows;

/// The record of a call as it was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The unique ID of the record in the log: the row of a database, or the `call` of lines of JSON.
    pub id: String,
    /// The `id` of the record of the call that made this one, if a call did.
    pub parent: Option<String>,
    /// The ID of the writer, which tells the writers of the log apart, such as the runs of a program; empty if unknown.
    pub owner: String,
    /// The intent. Its `key` and its `parent` are 0: they mean something only to the program that wrote it.
    pub intent: AuditIntent,
    /// The outcome, if it is known.
    pub outcome: Option<AuditOutcome>,
}

impl AuditRecord {
    /// Returns the status of the call.
    #[must_use]
    pub fn status(&self) -> AuditStatus {
        self.outcome.as_ref().map_or(AuditStatus::Started, |outcome| outcome.status)
    }
}

/// Reads the records that a [`JsonLinesSink`](super::JsonLinesSink), a `SqliteSink` (feature `sqlite`) or a
/// `PostgresSink` (feature `postgres`) has written, also while it writes.
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
/// reader.changes(&mut |record| assert_eq!(record.status(), AuditStatus::Started))?;
///
/// record.finish(&Ok(ToolResult::text("2"))).await;
/// auditor.flush().await?;
/// let mut seen = Vec::new();
/// reader.changes(&mut |record| seen.push((record.intent.tool_name.to_string(), record.status())))?;
/// assert_eq!(seen, [("add".to_owned(), AuditStatus::Ok)]);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AuditReader(Source);

#[derive(Debug)]
enum Source {
    Lines(Box<Lines>),
    #[cfg(feature = "sqlite")]
    Rows(Box<Rows>),
    #[cfg(feature = "postgres")]
    Remote(Box<Remote>),
}

/// The first bytes of each SQLite database (<https://www.sqlite.org/fileformat.html>, section 1.3).
const SQLITE: &[u8; 16] = b"SQLite format 3\0";

impl AuditReader {
    /// Opens the file at `path`, an SQLite database or lines of JSON; its first bytes say which. Nothing is written.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or is a database without records of calls.
    pub fn open(path: impl AsRef<Path>) -> Result<AuditReader, AuditError> {
        let path = path.as_ref();
        let named = |why: AuditError| AuditError::new(format!("{}: {why}", path.display()));
        let mut start = Vec::new();
        let file = File::open(path).map_err(|why| named(why.into()))?;
        file.take(16).read_to_end(&mut start).map_err(|why| named(why.into()))?;
        let source =
            if start == SQLITE { database(path) } else { Lines::open(path).map(Box::new).map(Source::Lines) };
        Ok(AuditReader(source.map_err(named)?))
    }

    /// Opens the PostgreSQL database at this URL, in the form that `PostgresSink` takes; with the feature `postgres`.
    /// Nothing is written. This blocks, as all reading from the database does, also in an asynchronous function.
    ///
    /// # Errors
    ///
    /// If the URL is not one, the database cannot be reached, or has no records of calls. No error contains the
    /// password.
    #[cfg(feature = "postgres")]
    pub fn connect(url: &str) -> Result<AuditReader, AuditError> {
        Ok(AuditReader(Source::Remote(Box::new(Remote::open(url)?))))
    }

    /// Opens the same log again, to be read from its start.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open) and `connect`.
    pub fn again(&self) -> Result<AuditReader, AuditError> {
        match &self.0 {
            Source::Lines(lines) => AuditReader::open(lines.path()),
            #[cfg(feature = "sqlite")]
            Source::Rows(rows) => AuditReader::open(rows.path()),
            #[cfg(feature = "postgres")]
            Source::Remote(remote) => Ok(AuditReader(Source::Remote(Box::new(remote.again()?)))),
        }
    }

    /// Hands over each record that is new or has changed since the last time, in the order in which the calls arrived;
    /// the first time, all of them.
    ///
    /// # Errors
    ///
    /// If the log cannot be read, is not one with records of calls, or is a file that was replaced by a shorter one.
    pub fn changes(&mut self, each: &mut dyn FnMut(AuditRecord)) -> Result<(), AuditError> {
        match &mut self.0 {
            Source::Lines(lines) => lines.changes(each),
            #[cfg(feature = "sqlite")]
            Source::Rows(rows) => rows.changes(each),
            #[cfg(feature = "postgres")]
            Source::Remote(remote) => remote.changes(each),
        }
    }

    /// Returns the record with this `id`, as it is now; `None` if there is none among those that
    /// [`changes`](Self::changes) has handed over.
    ///
    /// # Errors
    ///
    /// If the log cannot be read.
    pub fn record(&mut self, id: &str) -> Result<Option<AuditRecord>, AuditError> {
        match &mut self.0 {
            Source::Lines(lines) => lines.record(id),
            #[cfg(feature = "sqlite")]
            Source::Rows(rows) => rows.record(id),
            #[cfg(feature = "postgres")]
            Source::Remote(remote) => remote.record(id),
        }
    }

    /// Returns how many lines so far are not records, such as those that a program left incomplete when it was killed.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        match &self.0 {
            Source::Lines(lines) => lines.unreadable(),
            #[cfg(feature = "sqlite")]
            Source::Rows(_) => 0,
            #[cfg(feature = "postgres")]
            Source::Remote(_) => 0,
        }
    }

    /// Returns the name of what is read: the path of a file, or the URL of a database without password and options.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.0 {
            Source::Lines(lines) => lines.path().display().to_string(),
            #[cfg(feature = "sqlite")]
            Source::Rows(rows) => rows.path().display().to_string(),
            #[cfg(feature = "postgres")]
            Source::Remote(remote) => remote.name().to_owned(),
        }
    }
}

#[cfg(feature = "sqlite")]
fn database(path: &Path) -> Result<Source, AuditError> {
    Ok(Source::Rows(Box::new(Rows::open(path)?)))
}

#[cfg(not(feature = "sqlite"))]
fn database(_: &Path) -> Result<Source, AuditError> {
    Err(AuditError::new("an SQLite database is read only with the feature `sqlite`"))
}
