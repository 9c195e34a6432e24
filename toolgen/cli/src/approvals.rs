//! `approvals`: lists the calls that wait for an approval in a database, and grants or denies them.
//!
//! The command needs no registry and no key: it shows what approvers see, and the worker that runs a call checks its
//! seal.

use std::io;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolgen_runtime::layers::approval::{
    ApprovalClaim, ApprovalError, ApprovalState, Approvals as Queue, QueuedApproval,
};
use toolgen_runtime::visible;

use super::Outcome;
use super::args::{ApprovalTask, Approvals};
use super::output::Output;
use super::store_location::StoreLocation;

/// The states of unfinished calls.
const UNFINISHED: [ApprovalState; 5] = [
    ApprovalState::Waiting,
    ApprovalState::Granted,
    ApprovalState::Denied,
    ApprovalState::Claimed,
    ApprovalState::Started,
];

/// Minimum number of characters of an ID in a list.
const MIN_ID_CHARS: usize = 8;

/// Runs the command. Returns `Problems` if there is no queue or no such call, or if the decision is rejected.
pub(super) fn run(task: &Approvals, output: &mut Output) -> io::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let is_decision = matches!(task.task, ApprovalTask::Grant { .. } | ApprovalTask::Deny { .. });
    let (database, json) = task.task.database_and_format();
    let location = match StoreLocation::of(database) {
        Ok(location) => location,
        Err(message) => return fail(&message, output),
    };
    let queue = match runtime.block_on(open(&location, is_decision)) {
        Ok(queue) => queue,
        Err(message) => return fail(&message, output),
    };
    let result = runtime.block_on(decide(&queue, &task.task));
    match result {
        Ok(ApprovalsOutput::List(entries)) if json => {
            output.json(&json!({ "approvals": entries }))?;
            output.line("")?;
        }
        Ok(ApprovalsOutput::List(entries)) => list(&entries, output)?,
        Ok(ApprovalsOutput::One(entry)) if json => {
            output.json(&json!(entry))?;
            output.line("")?;
        }
        Ok(ApprovalsOutput::One(entry)) => show(&entry, output)?,
        Ok(ApprovalsOutput::Decided(entry)) if json => {
            output.json(&json!(entry))?;
            output.line("")?;
        }
        Ok(ApprovalsOutput::Decided(entry)) => {
            let next_step = match entry.state {
                ApprovalState::Granted => "a worker can run it",
                _ => "a worker can tell its caller",
            };
            let expiry = until(entry.expires_at);
            output.line(&format!("{} {} is {}: {next_step}, {expiry}", entry.id, entry.tool, entry.state))?;
        }
        Err(error) => {
            let help = match &error {
                ApprovalError::NotFound { .. } | ApprovalError::Ambiguous { .. } => {
                    format!("; `cargo toolgen approvals list {location} --all` lists them")
                }
                _ => String::new(),
            };
            return fail(&format!("{location}: {error}{help}"), output);
        }
    }
    Ok(Outcome::Fine)
}

fn fail(message: &str, output: &mut Output) -> io::Result<Outcome> {
    output.error(message);
    Ok(Outcome::Problems)
}

/// Opens the queue at a location: for decisions, or only for reading.
pub(super) async fn open(location: &StoreLocation, for_decisions: bool) -> Result<Queue, String> {
    location.queue(for_decisions).await?.ok_or_else(|| {
        format!(
            "{location}: this database has no approval queue; set `ToolboxBuilder::approval_queue` with a \
             `SqliteStore` or a `PostgresStore` in your program"
        )
    })
}

enum ApprovalsOutput {
    List(Vec<QueuedApproval>),
    One(Box<QueuedApproval>),
    Decided(Box<QueuedApproval>),
}

async fn decide(queue: &Queue, task: &ApprovalTask) -> Result<ApprovalsOutput, ApprovalError> {
    let decided = |entry| ApprovalsOutput::Decided(Box::new(entry));
    match task {
        ApprovalTask::List { all: true, .. } => {
            queue.list(&ApprovalState::ALL).await.map(ApprovalsOutput::List)
        }
        ApprovalTask::List { states, .. } => {
            let selected: Vec<ApprovalState> =
                states.iter().filter_map(|name| ApprovalState::by_name(name)).collect();
            queue
                .list(if selected.is_empty() { &UNFINISHED } else { &selected })
                .await
                .map(ApprovalsOutput::List)
        }
        ApprovalTask::Show { id, .. } => {
            queue.find(id).await.map(|entry| ApprovalsOutput::One(Box::new(entry)))
        }
        ApprovalTask::Grant { decision, note, .. } => {
            let id = queue.find(&decision.id).await?.id;
            queue.grant(&id, decision.by.clone(), note.clone()).await.map(decided)
        }
        ApprovalTask::Deny { decision, note, .. } => {
            let id = queue.find(&decision.id).await?.id;
            queue.deny(&id, decision.by.clone(), note.clone()).await.map(decided)
        }
    }
}

/// Writes a table of calls. IDs are shortened to unique prefixes.
fn list(entries: &[QueuedApproval], output: &mut Output) -> io::Result<()> {
    if entries.is_empty() {
        output.note("no calls");
        return Ok(());
    }
    let length = (MIN_ID_CHARS..32).find(|length| {
        let prefixes: std::collections::BTreeSet<&str> =
            entries.iter().map(|entry| entry.id.get(..*length).unwrap_or(&entry.id)).collect();
        prefixes.len() == entries.len()
    });
    let rows: Vec<[String; 6]> = entries
        .iter()
        .map(|entry| {
            [
                entry.id.get(..length.unwrap_or(32)).unwrap_or(&entry.id).to_owned(),
                entry.state.to_string(),
                entry.tool.to_string(),
                entry.caller.principal.as_deref().unwrap_or("-").to_owned(),
                ago(entry.requested_at),
                summary(entry),
            ]
        })
        .collect();
    let head = ["ID", "STATE", "TOOL", "PRINCIPAL", "SINCE", ""].map(str::to_owned);
    let rows: Vec<&[String; 6]> = std::iter::once(&head).chain(&rows).collect();
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row.iter()) {
            *width = (*width).max(single_line(cell).chars().count());
        }
    }
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths.iter().chain([&0])) {
            line.push_str(&format!(
                "{}{:width$}",
                if line.is_empty() { "" } else { "  " },
                single_line(cell)
            ));
        }
        output.line(line.trim_end())?;
    }
    Ok(())
}

/// Returns the most important fact about a call in its state.
fn summary(entry: &QueuedApproval) -> String {
    if let Some(damage) = &entry.damage {
        return format!("cannot be read: {damage}");
    }
    let by = entry.decision.as_ref().map(|decision| decision.by.as_str()).filter(|by| !by.is_empty());
    let by = by.map(|by| format!("by {by}")).unwrap_or_default();
    let worker = entry.claim.as_ref().map(|claim| match claim.worker.as_str() {
        "" => format!("by a worker {}", ago(claim.at)),
        name => format!("by {name} {}", ago(claim.at)),
    });
    match entry.state {
        ApprovalState::Waiting => format!("{}; {}", entry.reasons.join(" "), until(entry.expires_at)),
        ApprovalState::Granted => format!("{by}{}; {}", refusal(entry), until(entry.expires_at)),
        ApprovalState::Denied => format!("{by}{}", refusal(entry)),
        ApprovalState::Claimed => worker.unwrap_or_default(),
        ApprovalState::Started => format!("{}, and has not finished", worker.unwrap_or_default()),
        ApprovalState::Finished => {
            match entry.outcome.as_ref().and_then(|outcome| outcome.error_code.as_deref()) {
                Some(code) => format!("decided {by}: {code}"),
                None => format!("decided {by}: it ran"),
            }
        }
        _ => String::new(),
    }
}

/// Returns which worker returned the call, and the reason.
fn refusal(entry: &QueuedApproval) -> String {
    let Some(ApprovalClaim { worker, at, refused: Some(code), .. }) = &entry.claim else {
        return String::new();
    };
    let worker = if worker.is_empty() { "a worker" } else { worker };
    format!("; {worker} returned it {}: {code}", ago(*at))
}

/// Returns a string as one line, with invisible characters made visible.
fn single_line(text: &str) -> String {
    visible(text).split(['\n', '\r']).collect::<Vec<_>>().join(" ")
}

fn show(entry: &QueuedApproval, output: &mut Output) -> io::Result<()> {
    let mut write_fact = |name: &str, value: &str| match value {
        "" => Ok(()),
        _ => output.line(&format!("{name:10} {}", visible(value).replace('\n', "\n           "))),
    };
    let optional = |text: &Option<toolgen_runtime::Text>| text.as_deref().unwrap_or("").to_owned();
    write_fact("id", &entry.id)?;
    write_fact("state", entry.state.as_str())?;
    write_fact("damage", entry.damage.as_deref().unwrap_or(""))?;
    write_fact("tool", &entry.tool)?;
    write_fact("arguments", &serde_json::to_string_pretty(&entry.redacted_arguments)?)?;
    write_fact("reasons", &entry.reasons.join("\n"))?;
    let calls: Vec<String> = entry.calls.iter().map(|tool| describe_callee(&json!(tool))).collect();
    write_fact("calls", &calls.join("\n"))?;
    write_fact("principal", &optional(&entry.caller.principal))?;
    write_fact("session", &optional(&entry.caller.session_id))?;
    write_fact("agent", &optional(&entry.caller.agent_id))?;
    write_fact("call", &entry.call_id)?;
    // A call that is over no longer waits, regardless of its deadline.
    match entry.state {
        ApprovalState::Denied | ApprovalState::Finished => write_fact("asked", &ago(entry.requested_at))?,
        _ => write_fact("waits", &format!("since {}, {}", ago(entry.requested_at), until(entry.expires_at)))?,
    }
    if let Some(decision) = &entry.decision {
        let verb = if decision.granted { "granted" } else { "denied" };
        let who = if decision.by.is_empty() { "an unnamed person" } else { &decision.by };
        write_fact("decision", &format!("{verb} by {who} {}", ago(decision.at)))?;
        write_fact("note", &decision.note)?;
    }
    if let Some(claim) = &entry.claim {
        let who = if claim.worker.is_empty() { "an unnamed worker" } else { &claim.worker };
        write_fact("worker", &format!("{who}, {}", ago(claim.at)))?;
        write_fact("refused", claim.refused.as_deref().unwrap_or(""))?;
    }
    if let Some(outcome) = &entry.outcome {
        let result = outcome.error_code.as_deref().unwrap_or("it ran");
        write_fact("outcome", &format!("{result}, {}", ago(outcome.at)))?;
    }
    if entry.state == ApprovalState::Started {
        write_fact("", "")?;
        output.note(
            "it has not finished; if its worker is gone, it may have taken effect, and it is not retried",
        );
    }
    Ok(())
}

/// Describes a tool that the call may call, with its declared effects.
fn describe_callee(tool: &Value) -> String {
    let effects = &tool["effects"];
    let has_effect = |name: &str| effects[name] == Value::Bool(true);
    let effect = if has_effect("read_only") {
        "reads only"
    } else if has_effect("destructive") {
        "may destroy"
    } else {
        "changes"
    };
    format!("{} ({effect})", tool["name"].as_str().unwrap_or_default())
}

/// Formats a past time for people, such as “5 minutes ago”.
fn ago(time: SystemTime) -> String {
    match SystemTime::now().duration_since(time) {
        Ok(elapsed) if elapsed < Duration::from_secs(1) => "just now".to_owned(),
        Ok(elapsed) => format!("{} ago", format_duration(elapsed)),
        Err(_) => "just now".to_owned(),
    }
}

/// Formats the expiry time of a call.
fn until(time: SystemTime) -> String {
    match time.duration_since(SystemTime::now()) {
        Ok(remaining) => format!("for {} more", format_duration(remaining)),
        Err(passed) => format!("until {} ago", format_duration(passed.duration())),
    }
}

fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
