//! The data of the page from an audit log: a row for each call, and the details of one call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgen_runtime::layers::audit::{AuditOutcome, AuditReader, AuditRecord, PROGRAM, REQUEST};

use super::super::store_location::StoreLocation;

/// Maximum number of characters of the arguments in a row.
const MAX_ARGUMENTS_SHOWN: usize = 160;

/// Maximum number of characters of the error in a row; the details of a call have all of it.
const MAX_ERROR_SHOWN: usize = 1000;

/// The records of a log that were read so far.
pub(super) struct Log {
    reader: AuditReader,
    rows: Vec<Row>,
    /// The indices of the rows, by call ID.
    indices: BTreeMap<String, usize>,
    /// Incremented with each change, so that a page can request only new rows.
    version: u64,
    documents: Vec<String>,
}

/// A call in the list.
struct Row {
    version: u64,
    /// The following strings are stored once for all calls with the same value.
    owner: String,
    session: String,
    agent: String,
    principal: String,
    tool: String,
    at: String,
    status: &'static str,
    code: String,
    by: String,
    prompt: String,
    model: String,
    /// The following fields are stored for each call.
    id: String,
    parent: Option<String>,
    turn: u64,
    call_id: String,
    duration_ms: Option<i64>,
    error: String,
    attempt: u32,
    approved: bool,
    arguments_len: usize,
    result_len: usize,
    arguments_start: String,
    /// The ID of the approval that the call waits for.
    approval: String,
    /// The number of the request to the model that led to the call; 0 if it is not recorded.
    request: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// In US dollars; 0 if it is not recorded.
    cost_usd: f64,
    /// The vendor's ID of the program that made the call; empty if the model made it.
    program: String,
}

impl Log {
    /// Opens a log and reads it.
    pub(super) fn open(audit: &StoreLocation, documents: &[PathBuf]) -> Result<Log, String> {
        let reader = audit.reader()?;
        let documents = documents.iter().map(|path| path.display().to_string()).collect();
        let mut log = Log { reader, rows: Vec::new(), indices: BTreeMap::new(), version: 0, documents };
        log.read()?;
        Ok(log)
    }

    /// Returns the number of calls.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the name of the file or the database.
    pub(super) fn title(&self) -> String {
        let name = self.reader.name();
        Path::new(&name).file_name().map_or_else(|| name.clone(), |last| last.to_string_lossy().into_owned())
    }

    /// Reads new records.
    fn read(&mut self) -> Result<(), String> {
        let Log { reader, rows, indices, version, .. } = self;
        let before = *version;
        let result = reader.for_each_change(&mut |record| {
            let row = Row::of(record, before + 1);
            *version = before + 1;
            match indices.get(&row.id).and_then(|index| rows.get_mut(*index)) {
                Some(existing) => *existing = row,
                None => {
                    indices.insert(row.id.clone(), rows.len());
                    rows.push(row);
                }
            }
        });
        // Errors of the reader may already start with its name.
        let name = self.reader.name();
        result
            .map_err(|error| error.to_string())
            .map_err(|error| if error.starts_with(&name) { error } else { format!("{name}: {error}") })
    }

    /// Returns the rows that changed after a version, with their shared strings.
    pub(super) fn data(&mut self, after: u64) -> Result<Value, String> {
        self.read()?;
        let mut strings = Strings::default();
        let rows = self.rows.iter().filter(|row| row.version > after);
        let rows: Vec<Value> = rows.map(|row| row.json(&mut strings)).collect();
        Ok(json!({
            "version": self.version,
            "documents": self.documents,
            "unreadable": self.reader.unreadable(),
            "rows": rows,
            "strings": strings.all,
        }))
    }

    /// Returns the details of a call; `None` if there is no such call.
    pub(super) fn call(&mut self, id: &str) -> Result<Option<Value>, String> {
        let record = self.reader.record(id).map_err(|error| error.to_string())?;
        Ok(record.map(|record| call_details(&record)))
    }

    /// Passes the details of each call to `visit`.
    pub(super) fn for_each_call(&self, visit: &mut dyn FnMut(&str, Value)) -> Result<(), String> {
        let mut reader = self.reader.reopen().map_err(|error| error.to_string())?;
        reader
            .for_each_change(&mut |record| visit(&record.id, call_details(&record)))
            .map_err(|error| error.to_string())
    }
}

/// Returns the IDs of calls whose arguments, result or error contain a text, ignoring case.
pub(super) fn find(audit: &StoreLocation, text: &str) -> Result<Vec<String>, String> {
    let needle = text.to_lowercase();
    let mut ids = Vec::new();
    let result = audit.reader()?.for_each_change(&mut |record| {
        if call_details(&record).to_string().to_lowercase().contains(&needle) {
            ids.push(record.id);
        }
    });
    result.map(|()| ids).map_err(|error| error.to_string())
}

/// Removes a member that is not an argument from recorded arguments. Returns `Null` if it is not recorded.
fn take(parameters: &mut Value, member: &str) -> Value {
    parameters.as_object_mut().and_then(|members| members.shift_remove(member)).unwrap_or_default()
}

/// The details of a call that are not in its row.
fn call_details(record: &AuditRecord) -> Value {
    let outcome = record.outcome.as_ref();
    let mut parameters = record.intent.parameters.clone();
    take(&mut parameters, REQUEST);
    take(&mut parameters, PROGRAM);
    json!({
        "parameters": parameters,
        "result": outcome.map(|outcome| &outcome.result),
        "error": outcome.and_then(|outcome| outcome.error.as_deref()),
        "spec_hash": record.intent.spec_hash.as_str(),
    })
}

/// The strings of a response, each once.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    indices: BTreeMap<String, usize>,
}

impl Strings {
    fn index_of(&mut self, text: &str) -> Value {
        if let Some(index) = self.indices.get(text) {
            return (*index).into();
        }
        let index = self.all.len();
        self.all.push(text.to_owned());
        self.indices.insert(text.to_owned(), index);
        index.into()
    }
}

impl Row {
    fn of(record: AuditRecord, version: u64) -> Row {
        let status = record.status().as_str();
        let AuditRecord { id, parent, owner, mut intent, outcome, .. } = record;
        let request = take(&mut intent.parameters, REQUEST);
        let program = take(&mut intent.parameters, PROGRAM);
        let request_text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let request_count = |name: &str| request[name].as_u64().unwrap_or_default();
        let parameters = intent.parameters.to_string();
        let (arguments_len, arguments_start) =
            (parameters.len(), truncated(&parameters, MAX_ARGUMENTS_SHOWN));
        let result = outcome.as_ref().map(|outcome| &outcome.result).filter(|result| !result.is_null());
        let text = outcome.as_ref().and_then(|outcome| outcome.error.as_deref());
        let approval = outcome.as_ref().and_then(AuditOutcome::approval).unwrap_or("").to_owned();
        Row {
            version,
            owner,
            session: intent.session_id.to_string(),
            agent: intent.agent_id.to_string(),
            principal: intent.principal.to_string(),
            tool: intent.tool_name.to_string(),
            at: utc(intent.timestamp),
            status,
            code: outcome.as_ref().and_then(|outcome| outcome.error_code.as_deref()).unwrap_or("").to_owned(),
            by: intent.approved_by.as_deref().unwrap_or_default().to_owned(),
            prompt: request_text("prompt"),
            model: request_text("model"),
            id,
            parent,
            turn: intent.turn,
            call_id: intent.tool_call_id.to_string(),
            duration_ms: outcome.as_ref().map(|outcome| outcome.duration_ms()),
            error: truncated(text.unwrap_or(""), MAX_ERROR_SHOWN),
            attempt: intent.attempt,
            approved: intent.approved,
            arguments_len,
            result_len: result.map_or_else(|| text.map_or(0, str::len), |result| result.to_string().len()),
            arguments_start,
            approval,
            request: request_count("number"),
            input_tokens: request_count("input_tokens"),
            output_tokens: request_count("output_tokens"),
            cost_usd: request["cost_usd"].as_f64().unwrap_or_default(),
            program: program.as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Returns the fields in the order that `model.js` expects.
    fn json(&self, strings: &mut Strings) -> Value {
        let mut text = |text: &str| strings.index_of(text);
        json!([
            self.id,
            self.parent,
            text(&self.owner),
            self.turn,
            text(&self.session),
            text(&self.agent),
            text(&self.principal),
            text(&self.tool),
            self.call_id,
            text(&self.at),
            self.duration_ms,
            text(self.status),
            text(&self.code),
            self.error,
            self.attempt,
            self.approved,
            text(&self.by),
            self.arguments_len,
            self.result_len,
            self.arguments_start,
            self.approval,
            self.request,
            text(&self.prompt),
            text(&self.model),
            self.input_tokens,
            self.output_tokens,
            self.cost_usd,
            text(&self.program),
        ])
    }
}

/// Returns the start of a text, in whole characters.
fn truncated(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a time that browsers can parse: SQLite's format of UTC has neither `T` nor `Z`.
fn utc(text: String) -> String {
    match text.split_once(' ') {
        Some((day, time)) if !time.is_empty() => format!("{day}T{time}Z"),
        _ => text,
    }
}
