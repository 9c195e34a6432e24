//! Compares the tools of a server with its lock, and classifies the changes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::lint::{OtherServerTools, suspicions};
use crate::base::canonical::canonical;
use crate::spec::drift::keyword_change::Side;
use crate::spec::drift::schema::named_schemas_in;
use crate::spec::drift::{BeforeAfter, ToolChanges, changed_members, differ};

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
        let mut tool_changes = ToolChanges::new(others);
        let (old, new) =
            (old.get(name).map_or(&[][..], Vec::as_slice), new.get(name).map_or(&[][..], Vec::as_slice));
        match (old, new) {
            ([old], [new]) => compare_descriptors(&mut tool_changes, old, new),
            (_, []) => tool_changes.add("", ChangeClass::Breaking, "the server no longer has this tool"),
            ([], [new]) => {
                tool_changes.add(
                    "",
                    ChangeClass::Added,
                    "the tool is new, and is not called until it is locked",
                );
                for suspicion in suspicions(new, others) {
                    tool_changes.add(
                        &suspicion.pointer,
                        ChangeClass::Security,
                        format!("the text {}", suspicion.message),
                    );
                }
            }
            (old, new) => {
                if old
                    .iter()
                    .map(|descriptor| canonical(descriptor))
                    .ne(new.iter().map(|descriptor| canonical(descriptor)))
                {
                    tool_changes.add(
                        "",
                        ChangeClass::Breaking,
                        "the server lists several tools with this name",
                    );
                }
            }
        }
        changes.extend(tool_changes.into_changes(name));
    }
    changes
}

fn by_name(list: &[Value]) -> BTreeMap<&str, Vec<&Value>> {
    let mut descriptors: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for descriptor in list {
        let name = descriptor.get("name").and_then(Value::as_str).unwrap_or_default();
        descriptors.entry(name).or_default().push(descriptor);
    }
    descriptors
}

/// Compares two descriptors with the same name.
fn compare_descriptors<'v>(changes: &mut ToolChanges<'v>, old: &'v Value, new: &'v Value) {
    if !differ((Some(old), Some(new))) {
        return;
    }
    for (key, values) in changed_members(old, new) {
        let pointer = format!("/{key}");
        match key {
            "description" | "title" | "icons" => changes.add_text_change(&pointer, values),
            "inputSchema" => {
                changes.set_named_schemas(named_schemas_in(values.0), named_schemas_in(values.1));
                changes.compare_schemas(&pointer, values, Side::Input);
            }
            "outputSchema" => {
                changes.set_named_schemas(named_schemas_in(values.0), named_schemas_in(values.1));
                changes.compare_outputs(&pointer, values);
            }
            "annotations" => compare_annotations(changes, values),
            "execution" => compare_execution(changes, values),
            _ => changes.add_unknown(&pointer, values),
        }
    }
    if changes.changes.is_empty() {
        changes.add("", ChangeClass::Breaking, "the tool changed in a way that is not understood");
    }
}

/// Compares the hints about a tool's effects.
fn compare_annotations(changes: &mut ToolChanges<'_>, (old, new): BeforeAfter<'_>) {
    let empty = Value::Object(serde_json::Map::new());
    let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
    if !old.is_object() || !new.is_object() {
        return changes.add_unknown("/annotations", (Some(old), Some(new)));
    }
    for (key, values) in changed_members(old, new) {
        let pointer = format!("/annotations/{key}");
        // The value that is a promise, and the default of the hint.
        let (promise, default) = match key {
            "title" => {
                changes.add_text_change(&pointer, values);
                continue;
            }
            "readOnlyHint" | "idempotentHint" => (true, false),
            "destructiveHint" | "openWorldHint" => (false, true),
            _ => {
                changes.add_unknown(&pointer, values);
                continue;
            }
        };
        let value = |hint: Option<&Value>| hint.map_or(Some(default), Value::as_bool);
        match (value(values.0), value(values.1)) {
            (Some(old), Some(new)) if old == new => {
                changes.add(
                    &pointer,
                    ChangeClass::Text,
                    "the hint is written differently, and means the same",
                );
            }
            (Some(_), Some(new)) if new == promise => {
                let message = "the tool now promises more, and policies rely on this when it is locked";
                changes.add(&pointer, ChangeClass::Compatible, message);
            }
            (Some(_), Some(_)) => {
                changes.add_value_change(
                    &pointer,
                    ChangeClass::Security,
                    &format!("the promise `{key}`"),
                    values,
                );
            }
            _ => changes.add_unknown(&pointer, values),
        }
    }
    if changes.changes.is_empty() {
        changes.add("/annotations", ChangeClass::Text, "the annotations are written differently");
    }
}

/// Compares how a tool may be run. A client that runs it as before is not affected if it can additionally be run as a
/// task.
fn compare_execution(changes: &mut ToolChanges<'_>, values: BeforeAfter<'_>) {
    const TASKS: &str = "/taskSupport";
    let support = |value: Option<&Value>| {
        let has_only_task_support =
            |members: &serde_json::Map<String, Value>| members.keys().all(|key| key == "taskSupport");
        match value {
            None => Some("forbidden".to_owned()),
            Some(Value::Object(members)) if has_only_task_support(members) => {
                let support = members.get("taskSupport").map_or(Some("forbidden"), Value::as_str);
                support.map(str::to_owned)
            }
            Some(_) => None,
        }
    };
    let pointer = format!("/execution{TASKS}");
    match (support(values.0).as_deref(), support(values.1).as_deref()) {
        (Some(old), Some(new)) if old == new => {
            changes.add("/execution", ChangeClass::Text, "how the tool runs is written differently");
        }
        (Some("forbidden"), Some("optional")) => {
            changes.add(&pointer, ChangeClass::Compatible, "the tool may also be run as a task");
        }
        _ => changes.add_unknown("/execution", values),
    }
}

#[cfg(test)]
mod tests;
