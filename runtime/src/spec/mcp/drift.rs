//! What changed in the tools of a server since they were locked, and what it means.
//!
//! Arguments go to the server and results come back. So a change of the arguments is compatible if the server accepts more
//! than before, and one of the result is if it returns less. What is not understood counts as breaking.

mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use self::schema::Side;
use super::canonical::canonical;
use super::lint::{Others, of_text, suspicions, texts};

/// What a change means for the programs that call the tool, from the least to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// Every call that worked still works, and its result is still what was said.
    Compatible,
    /// Only what a model or a person reads is another.
    Text,
    /// The tool is new. It is not called before it is locked.
    Added,
    /// Calls may fail, or results may be what no program expects.
    Breaking,
    /// The tool may do more harm, or tries to steer a model or to hide something.
    Security,
}

impl Class {
    /// Returns the name of the class, such as `breaking`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Class::Compatible => "compatible",
            Class::Text => "text",
            Class::Added => "added",
            Class::Breaking => "breaking",
            Class::Security => "security",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The name by which the server knows the tool.
    pub tool: String,
    /// The place in the descriptor, as a JSON pointer. Empty for the tool as a whole.
    pub pointer: String,
    /// What the change means.
    pub class: Class,
    /// What changed, without the name of the tool.
    pub message: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { tool, pointer, class, message } = self;
        let at = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
        write!(f, "{class}: `{tool}`{at}: {message}")
    }
}

/// Compares what a server offers with what was locked, tool by tool. Neither the order of the tools nor the notation of
/// their descriptors is a change; everything else is at least one.
///
/// `others` are the names of the tools of other servers: a description that names one may be there to stand before it.
#[must_use]
pub fn drift(locked: &[Value], offered: &[Value], others: Others<'_>) -> Vec<Change> {
    let (old, new) = (by_name(locked), by_name(offered));
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let mut changes = Vec::new();
    for name in names {
        let mut found = Found { changes: Vec::new(), others };
        let (old, new) =
            (old.get(name).map_or(&[][..], Vec::as_slice), new.get(name).map_or(&[][..], Vec::as_slice));
        match (old, new) {
            ([old], [new]) => found.descriptor(old, new),
            (_, []) => found.add("", Class::Breaking, "the server has no such tool any more"),
            ([], [new]) => {
                found.add("", Class::Added, "the tool is new, and not called before it is locked");
                for one in suspicions(new, others) {
                    found.add(&one.pointer, Class::Security, &format!("the text {}", one.message));
                }
            }
            (old, new) => {
                if old.iter().map(|one| canonical(one)).ne(new.iter().map(|one| canonical(one))) {
                    found.add("", Class::Breaking, "the server lists several tools of this name");
                }
            }
        }
        changes.extend(found.changes.into_iter().map(|(pointer, class, message)| Change {
            tool: name.to_owned(),
            pointer,
            class,
            message,
        }));
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

/// The changes of one tool.
struct Found<'o> {
    changes: Vec<(String, Class, String)>,
    others: Others<'o>,
}

impl Found<'_> {
    fn add(&mut self, pointer: &str, class: Class, message: &str) {
        self.changes.push((pointer.to_owned(), class, message.to_owned()));
    }

    /// Compares two descriptors of one name.
    fn descriptor(&mut self, old: &Value, new: &Value) {
        if canonical(old) == canonical(new) {
            return;
        }
        for (key, old, new) in members(old, new) {
            let pointer = format!("/{key}");
            match key {
                "description" | "title" | "icons" => self.text(&pointer, old, new),
                "inputSchema" => self.schema(&pointer, old, new, Side::Input),
                "outputSchema" => self.output(&pointer, old, new),
                "annotations" => self.annotations(old, new),
                "execution" => self.execution(old, new),
                _ => self.unknown(&pointer, old, new),
            }
        }
        if self.changes.is_empty() {
            self.add("", Class::Breaking, "the tool changed in a way that is not understood");
        }
    }

    /// Reports a change of what is only read. What is suspicious in the new text, and was not in the old one, is more.
    fn text(&mut self, pointer: &str, old: Option<&Value>, new: Option<&Value>) {
        if !self.suspicious(pointer, old, new) {
            self.add(pointer, Class::Text, &told("the text", old, new));
        }
    }

    /// Reports a change that is not understood.
    fn unknown(&mut self, pointer: &str, old: Option<&Value>, new: Option<&Value>) {
        self.suspicious(pointer, old, new);
        self.add(pointer, Class::Breaking, &told("a part that is not understood", old, new));
    }

    /// Reports what is suspicious in new texts. Returns whether something is.
    fn suspicious(&mut self, pointer: &str, old: Option<&Value>, new: Option<&Value>) -> bool {
        let known: BTreeSet<String> = old.map(texts).into_iter().flatten().map(|(_, text)| text).collect();
        let before = self.changes.len();
        for (at, text) in new.map(texts).unwrap_or_default() {
            if let Some(what) = of_text(&text, self.others).filter(|_| !known.contains(&text)) {
                self.add(&format!("{pointer}{at}"), Class::Security, &format!("the text now {what}"));
            }
        }
        self.changes.len() > before
    }

    fn output(&mut self, pointer: &str, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, Some(_)) => {
                self.suspicious(pointer, old, new);
                self.add(pointer, Class::Compatible, "the tool now says what its results are");
            }
            (Some(_), None) => {
                self.add(pointer, Class::Breaking, "the tool no longer says what its results are");
            }
            _ => self.schema(pointer, old, new, Side::Output),
        }
    }

    /// Compares the hints about a tool's effects.
    fn annotations(&mut self, old: Option<&Value>, new: Option<&Value>) {
        let empty = Value::Object(serde_json::Map::new());
        let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
        if !old.is_object() || !new.is_object() {
            return self.unknown("/annotations", Some(old), Some(new));
        }
        for (key, old, new) in members(old, new) {
            let pointer = format!("/annotations/{key}");
            // What is promised, and what holds if nothing is said.
            let (promise, default) = match key {
                "title" => {
                    self.text(&pointer, old, new);
                    continue;
                }
                "readOnlyHint" | "idempotentHint" => (true, false),
                "destructiveHint" | "openWorldHint" => (false, true),
                _ => {
                    self.unknown(&pointer, old, new);
                    continue;
                }
            };
            let value = |given: Option<&Value>| given.map_or(Some(default), Value::as_bool);
            match (value(old), value(new)) {
                (Some(old), Some(new)) if old == new => {
                    self.add(&pointer, Class::Text, "the hint is written differently, and means the same");
                }
                (Some(_), Some(new)) if new == promise => {
                    let message = "the tool now promises more, which policies believe once it is locked";
                    self.add(&pointer, Class::Compatible, message);
                }
                (Some(_), Some(_)) => {
                    self.add(&pointer, Class::Security, &told("what the tool promises not to do", old, new));
                }
                _ => self.unknown(&pointer, old, new),
            }
        }
        if self.changes.is_empty() {
            self.add("/annotations", Class::Text, "the annotations are written differently");
        }
    }

    /// Compares how a tool may be run. A client that runs it as before is not concerned if it may also be run as a task.
    fn execution(&mut self, old: Option<&Value>, new: Option<&Value>) {
        const TASKS: &str = "/taskSupport";
        let support = |value: Option<&Value>| {
            let known =
                |members: &serde_json::Map<String, Value>| members.keys().all(|key| key == "taskSupport");
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
        match (support(old).as_deref(), support(new).as_deref()) {
            (Some(old), Some(new)) if old == new => {
                self.add("/execution", Class::Text, "how the tool runs is written differently");
            }
            (Some("forbidden"), Some("optional")) => {
                self.add(&pointer, Class::Compatible, "the tool may also be run as a task");
            }
            _ => self.unknown("/execution", old, new),
        }
    }
}

/// Returns the members that differ between two objects.
fn members<'v>(old: &'v Value, new: &'v Value) -> Vec<(&'v str, Option<&'v Value>, Option<&'v Value>)> {
    let keys = |value: &'v Value| value.as_object().into_iter().flat_map(|members| members.keys());
    let all: BTreeSet<&String> = keys(old).chain(keys(new)).collect();
    all.into_iter()
        .map(|key| (key.as_str(), old.get(key), new.get(key)))
        .filter(|(_, old, new)| old.map(canonical) != new.map(canonical))
        .collect()
}

/// Says that something was added, removed or changed, with its short values.
fn told(what: &str, old: Option<&Value>, new: Option<&Value>) -> String {
    let short = |value: &Value| Some(canonical(value)).filter(|text| text.len() <= 60);
    match (old, new) {
        (None, Some(new)) => match short(new) {
            Some(new) => format!("{what} was added: {new}"),
            None => format!("{what} was added"),
        },
        (Some(_), None) => format!("{what} was removed"),
        (old, new) => match (old.and_then(short), new.and_then(short)) {
            (Some(old), Some(new)) => format!("{what} was {old} and is {new}"),
            _ => format!("{what} is another"),
        },
    }
}

#[cfg(test)]
mod tests;
