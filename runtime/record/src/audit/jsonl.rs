//! Records as JSON lines.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::{AuditError, AuditIntent, AuditOutcome, AuditSink};
use toolgen_kernel::base::private;

/// Appends records to a file, one JSON object per line: a line with `"event": "intent"` before a call runs, and one
/// with `"event": "outcome"` when it has ended. Both have the same `call`, which is unique to the call, and the `call`
/// of the outer call as `parent`. A call without an outcome was running when its program ended.
#[derive(Debug)]
pub struct JsonLinesSink {
    out: BufWriter<File>,
    /// Distinguishes the calls of this run of the program from those of earlier runs.
    run: String,
    /// The keys of calls whose intent was written.
    with_intent: BTreeSet<u64>,
    durable: bool,
    /// Whether the last line may be incomplete.
    is_last_line_incomplete: bool,
    #[cfg(unix)]
    directory: std::path::PathBuf,
}

impl JsonLinesSink {
    /// Appends to the file at `path`, which is created if necessary: on Unix, readable only by its owner.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened, read or written.
    pub fn open(path: impl AsRef<Path>) -> Result<JsonLinesSink, AuditError> {
        let path = path.as_ref();
        let mut file = private::append(path)?;
        // A program that was killed may have left an incomplete line, which must not corrupt the first new line.
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        if last != [b'\n'] {
            file.write_all(b"\n")?;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let run = format!("{:x}-{:x}", now.as_nanos(), std::process::id());
        Ok(JsonLinesSink {
            out: BufWriter::new(file),
            run,
            with_intent: BTreeSet::new(),
            durable: false,
            is_last_line_incomplete: false,
            #[cfg(unix)]
            directory: directory_of(path),
        })
    }

    fn write_line(&mut self, event: &str, intent: &AuditIntent, parts: &[Value]) -> Result<(), AuditError> {
        let mut line = Map::new();
        line.insert("event".into(), event.into());
        line.insert("call".into(), format!("{}-{}", self.run, intent.key).into());
        if intent.parent > 0 {
            line.insert("parent".into(), format!("{}-{}", self.run, intent.parent).into());
        }
        for (key, value) in parts.iter().filter_map(Value::as_object).flatten() {
            line.insert(key.clone(), value.clone());
        }
        // Compact JSON has no line breaks. An error may have left an incomplete line, which must not corrupt the next
        // one.
        let separator = if self.is_last_line_incomplete { "\n" } else { "" };
        self.is_last_line_incomplete = true;
        writeln!(self.out, "{separator}{}", Value::Object(line))?;
        self.is_last_line_incomplete = false;
        Ok(())
    }
}

#[cfg(unix)]
fn directory_of(path: &Path) -> std::path::PathBuf {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.unwrap_or(Path::new(".")).to_owned()
}

impl AuditSink for JsonLinesSink {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        self.write_line("intent", intent, &[intent.to_json()])?;
        self.with_intent.insert(intent.key);
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        let mut record = intent.to_json();
        if self.with_intent.remove(&intent.key)
            && let Value::Object(members) = &mut record
        {
            // The parameters are in the line of the intent.
            members.shift_remove("parameters");
        }
        self.write_line("outcome", intent, &[record, outcome.to_json()])
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        self.out.flush()?;
        if self.durable {
            self.out.get_ref().sync_data()?;
        }
        Ok(())
    }

    fn make_durable(&mut self) -> Result<(), AuditError> {
        self.durable = true;
        self.out.get_ref().sync_all()?;
        // The name of a new file must also be on disk; on other platforms a directory cannot be opened as a file.
        #[cfg(unix)]
        File::open(&self.directory)?.sync_all()?;
        Ok(())
    }
}
