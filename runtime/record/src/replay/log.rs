//! A run, taken from the records of an audit log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::ReplayError;
use super::outcome::{RecordedOutcome, read_result, rebuild_error};
use super::run::{RecordedCall, RecordedRun};
use crate::audit::{
    AuditIntent, AuditOutcome, AuditReader, AuditRecord, AuditStatus, CLIENT, MemorySink, PROGRAM, REQUEST,
};
use toolgen_kernel::base::time::{millis_of, whole_millis};
use toolgen_kernel::layers::redact::FAILED_MASK;

/// The name that selects the run that began last.
const LAST: &str = "last";
/// The beginning of the string that replaces binary content in a record.
const LENGTH_PREFIX: &str = "[BASE64: ";

/// Selects the calls of an audit log that a [`RecordedRun`] takes: those that match, with all their nested calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSelection {
    run: Option<String>,
    session: Option<String>,
    agent: Option<String>,
    principal: Option<String>,
}

impl RunSelection {
    /// Takes all calls of the log. The log must then contain one run of the program, whose sessions do not overlap.
    #[must_use]
    pub fn new() -> RunSelection {
        RunSelection::default()
    }

    /// Takes the calls of one run of the program, the [`owner`](AuditRecord::owner) of their records; `last` selects
    /// the run that began last.
    #[must_use]
    pub fn run(mut self, run: impl Into<String>) -> RunSelection {
        self.run = Some(run.into());
        self
    }

    /// Takes the calls of this session.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> RunSelection {
        self.session = Some(session.into());
        self
    }

    /// Takes the calls of this agent.
    #[must_use]
    pub fn agent(mut self, agent: impl Into<String>) -> RunSelection {
        self.agent = Some(agent.into());
        self
    }

    /// Takes the calls for the principal with this ID.
    #[must_use]
    pub fn principal(mut self, principal: impl Into<String>) -> RunSelection {
        self.principal = Some(principal.into());
        self
    }

    fn matches(&self, entry: &Entry) -> bool {
        let is_selected = |selected: &Option<String>, value: &str| {
            selected.as_deref().is_none_or(|selected| selected == value)
        };
        is_selected(&self.run, &entry.owner)
            && is_selected(&self.session, &entry.intent.session_id)
            && is_selected(&self.agent, &entry.intent.agent_id)
            && is_selected(&self.principal, &entry.intent.principal)
    }
}

/// A record from any source.
struct Entry {
    id: String,
    parent: Option<String>,
    owner: String,
    intent: AuditIntent,
    outcome: Option<AuditOutcome>,
}

impl RecordedRun {
    /// Takes a run from an audit log of JSON lines; for a log in a database, use [`from_reader`](Self::from_reader).
    ///
    /// The log contains all data that the run needs, except for data that it omits by configuration: images, audio and
    /// files are included only with [`AuditorBuilder::record_bytes`](crate::audit::AuditorBuilder::record_bytes), and
    /// secrets are masked. A masked argument matches any value; a masked result is replayed with its masks. Errors are
    /// replayed with the message in the log, which is the one for operators.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be read; if no call matches; if calls of several runs match, or those of
    /// alternating sessions; and if the log lacks the outcome of a call, with the call and the setting that records it.
    pub fn from_audit(log: impl AsRef<Path>, selection: &RunSelection) -> Result<RecordedRun, ReplayError> {
        let mut reader = AuditReader::open(log).map_err(|error| ReplayError::new(error.to_string()))?;
        RecordedRun::from_reader(&mut reader, selection)
    }

    /// Takes a run from an open log that was not read yet, such as a log in a database that `store::audit` opens.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`from_audit`](Self::from_audit).
    pub fn from_reader(
        reader: &mut AuditReader,
        selection: &RunSelection,
    ) -> Result<RecordedRun, ReplayError> {
        let name = reader.name();
        let failed = |reason: &dyn std::fmt::Display| ReplayError::new(format!("{name}: {reason}"));
        let mut entries = Vec::new();
        let read = reader.for_each_change(&mut |record| entries.push(Entry::from(record)));
        read.map_err(|error| failed(&error))?;
        select_run(&entries, selection).map_err(|error| failed(&error))
    }

    /// Takes a run from records in memory.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`from_audit`](Self::from_audit).
    pub fn from_memory(sink: &MemorySink, selection: &RunSelection) -> Result<RecordedRun, ReplayError> {
        let entries = sink.rows().into_iter().map(|row| Entry {
            id: row.intent.key.to_string(),
            parent: (row.intent.parent > 0).then(|| row.intent.parent.to_string()),
            owner: String::new(),
            intent: row.intent,
            outcome: row.outcome,
        });
        select_run(&entries.collect::<Vec<_>>(), selection).map_err(ReplayError::new)
    }
}

impl From<AuditRecord> for Entry {
    fn from(record: AuditRecord) -> Entry {
        let AuditRecord { id, parent, owner, intent, outcome } = record;
        Entry { id, parent, owner, intent, outcome }
    }
}

fn select_run(entries: &[Entry], selection: &RunSelection) -> Result<RecordedRun, String> {
    if entries.is_empty() {
        return Err("it contains no record of a call".to_owned());
    }
    let mut selection = selection.clone();
    if selection.run.as_deref() == Some(LAST) {
        let start_time = |entry: &&Entry| entry.intent.timestamp.clone();
        let mut first_entries: BTreeMap<&str, &Entry> = BTreeMap::new();
        for entry in entries {
            first_entries.entry(&entry.owner).or_insert(entry);
        }
        selection.run = first_entries.into_values().max_by_key(start_time).map(|entry| entry.owner.clone());
    }
    let mut run = RecordedRun::default();
    // The numbers of the selected calls, and their records.
    let (mut numbers, mut selected) = (BTreeMap::new(), Vec::new());
    for entry in entries {
        let inside = entry.parent.as_deref().and_then(|parent| numbers.get(parent)).copied();
        if inside.is_some() || selection.matches(entry) {
            selected.push((entry, inside));
            numbers.insert(entry.id.as_str(), selected.len());
        }
    }
    if selected.is_empty() {
        return Err(format!("none of its {} calls matches; {}", entries.len(), summarize_log(entries)));
    }
    let outermost = || selected.iter().filter(|(_, inside)| inside.is_none()).map(|(entry, _)| *entry);
    ensure_one_run(outermost())?;
    ensure_not_interleaved(outermost())?;
    let mut groups = Groups::default();
    for (entry, inside) in &selected {
        let outer_turn =
            inside.and_then(|number| selected.get(number - 1)).map(|(outer, _)| outer.intent.turn);
        let number = run.calls.len() + 1;
        let outcome = outcome(entry).map_err(|error| {
            format!(
                "call {number} of the run, {} at {}: {error}",
                entry.intent.tool_name, entry.intent.timestamp
            )
        })?;
        let arguments = match &entry.intent.parameters {
            Value::Null => json!({}),
            arguments => {
                let mut arguments = arguments.clone();
                // These members are not arguments: a replay has its own context.
                if let Some(arguments) = arguments.as_object_mut() {
                    arguments.shift_remove(CLIENT);
                    arguments.shift_remove(REQUEST);
                    arguments.shift_remove(PROGRAM);
                }
                arguments
            }
        };
        run.calls.push(RecordedCall {
            inside: *inside,
            group: groups.next_group(entry, *inside, outer_turn),
            agent: entry.intent.agent_id.to_string(),
            tool: entry.intent.tool_name.to_string(),
            arguments,
            approved: entry
                .intent
                .approved
                .then(|| entry.intent.approved_by.as_deref().unwrap_or_default().to_owned()),
            outcome,
        });
    }
    Ok(run)
}

/// Lists the runs, sessions and agents in the log.
fn summarize_log(entries: &[Entry]) -> String {
    let count_by = |name: &str, key: fn(&Entry) -> &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        entries.iter().for_each(|entry| *counts.entry(key(entry)).or_default() += 1);
        counts.remove("");
        let counts_text: Vec<String> =
            counts.iter().map(|(text, count)| format!("{text} ({count})")).collect();
        (!counts_text.is_empty()).then(|| format!("{name}: {}", counts_text.join(", ")))
    };
    let notes = [
        count_by("runs", |entry| &entry.owner),
        count_by("sessions", |entry| &entry.intent.session_id),
        count_by("agents", |entry| &entry.intent.agent_id),
        count_by("principals", |entry| &entry.intent.principal),
    ];
    let messages: Vec<String> = notes.into_iter().flatten().collect();
    if messages.is_empty() {
        "they name no session and no agent".to_owned()
    } else {
        format!("it has {}", messages.join("; "))
    }
}

/// Fails if the calls belong to several runs of the program, which cannot be replayed together.
fn ensure_one_run<'e>(entries: impl Iterator<Item = &'e Entry>) -> Result<(), String> {
    let mut runs: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for entry in entries {
        runs.entry(&entry.owner).or_insert((0, &entry.intent.timestamp)).0 += 1;
    }
    if runs.len() < 2 {
        return Ok(());
    }
    let lines = runs.iter().map(|(run, (count, since))| format!("\n  {run}: {count} calls since {since}"));
    let (count, message) = (runs.len(), lines.collect::<String>());
    Err(format!(
        "there are calls of {count} runs of the program; choose one by `RunSelection::run` (`--run`), such as `{LAST}`:{message}"
    ))
}

/// Fails if the calls of sessions alternate: their order is then random, and no test can expect it.
fn ensure_not_interleaved<'e>(entries: impl Iterator<Item = &'e Entry>) -> Result<(), String> {
    let (mut finished, mut current) = (BTreeSet::new(), None);
    for entry in entries {
        let session = entry.intent.session_id.as_str();
        match current {
            Some(previous) if previous == session => continue,
            Some(previous) => drop(finished.insert(previous)),
            None => {}
        }
        if finished.contains(session) {
            return Err(format!(
                "the calls of session {session} and of others alternate, so their order is random; choose one by \
                 `RunSelection::session` (`--session`)"
            ));
        }
        current = Some(session);
    }
    Ok(())
}

/// Determines which calls were made together.
#[derive(Default)]
struct Groups {
    last: usize,
    /// The groups of the turns of a model, by their outer call.
    turns: BTreeMap<(Option<usize>, u64), usize>,
    /// The last group of other calls, by their outer call, with the time at which its calls have ended.
    others: BTreeMap<Option<usize>, (usize, u64)>,
}

impl Groups {
    /// Returns the group of the next call. `outer_turn` is the turn of its outer call.
    fn next_group(&mut self, entry: &Entry, inside: Option<usize>, outer_turn: Option<u64>) -> usize {
        let turn = entry.intent.turn;
        if turn > 0 && outer_turn != Some(turn) {
            self.others.remove(&inside);
            let last = &mut self.last;
            return *self.turns.entry((inside, turn)).or_insert_with(|| {
                *last += 1;
                *last
            });
        }
        // Calls of a tool or of a program are grouped if they ran concurrently.
        let start = millis_of(&entry.intent.timestamp).unwrap_or(u64::MAX);
        let duration = entry.outcome.as_ref().map_or(0, |outcome| whole_millis(outcome.duration));
        let end = start.saturating_add(duration);
        match self.others.get_mut(&inside) {
            Some((group, group_end)) if start < *group_end => {
                *group_end = end.max(*group_end);
                *group
            }
            _ => {
                self.last += 1;
                self.others.insert(inside, (self.last, end));
                self.last
            }
        }
    }
}

fn outcome(entry: &Entry) -> Result<RecordedOutcome, String> {
    const UNKNOWN: &str =
        "its outcome is not in the log; `Auditor::shutdown` before the program ends writes all";
    let Some(outcome) = &entry.outcome else { return Err(UNKNOWN.to_owned()) };
    let code = || outcome.error_code.as_deref().unwrap_or_default().to_owned();
    let message = outcome.error.clone().unwrap_or_default();
    match outcome.status {
        AuditStatus::Started | AuditStatus::Unknown => return Err(UNKNOWN.to_owned()),
        AuditStatus::Refused => return Ok(RecordedOutcome::Refused { code: code(), message }),
        _ => {}
    }
    if outcome.result == FAILED_MASK {
        return Err(
            "its result could not be redacted when it was written: a rule of `Redactor::builder` panicked"
                .to_owned(),
        );
    }
    if outcome.result.is_null() || outcome.approval().is_some() {
        if outcome.status == AuditStatus::Ok {
            return Err("its result is not in the log; the sinks of this crate write it".to_owned());
        }
        if code() == "INPUT_REQUIRED" {
            return Err(
                "it waited for input, and the log does not contain the request; with an `input_handler` of the \
                 toolbox, the answer is part of the call"
                    .to_owned(),
            );
        }
        return Ok(RecordedOutcome::Answered(Err(rebuild_error(&code(), &message))));
    }
    if omits_bytes(&outcome.result) {
        return Err(
            "the bytes of its result are not in the log; `Auditor::builder(sink).record_bytes(true)` records them"
                .to_owned(),
        );
    }
    let result =
        read_result(&outcome.result).map_err(|reason| format!("the recorded result is invalid: {reason}"))?;
    Ok(RecordedOutcome::Answered(Ok(result)))
}

/// Whether a result has the length of binary content instead of the content.
fn omits_bytes(result: &Value) -> bool {
    let content = result.get("content").and_then(Value::as_array);
    let is_omitted = |content: &Value| {
        let has_length = |value: &Value, key: &str| {
            value.get(key).and_then(Value::as_str).is_some_and(|text| text.starts_with(LENGTH_PREFIX))
        };
        has_length(content, "data")
            || content.get("resource").is_some_and(|resource| has_length(resource, "blob"))
    };
    content.is_some_and(|content| content.iter().any(is_omitted))
}
