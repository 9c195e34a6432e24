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
    /// The calls that already have a line.
    intended: BTreeSet<u64>,
    durable: bool,
    /// Whether the last line may be incomplete.
    torn: bool,
    #[cfg(unix)]
    folder: std::path::PathBuf,
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
            intended: BTreeSet::new(),
            durable: false,
            torn: false,
            #[cfg(unix)]
            folder: folder_of(path),
        })
    }

    fn line(&mut self, event: &str, intent: &AuditIntent, parts: &[Value]) -> Result<(), AuditError> {
        let mut line = Map::new();
        line.insert("event".into(), event.into());
        line.insert("call".into(), format!("{}-{}", self.run, intent.key).into());
        if intent.parent > 0 {
            line.insert("parent".into(), format!("{}-{}", self.run, intent.parent).into());
        }
        for (key, value) in parts.iter().filter_map(Value::as_object).flatten() {
            line.insert(key.clone(), value.clone());
        }
        // Compact JSON has no line breaks. An incomplete line left by an error must not corrupt the next one.
        let start = if self.torn { "\n" } else { "" };
        self.torn = true;
        writeln!(self.out, "{start}{}", Value::Object(line))?;
        self.torn = false;
        Ok(())
    }
}

#[cfg(unix)]
fn folder_of(path: &Path) -> std::path::PathBuf {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.unwrap_or(Path::new(".")).to_owned()
}

impl AuditSink for JsonLinesSink {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        self.line("intent", intent, &[intent.to_json()])?;
        self.intended.insert(intent.key);
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        let mut record = intent.to_json();
        if self.intended.remove(&intent.key)
            && let Value::Object(reported) = &mut record
        {
            // The parameters are in the first line.
            reported.shift_remove("parameters");
        }
        self.line("outcome", intent, &[record, outcome.to_json()])
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
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }
}
