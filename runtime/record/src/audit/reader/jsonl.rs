//! Records from JSON lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_core::Deserialize as _;
use serde_json::Value;

use super::{AuditError, AuditIntent, AuditLog, AuditOutcome, AuditRecord};

/// A file of JSON lines that grows.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    /// The start of the first line that was not read.
    next_offset: u64,
    /// The calls, by their ID.
    calls: BTreeMap<String, LineOffsets>,
    unreadable: u64,
}

/// The offsets of the lines of a call.
#[derive(Debug, Default)]
struct LineOffsets {
    /// The number of the call among all calls, in the order in which they were first read.
    number: usize,
    intent: Option<u64>,
    outcome: Option<u64>,
}

/// A line with the intent or the outcome of a call.
struct Line {
    id: String,
    is_outcome: bool,
    json: Value,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Lines, AuditError> {
        let file = BufReader::new(File::open(path)?);
        Ok(Lines { path: path.to_owned(), file, next_offset: 0, calls: BTreeMap::new(), unreadable: 0 })
    }

    /// Returns the record of a line that was read earlier, and restores the read position.
    fn reread_record(&mut self, intent: Option<u64>) -> Result<Option<AuditRecord>, AuditError> {
        let Some(intent) = intent else { return Ok(None) };
        let line = self.read_line(intent)?;
        self.file.seek(SeekFrom::Start(self.next_offset))?;
        Ok(line.and_then(|line| line.record(None)))
    }

    fn read_line(&mut self, offset: u64) -> Result<Option<Line>, AuditError> {
        let mut text = Vec::new();
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_until(b'\n', &mut text)?;
        Ok(Line::read(&text))
    }
}

impl AuditLog for Lines {
    fn changes(&mut self, each: &mut dyn FnMut(AuditRecord)) -> Result<(), AuditError> {
        if self.file.get_ref().metadata()?.len() < self.next_offset {
            return Err(AuditError::new("the file was replaced by a shorter one; open it again"));
        }
        self.file.seek(SeekFrom::Start(self.next_offset))?;
        // Both lines of most calls are in this part of the file; they are merged before the record is passed on.
        let mut changed: BTreeMap<usize, AuditRecord> = BTreeMap::new();
        let mut text = Vec::new();
        loop {
            text.clear();
            let bytes_read = self.file.read_until(b'\n', &mut text)?;
            // The last line may be incomplete.
            if text.last() != Some(&b'\n') {
                break;
            }
            let offset = self.next_offset;
            self.next_offset += bytes_read as u64;
            if text.trim_ascii().is_empty() {
                continue;
            }
            let Some(line) = Line::read(&text) else {
                self.unreadable += 1;
                continue;
            };
            let number = self.calls.len();
            let call =
                self.calls.entry(line.id.clone()).or_insert(LineOffsets { number, ..LineOffsets::default() });
            let (number, intent) = (call.number, call.intent);
            *(if line.is_outcome { &mut call.outcome } else { &mut call.intent }) = Some(offset);
            let other_line = match changed.remove(&number) {
                None if line.is_outcome => self.reread_record(intent)?,
                other_line => other_line,
            };
            match line.record(other_line) {
                Some(record) => drop(changed.insert(number, record)),
                None => self.unreadable += 1,
            }
        }
        if self.calls.is_empty() && self.unreadable > 0 {
            return Err(AuditError::new("no line is the record of a call: it is not an audit log"));
        }
        changed.into_values().for_each(each);
        Ok(())
    }

    fn record(&mut self, id: &str) -> Result<Option<AuditRecord>, AuditError> {
        let Some(&LineOffsets { intent, outcome, .. }) = self.calls.get(id) else { return Ok(None) };
        let other_line = self.reread_record(intent)?;
        let Some(outcome) = outcome else { return Ok(other_line) };
        Ok(self.read_line(outcome)?.and_then(|line| line.record(other_line)))
    }

    fn again(&self) -> Result<Box<dyn AuditLog>, AuditError> {
        let with_path = |error: AuditError| AuditError::new(format!("{}: {error}", self.path.display()));
        Ok(Box::new(Lines::open(&self.path).map_err(with_path)?))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn unreadable(&self) -> u64 {
        self.unreadable
    }
}

impl Line {
    fn read(text: &[u8]) -> Option<Line> {
        let message: Value = serde_json::from_slice(text).ok()?;
        let is_outcome = match message.get("event")?.as_str()? {
            "intent" => false,
            "outcome" => true,
            _ => return None,
        };
        Some(Line { id: message.get("call")?.as_str()?.to_owned(), is_outcome, json: message })
    }

    /// Returns the record of the call, with the data of its other line, which is usually the previous one.
    fn record(self, other_line: Option<AuditRecord>) -> Option<AuditRecord> {
        let Line { id, is_outcome, mut json } = self;
        let outcome = match (is_outcome, other_line) {
            (true, Some(other_line)) => {
                return Some(AuditRecord {
                    outcome: Some(AuditOutcome::deserialize(json).ok()?),
                    ..other_line
                });
            }
            (true, None) => Some(AuditOutcome::deserialize(&json).ok()?),
            (false, other_line) => other_line.and_then(|other_line| other_line.outcome),
        };
        let members = json.as_object_mut()?;
        let parent = members.remove("parent").and_then(|parent| parent.as_str().map(str::to_owned));
        // An outcome without its intent has no arguments if the line with them is lost.
        members.entry("parameters").or_insert(Value::Null);
        let owner = id.rsplit_once('-').map_or("", |(owner, _)| owner).to_owned();
        Some(AuditRecord { intent: AuditIntent::deserialize(json).ok()?, id, parent, owner, outcome })
    }
}
