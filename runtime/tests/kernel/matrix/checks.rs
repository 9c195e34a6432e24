//! What the layers promise, held against what happened.

use std::collections::BTreeMap;

use toolgen_runtime::layers::approval::ApprovalState;
use toolgen_runtime::layers::audit::AuditStatus;
use toolgen_runtime::layers::depends;
use toolgen_runtime::layers::events::EventKind;

use crate::matrix::evidence::{Answer, Cell, Ran, stem};
use crate::matrix::rows::{FAILURES, LONGEST, is_guarded};
use crate::matrix::stores;
use crate::prelude::*;

/// What holds of every cell, whatever layers it has.
pub(crate) async fn always(cell: &Cell<'_>) {
    for answer in &cell.answers {
        cell.holds(answer.response.id == *answer.id, "an answer belongs to its call", &answer.response);
        let quiet = ["bad", "cancelled", "unknown"].contains(&answer.path);
        cell.holds(!quiet || answer.ran.is_empty(), "a call that cannot run does not run", &answer.ran);
        cell.holds(
            !quiet || answer.response.is_error() || cell.kind.name == "sub-agent",
            "it says so",
            &answer.response,
        );
        // The message of an error is the tool's own, and an error that does not print it helps nobody.
        let debug = match &answer.response.outcome {
            Err(ToolError::Failed { .. }) => String::new(),
            _ => format!("{:?}", answer.response),
        };
        cell.holds(!debug.contains(&cell.world.pin), "what is printed for debugging has no content", &debug);
    }
    let events =
        cell.world.events.lock().unwrap().iter().map(|event| event.to_json().to_string()).collect::<Vec<_>>();
    let told: Vec<&String> = events.iter().filter(|event| event.contains(&cell.world.pin)).collect();
    cell.holds(told.is_empty(), "events have no secrets", &told);
    let queue = cell.world.queue.lock().unwrap().clone();
    if let Some(queue) = queue {
        let entries = queue.list(&ApprovalState::ALL).await.unwrap();
        let told: Vec<_> = entries
            .iter()
            .filter(|entry| serde_json::to_string(entry).unwrap().contains(&cell.world.pin))
            .collect();
        cell.holds(told.is_empty(), "what is shown of waiting calls has no secrets", &told);
        let ended = |state| [ApprovalState::Granted, ApprovalState::Finished].contains(&state);
        let open: Vec<_> = entries.iter().filter(|entry| !ended(entry.state)).collect();
        cell.holds(
            open.is_empty(),
            "a call that was carried out has an end, or waits for the next worker",
            &open,
        );
        let ran = cell
            .answers
            .iter()
            .filter_map(|answer| answer.resumed.as_ref())
            .filter(|it| !it.first.is_empty());
        let unfinished = ran.filter(|it| {
            let entry = entries.iter().find(|entry| entry.id == *it.request.queue_id());
            entry.is_some_and(|entry| entry.state != ApprovalState::Finished)
        });
        let unfinished: Vec<_> = unfinished.map(|it| it.request.queue_id()).collect();
        cell.holds(unfinished.is_empty(), "what ran is finished in the queue", &unfinished);
    }
    let sink = cell.world.sink.lock().unwrap().clone();
    if let Some((sink, auditor)) = sink {
        auditor.flush().await.unwrap();
        let rows = sink.rows();
        let told: Vec<_> = rows
            .iter()
            .filter(|row| {
                format!("{row:?}{:?}", row.intent.to_json()).contains(&cell.world.pin)
                    || row
                        .outcome
                        .as_ref()
                        .is_some_and(|outcome| outcome.to_json().to_string().contains(&cell.world.pin))
            })
            .collect();
        cell.holds(told.is_empty(), "records have no secrets", &told);
    }
}

pub(crate) fn hidden(cell: &Cell<'_>) {
    let unknown = cell.answers.iter().find(|answer| answer.path == "unknown").unwrap().response.text();
    for answer in cell.answers.iter().filter(|answer| answer.response.name == *cell.kind.called) {
        let text = answer.response.text();
        // A composition says which of its steps failed, and the rest is what it was told.
        let told = text.rsplit_once("(target): ").map_or(text.as_str(), |(_, told)| told);
        let same = told == unknown.replace("targett", "target") || cell.kind.name == "sub-agent";
        cell.holds(!text.contains("not allowed") || same, "it is not told that the tool exists", &text);
    }
}

pub(crate) fn named_as_called(cell: &Cell<'_>) {
    for answer in cell.answers.iter().filter(|answer| !["unknown", "rest"].contains(&answer.path)) {
        let called = cell.kind.through.unwrap_or(cell.kind.called);
        cell.holds(answer.response.name == *called, "the answer has the name of the call", &answer.response);
    }
}

pub(crate) fn rate(cell: &Cell<'_>) {
    // Resumed calls are counted too. A tool that asks for input runs twice within one call.
    let runs = cell.world.runs();
    let calls = runs.iter().filter(|ran| stem(&ran.path) != "/ask").count();
    cell.holds(calls <= 2, "two calls may pass", &runs);
}

pub(crate) fn failures(cell: &Cell<'_>) {
    // Each run of a sub-agent is a session of its own.
    if cell.kind.name == "sub-agent" && !cell.has("breaker") {
        return;
    }
    // A breaker watches the service of a tool, not the handler of an effect.
    if cell.kind.name == "effect" && !cell.has("repeats") && !cell.has("shared failures") {
        return;
    }
    let failed = cell.ran("/fail");
    cell.holds(failed.len() <= FAILURES as usize, "it failed often enough", &failed);
}

/// What other processes can read has none of the secrets.
pub(crate) fn stored_without_secrets(cell: &Cell<'_>) {
    let stored = stores::text(&cell.world.stored);
    cell.holds(!stored.contains(&cell.world.pin), "no secret is shared", &stored);
}

/// Other processes know which calls succeeded, and no others.
pub(crate) fn stored(cell: &Cell<'_>) {
    stored_without_secrets(cell);
    let called = stores::called(&cell.world.stored);
    let succeeded = |tool: &str| {
        let of_tool = |answer: &&Answer| answer.path != "rest" && answer.response.name == tool;
        let mut answers = cell.answers.iter().filter(of_tool);
        answers.any(|answer| depends::succeeded(&answer.response.outcome) || answer.resumed.is_some())
    };
    for answer in &cell.answers {
        // Through another tool, the name of the response is that one's.
        let name = if cell.kind.through.is_some() { cell.kind.called } else { answer.response.name.as_str() };
        if depends::succeeded(&answer.response.outcome) && answer.path != "rest" {
            cell.holds(called.iter().any(|known| known == name), "a success is known to others", &called);
        }
    }
    let outer = cell.kind.called;
    let known = called.iter().any(|known| known == outer);
    cell.holds(!known || succeeded(outer) || cell.kind.through.is_some(), "only a success is", &called);
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
    cell.holds(guarded.iter().all(fits), "what runs was approved", &(&guarded, &approved));
    cell.holds(guarded.len() <= approved.len(), "and only once", &(&guarded, &approved));
}

pub(crate) fn resumed(cell: &Cell<'_>) {
    for answer in cell.answers.iter().filter(|answer| is_guarded(answer.path)) {
        cell.holds(cell.has("approver") || answer.ran.is_empty(), "it waits", &answer.ran);
        if let Some(resumed) = &answer.resumed {
            let as_shown = |ran: &Ran| {
                resumed.request.arguments["path"] == ran.path && resumed.request.arguments["note"] == ran.note
            };
            cell.holds(resumed.first.iter().all(as_shown), "it runs as it was shown", &resumed.first);
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
        .any(|answer| answer.resumed.as_ref().is_some_and(|resumed| !resumed.first.is_empty()));
    let free = cell.rows[0] == cell.rows[1] && cell.rows[0].starts_with("approval ");
    cell.holds(
        !free || cell.kind.called == "outer" || waits,
        "a call that waited can run",
        &cell.world.runs(),
    );
}

pub(crate) fn timed(cell: &Cell<'_>) {
    for answer in cell.answers.iter().filter(|answer| answer.path == "/slow" && cell.kind.interruptible) {
        let took = answer.response.duration;
        // A request of an earlier call may arrive late.
        let ran = answer.ran.iter().any(|ran| stem(&ran.path) == "/slow");
        cell.holds(took.as_secs() < 10 && !ran, "time is up", &took);
    }
}

pub(crate) fn input(cell: &Cell<'_>) {
    for answer in cell.answers.iter().filter(|answer| answer.path == "/ask") {
        let code = answer.response.outcome.as_ref().err().map(|error| error.code().to_owned());
        cell.holds(code.as_deref() != Some("INPUT_REQUIRED"), "somebody answers", &code);
    }
}

pub(crate) fn hosts(cell: &Cell<'_>) {
    if cell.kind.name == "HTTP" {
        cell.nothing_ran("its host is not allowed");
    }
}

pub(crate) fn short(cell: &Cell<'_>) {
    for answer in &cell.answers {
        let length = answer.response.text().len() as u64;
        cell.holds(length <= LONGEST + 400, "the answer is short", &length);
    }
}

pub(crate) fn hooks(cell: &Cell<'_>) {
    let direct = cell.kind.called == "target";
    cell.holds(!direct || cell.ran("/skip").is_empty(), "the hook skipped it", &cell.ran("/skip"));
    let mut begun = cell.world.begun.lock().unwrap().clone();
    let mut ended = cell.world.ended.lock().unwrap().clone();
    // Nobody waits for a hook after the turn is cancelled.
    let cancelled = &cell.answers.iter().find(|answer| answer.path == "cancelled").unwrap().id;
    begun.retain(|id| id != cancelled);
    ended.retain(|id| id != cancelled);
    begun.sort();
    ended.sort();
    cell.holds(begun == ended, "what begins ends", &(begun, ended));
}

pub(crate) fn events(cell: &Cell<'_>) {
    if cell.rows == ["redactor", "redactor"] {
        // Nothing is in the way, so the other cells say something, too.
        for path in ["/a", "/fail", "/large", "/echo"] {
            cell.holds(!cell.ran(path).is_empty(), "what may run runs", &path);
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
                cell.holds(!*is_open, "a call begins once", event);
                *is_open = true;
            }
            EventKind::ToolResponse { .. } | EventKind::Error { .. } => {
                cell.holds(*is_open, "a call ends once, after it began", event);
                *is_open = false;
            }
            _ => cell.holds(*is_open, "nothing is told before or after the call", event),
        }
    }
    cell.holds(open.values().all(|open| !open), "every event that began has an end", &open);
}

pub(crate) fn audited(cell: &Cell<'_>) {
    let rows = cell.world.sink.lock().unwrap().as_ref().unwrap().0.rows();
    for answer in &cell.answers {
        let of = rows.iter().filter(|row| row.intent.tool_call_id == *answer.id);
        let expected = match &answer.resumed {
            Some(resumed) if resumed.request.id == *answer.id => 3,
            _ => 1,
        };
        cell.holds(of.count() == expected, "each call has a record", &answer.id);
    }
    cell.holds(rows.iter().all(|row| row.outcome.is_some()), "each record is complete", &rows);
    let whose = |session: &str| session == "s-1" || session.starts_with("s-1.sub.");
    cell.holds(rows.iter().all(|row| whose(&row.intent.session_id)), "it is known whose record it is", &rows);
    // What timed out may have run or not.
    let ran = rows
        .iter()
        .filter(|row| row.intent.tool_name == "target" && row.status() != AuditStatus::Refused)
        .count();
    let runs = cell.world.runs().iter().filter(|ran| stem(&ran.path) != "/ask").count();
    cell.holds(ran >= runs, "what ran is recorded as such", &(ran, runs, &rows));
}

pub(crate) fn traced(cell: &Cell<'_>) {
    let told = crate::matrix::spans::with(&cell.world.pin);
    cell.holds(told.is_empty(), "spans have no secrets", &told);
}
