//! Compares the promises of the layers with the evidence.

use std::collections::BTreeMap;

use toolgen_runtime::layers::approval::ApprovalState;
use toolgen_runtime::layers::audit::AuditStatus;
use toolgen_runtime::layers::dependencies;
use toolgen_runtime::layers::events::EventKind;

use crate::matrix::evidence::{Answer, Cell, Ran, stem};
use crate::matrix::rows::{FAILURES, LONGEST, is_guarded};
use crate::matrix::stores;
use crate::prelude::*;

/// Checks that hold for every cell, regardless of its layers.
pub(crate) async fn always(cell: &Cell<'_>) {
    for reply in &cell.answers {
        cell.holds(reply.response.id == *reply.id, "a response belongs to its call", &reply.response);
        let quiet = ["bad", "cancelled", "unknown"].contains(&reply.path);
        cell.holds(!quiet || reply.ran.is_empty(), "a call that cannot run does not run", &reply.ran);
        cell.holds(
            !quiet || reply.response.is_error() || cell.kind.name == "sub-agent",
            "it says so",
            &reply.response,
        );
        // The message of an error is the tool's own, and an error that does not print it is useless.
        let debug = match &reply.response.outcome {
            Err(ToolError::Failed { .. }) => String::new(),
            _ => format!("{:?}", reply.response),
        };
        cell.holds(!debug.contains(&cell.world.pin), "debug output has no content", &debug);
    }
    let events =
        cell.world.events.lock().unwrap().iter().map(|event| event.to_json().to_string()).collect::<Vec<_>>();
    let messages: Vec<&String> = events.iter().filter(|event| event.contains(&cell.world.pin)).collect();
    cell.holds(messages.is_empty(), "events have no secrets", &messages);
    let queue = cell.world.queue.lock().unwrap().clone();
    if let Some(queue) = queue {
        let entries = queue.list(&ApprovalState::ALL).await.unwrap();
        let messages: Vec<_> = entries
            .iter()
            .filter(|entry| serde_json::to_string(entry).unwrap().contains(&cell.world.pin))
            .collect();
        cell.holds(messages.is_empty(), "the shown data of waiting calls has no secrets", &messages);
        let ended = |state| [ApprovalState::Granted, ApprovalState::Finished].contains(&state);
        let open: Vec<_> = entries.iter().filter(|entry| !ended(entry.state)).collect();
        cell.holds(
            open.is_empty(),
            "a call that was carried out has an end, or waits for the next worker",
            &open,
        );
        let ran =
            cell.answers.iter().filter_map(|reply| reply.resumed.as_ref()).filter(|it| !it.first.is_empty());
        let unfinished = ran.filter(|it| {
            let entry = entries.iter().find(|entry| entry.id == *it.request.queue_id());
            entry.is_some_and(|entry| entry.state != ApprovalState::Finished)
        });
        let unfinished: Vec<_> = unfinished.map(|it| it.request.queue_id()).collect();
        cell.holds(unfinished.is_empty(), "a call that ran is finished in the queue", &unfinished);
    }
    let sink = cell.world.sink.lock().unwrap().clone();
    if let Some((sink, auditor)) = sink {
        auditor.flush().await.unwrap();
        let rows = sink.rows();
        let messages: Vec<_> = rows
            .iter()
            .filter(|row| {
                format!("{row:?}{:?}", row.intent.to_json()).contains(&cell.world.pin)
                    || row
                        .outcome
                        .as_ref()
                        .is_some_and(|outcome| outcome.to_json().to_string().contains(&cell.world.pin))
            })
            .collect();
        cell.holds(messages.is_empty(), "records have no secrets", &messages);
    }
}

pub(crate) fn hidden(cell: &Cell<'_>) {
    let unknown = cell.answers.iter().find(|reply| reply.path == "unknown").unwrap().response.text();
    for reply in cell.answers.iter().filter(|reply| reply.response.name == *cell.kind.called) {
        let text = reply.response.text();
        // A composition reports which of its steps failed; the rest is the message of the step.
        let message = text.rsplit_once("(target): ").map_or(text.as_str(), |(_, message)| message);
        let same = message == unknown.replace("targett", "target") || cell.kind.name == "sub-agent";
        cell.holds(
            !text.contains("not allowed") || same,
            "the response does not reveal that the tool exists",
            &text,
        );
    }
}

pub(crate) fn named_as_called(cell: &Cell<'_>) {
    for reply in cell.answers.iter().filter(|reply| !["unknown", "rest"].contains(&reply.path)) {
        let called = cell.kind.through.unwrap_or(cell.kind.called);
        cell.holds(reply.response.name == *called, "the response has the name of the call", &reply.response);
    }
}

pub(crate) fn rate(cell: &Cell<'_>) {
    // Resumed calls are counted too. A tool that asks for input runs twice within one call.
    let runs = cell.world.runs();
    let calls = runs.iter().filter(|ran| stem(&ran.path) != "/ask").count();
    cell.holds(calls <= 2, "two calls pass", &runs);
}

pub(crate) fn failures(cell: &Cell<'_>) {
    // Each run of a sub-agent has a separate session.
    if cell.kind.name == "sub-agent" && !cell.has("breaker") {
        return;
    }
    // A breaker watches the service of a tool, not the handler of an effect.
    if cell.kind.name == "effect" && !cell.has("repeats") && !cell.has("shared failures") {
        return;
    }
    let failed = cell.ran("/fail");
    cell.holds(failed.len() <= FAILURES as usize, "the failures reach the limit", &failed);
}

/// The state that other processes can read contains none of the secrets.
pub(crate) fn stored_without_secrets(cell: &Cell<'_>) {
    let stored = stores::text(&cell.world.stored);
    cell.holds(!stored.contains(&cell.world.pin), "no secret is shared", &stored);
}

/// Other processes know exactly the calls that succeeded.
pub(crate) fn stored(cell: &Cell<'_>) {
    stored_without_secrets(cell);
    let called = stores::called(&cell.world.stored);
    let succeeded = |tool: &str| {
        let of_tool = |reply: &&Answer| reply.path != "rest" && reply.response.name == tool;
        let mut responses = cell.answers.iter().filter(of_tool);
        responses.any(|reply| dependencies::succeeded(&reply.response.outcome) || reply.resumed.is_some())
    };
    for reply in &cell.answers {
        // If the call goes through another tool, the response has the name of that tool.
        let name = if cell.kind.through.is_some() { cell.kind.called } else { reply.response.name.as_str() };
        if dependencies::succeeded(&reply.response.outcome) && reply.path != "rest" {
            cell.holds(called.iter().any(|known| known == name), "other processes know a success", &called);
        }
    }
    let outer = cell.kind.called;
    let known = called.iter().any(|known| known == outer);
    cell.holds(
        !known || succeeded(outer) || cell.kind.through.is_some(),
        "other processes know only successes",
        &called,
    );
}

pub(crate) fn modified(cell: &Cell<'_>) {
    let runs = cell.world.runs();
    let once = |ran: &Ran| ran.path.starts_with("/tenant/") && !ran.path.starts_with("/tenant/tenant");
    cell.holds(runs.iter().all(once), "arguments are modified once", &runs);
}

pub(crate) fn approved(cell: &Cell<'_>) {
    let approved = cell.world.approved.lock().unwrap().clone();
    let runs = cell.world.runs();
    let guarded: Vec<&Ran> = runs.iter().filter(|ran| is_guarded(&ran.path)).collect();
    let fits = |ran: &&Ran| {
        approved.iter().any(|arguments| arguments["path"] == ran.path && arguments["note"] == ran.note)
    };
    cell.holds(guarded.iter().all(fits), "a call that runs was approved", &(&guarded, &approved));
    cell.holds(guarded.len() <= approved.len(), "a call runs only once", &(&guarded, &approved));
}

pub(crate) fn resumed(cell: &Cell<'_>) {
    for response in cell.answers.iter().filter(|response| is_guarded(response.path)) {
        cell.holds(cell.has("approver") || response.ran.is_empty(), "it waits", &response.ran);
        if let Some(resumed) = &response.resumed {
            let as_shown = |ran: &Ran| {
                resumed.request.arguments["path"] == ran.path && resumed.request.arguments["note"] == ran.note
            };
            cell.holds(resumed.first.iter().all(as_shown), "the call runs as shown", &resumed.first);
            cell.holds(
                resumed.first.len() <= 1 && resumed.second.is_empty(),
                "it runs once",
                &(&resumed.first, &resumed.second),
            );
        }
    }
    let waits = cell
        .answers
        .iter()
        .any(|response| response.resumed.as_ref().is_some_and(|resumed| !resumed.first.is_empty()));
    let free = cell.rows[0] == cell.rows[1] && cell.rows[0].starts_with("approval ");
    cell.holds(
        !free || cell.kind.called == "outer" || waits,
        "a call that waited can run",
        &cell.world.runs(),
    );
}

pub(crate) fn timed(cell: &Cell<'_>) {
    for reply in cell.answers.iter().filter(|reply| reply.path == "/slow" && cell.kind.interruptible) {
        let took = reply.response.duration;
        // A request of an earlier call may arrive late.
        let ran = reply.ran.iter().any(|ran| stem(&ran.path) == "/slow");
        cell.holds(took.as_secs() < 10 && !ran, "time is up", &took);
    }
}

pub(crate) fn input(cell: &Cell<'_>) {
    for reply in cell.answers.iter().filter(|reply| reply.path == "/ask") {
        let code = reply.response.outcome.as_ref().err().map(|error| error.code().to_owned());
        cell.holds(code.as_deref() != Some("INPUT_REQUIRED"), "somebody answers", &code);
    }
}

pub(crate) fn hosts(cell: &Cell<'_>) {
    if cell.kind.name == "HTTP" {
        cell.nothing_ran("its host is not allowed");
    }
}

pub(crate) fn short(cell: &Cell<'_>) {
    for reply in &cell.answers {
        let length = reply.response.text().len() as u64;
        cell.holds(length <= LONGEST + 400, "the response is short", &length);
    }
}

pub(crate) fn hooks(cell: &Cell<'_>) {
    let direct = cell.kind.called == "target";
    cell.holds(!direct || cell.ran("/skip").is_empty(), "the hook skipped it", &cell.ran("/skip"));
    let mut started = cell.world.begun.lock().unwrap().clone();
    let mut ended = cell.world.ended.lock().unwrap().clone();
    // No hook is awaited after the turn is cancelled.
    let cancelled = &cell.answers.iter().find(|response| response.path == "cancelled").unwrap().id;
    started.retain(|id| id != cancelled);
    ended.retain(|id| id != cancelled);
    started.sort();
    ended.sort();
    cell.holds(started == ended, "a call that starts also ends", &(started, ended));
}

pub(crate) fn events(cell: &Cell<'_>) {
    if cell.rows == ["redactor", "redactor"] {
        // No layer refuses these calls, so the other cells also have results.
        for path in ["/a", "/fail", "/large", "/echo"] {
            cell.holds(!cell.ran(path).is_empty(), "a call that may run does run", &path);
        }
    }
    let events = cell.world.events.lock().unwrap().clone();
    let mut open: BTreeMap<&str, bool> = BTreeMap::new();
    for event in &events {
        cell.holds(
            event.session_id.is_some() && event.principal.is_some(),
            "it is known whose event it is",
            event,
        );
        let is_open = open.entry(event.id.as_str()).or_default();
        match event.kind {
            EventKind::ToolCall { .. } => {
                cell.holds(!*is_open, "a call starts once", event);
                *is_open = true;
            }
            EventKind::ToolResponse { .. } | EventKind::Error { .. } => {
                cell.holds(*is_open, "a call ends once, after it started", event);
                *is_open = false;
            }
            _ => cell.holds(*is_open, "nothing is reported before or after the call", event),
        }
    }
    cell.holds(open.values().all(|open| !open), "every event that started has an end", &open);
}

pub(crate) fn audited(cell: &Cell<'_>) {
    let rows = cell.world.sink.lock().unwrap().as_ref().unwrap().0.rows();
    for response in &cell.answers {
        let of = rows.iter().filter(|row| row.intent.tool_call_id == *response.id);
        let expected = match &response.resumed {
            Some(resumed) if resumed.request.id == *response.id => 3,
            _ => 1,
        };
        cell.holds(of.count() == expected, "each call has a record", &response.id);
    }
    cell.holds(rows.iter().all(|row| row.outcome.is_some()), "each record is complete", &rows);
    let whose = |session: &str| session == "s-1" || session.starts_with("s-1.sub.");
    cell.holds(rows.iter().all(|row| whose(&row.intent.session_id)), "each record names its owner", &rows);
    // It is unknown whether a call that timed out has run.
    let ran = rows
        .iter()
        .filter(|row| row.intent.tool_name == "target" && row.status() != AuditStatus::Refused)
        .count();
    let runs = cell.world.runs().iter().filter(|ran| stem(&ran.path) != "/ask").count();
    cell.holds(ran >= runs, "a call that ran is recorded as run", &(ran, runs, &rows));
}

pub(crate) fn traced(cell: &Cell<'_>) {
    let messages = crate::matrix::spans::with(&cell.world.pin);
    cell.holds(messages.is_empty(), "spans have no secrets", &messages);
}
