//! Compares the tools of a server with its lock, and classifies the changes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::lint::{OtherServerTools, suspicions};
use crate::base::canonical::canonical;
use crate::spec::drift::keyword_change::Side;
use crate::spec::drift::schema::own_names;
use crate::spec::drift::{BeforeAfter, ToolChanges, differ, members};

pub use crate::spec::drift::{Change, ChangeClass};

/// Compares the tools that a server offers with its lock, tool by tool. Neither the order of the tools nor the
/// notation of their descriptors is a change; every other difference is at least one change.
///
/// `others` are the names of the tools of other servers: a description that names one of them may try to replace it.
#[must_use]
pub fn drift(locked: &[Value], offered: &[Value], others: OtherServerTools<'_>) -> Vec<Change> {
    let (old, new) = (by_name(locked), by_name(offered));
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let mut changes = Vec::new();
    for name in names {
        let mut found = ToolChanges::new(others);
        let (old, new) =
            (old.get(name).map_or(&[][..], Vec::as_slice), new.get(name).map_or(&[][..], Vec::as_slice));
        match (old, new) {
            ([old], [new]) => descriptor(&mut found, old, new),
            (_, []) => found.add("", ChangeClass::Breaking, "the server no longer has this tool"),
            ([], [new]) => {
                found.add("", ChangeClass::Added, "the tool is new, and is not called until it is locked");
                for one in suspicions(new, others) {
                    found.add(&one.pointer, ChangeClass::Security, format!("the text {}", one.message));
                }
            }
            (old, new) => {
                if old.iter().map(|one| canonical(one)).ne(new.iter().map(|one| canonical(one))) {
                    found.add("", ChangeClass::Breaking, "the server lists several tools with this name");
                }
            }
        }
        changes.extend(found.of_tool(name));
    }
    changes
}

fn by_name(list: &[Value]) -> BTreeMap<&str, Vec<&Value>> {
    let mut names: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for descriptor in list {
        let name = descriptor.get("name").and_then(Value::as_str).unwrap_or_default();
        names.entry(name).or_default().push(descriptor);
    }
    names
}

/// Compares two descriptors with the same name.
fn descriptor<'v>(found: &mut ToolChanges<'v>, old: &'v Value, new: &'v Value) {
    if !differ((Some(old), Some(new))) {
        return;
    }
    for (key, given) in members(old, new) {
        let pointer = format!("/{key}");
        match key {
            "description" | "title" | "icons" => found.text(&pointer, given),
            "inputSchema" => {
                found.names(own_names(given.0), own_names(given.1));
                found.schema(&pointer, given, Side::Input);
            }
            "outputSchema" => {
                found.names(own_names(given.0), own_names(given.1));
                found.output(&pointer, given);
            }
            "annotations" => annotations(found, given),
            "execution" => execution(found, given),
            _ => found.unknown(&pointer, given),
        }
    }
    if found.changes.is_empty() {
        found.add("", ChangeClass::Breaking, "the tool changed in a way that is not understood");
    }
}

/// Compares the hints about a tool's effects.
fn annotations(found: &mut ToolChanges<'_>, (old, new): BeforeAfter<'_>) {
    let empty = Value::Object(serde_json::Map::new());
    let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
    if !old.is_object() || !new.is_object() {
        return found.unknown("/annotations", (Some(old), Some(new)));
    }
    for (key, given) in members(old, new) {
        let pointer = format!("/annotations/{key}");
        // The value that is a promise, and the default of the hint.
        let (promise, default) = match key {
            "title" => {
                found.text(&pointer, given);
                continue;
            }
            "readOnlyHint" | "idempotentHint" => (true, false),
            "destructiveHint" | "openWorldHint" => (false, true),
            _ => {
                found.unknown(&pointer, given);
                continue;
            }
        };
        let value = |given: Option<&Value>| given.map_or(Some(default), Value::as_bool);
        match (value(given.0), value(given.1)) {
            (Some(old), Some(new)) if old == new => {
                found.add(&pointer, ChangeClass::Text, "the hint is written differently, and means the same");
            }
            (Some(_), Some(new)) if new == promise => {
                let message = "the tool now promises more, and policies rely on this when it is locked";
                found.add(&pointer, ChangeClass::Compatible, message);
            }
            (Some(_), Some(_)) => {
                found.changed(&pointer, ChangeClass::Security, &format!("the promise `{key}`"), given);
            }
            _ => found.unknown(&pointer, given),
        }
    }
    if found.changes.is_empty() {
        found.add("/annotations", ChangeClass::Text, "the annotations are written differently");
    }
}

/// Compares how a tool may be run. A client that runs it as before is not affected if it can additionally be run as a
/// task.
fn execution(found: &mut ToolChanges<'_>, given: BeforeAfter<'_>) {
    const TASKS: &str = "/taskSupport";
    let support = |value: Option<&Value>| {
        let known = |members: &serde_json::Map<String, Value>| members.keys().all(|key| key == "taskSupport");
        match value {
            None => Some("forbidden".to_owned()),
            Some(Value::Object(members)) if known(members) => {
                let given = members.get("taskSupport").map_or(Some("forbidden"), Value::as_str);
                given.map(str::to_owned)
            }
            Some(_) => None,
        }
    };
    let pointer = format!("/execution{TASKS}");
    match (support(given.0).as_deref(), support(given.1).as_deref()) {
        (Some(old), Some(new)) if old == new => {
            found.add("/execution", ChangeClass::Text, "how the tool runs is written differently");
        }
        (Some("forbidden"), Some("optional")) => {
            found.add(&pointer, ChangeClass::Compatible, "the tool may also be run as a task");
        }
        _ => found.unknown("/execution", given),
    }
}

#[cfg(test)]
mod tests;
