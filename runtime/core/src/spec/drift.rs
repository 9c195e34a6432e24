//! Changes of tools, and what they mean for callers and for the model.
//!
//! One comparison of schemas serves tools of documents and of programs ([`Surface`](super::surface::Surface)) and
//! those of MCP servers ([`mcp::drift`](super::mcp::drift)). Arguments go to the tool and results come back. So a
//! change of the arguments is compatible if the tool accepts more than before, and one of the result if it returns
//! less. Changes that are not understood count as breaking.

pub mod report;
pub(super) mod schema;
pub(super) mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::base::canonical::canonical;
use crate::spec::mcp::lint::{Others, of_text, texts};

/// What a change means for the programs and models that call the tool, from the least to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// Every call that worked still works, and its result is still as declared.
    Compatible,
    /// Only texts for a model or a person changed.
    Text,
    /// The tool is new. One of an MCP server is not called before it is locked.
    Added,
    /// Calls work as before, but a model is offered something else: the tool is in another group, is deprecated, or
    /// gives less of its results at once.
    Model,
    /// Calls may fail, or results may be unexpected.
    Breaking,
    /// The tool may do more harm, or tries to steer a model or to hide something.
    Security,
}

impl Class {
    /// All classes, from the least to the worst.
    pub const ALL: [Class; 6] =
        [Class::Compatible, Class::Text, Class::Added, Class::Model, Class::Breaking, Class::Security];

    /// Returns the name of the class, such as `breaking`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Class::Compatible => "compatible",
            Class::Text => "text",
            Class::Added => "added",
            Class::Model => "model",
            Class::Breaking => "breaking",
            Class::Security => "security",
        }
    }

    /// Returns the class of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Returns what all changes of the class have in common, as a part of a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Class::Compatible => "every call that worked still works",
            Class::Text => "only what is read is another",
            Class::Added => "no call had it before",
            Class::Model => "calls work as before, but a model is offered something else",
            Class::Breaking => "calls may fail, or results may be what no program expects",
            Class::Security => "the tool may do more harm, or steer the model, or hide something",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The name of the tool; for a tool of an MCP server, the server's name for it. Empty for what several share.
    pub tool: String,
    /// The names of the tools that share what changed, if there are several: they use the same named schema.
    pub tools: Vec<String>,
    /// The place in the tool or descriptor, as a JSON pointer. Empty for the tool as a whole.
    pub pointer: String,
    /// What the change means.
    pub class: Class,
    /// What changed, without the name of the tool.
    pub message: String,
    /// Why the change is of its class, as a part of a sentence.
    pub why: &'static str,
    /// The value at the place before, if the change is one of a value.
    pub before: Option<Value>,
    /// The value there now, if the change is one of a value.
    pub after: Option<Value>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.class, self.place(), self.message)
    }
}

impl Change {
    /// Returns where the change is, as the start of a line: the tools, and the place in them.
    #[must_use]
    pub fn place(&self) -> String {
        const TOLD: usize = 3;
        let Change { tool, tools, pointer, .. } = self;
        let mut named: Vec<String> = tools.iter().take(TOLD).map(|name| format!("`{name}`")).collect();
        if tools.is_empty() && !tool.is_empty() {
            named.push(format!("`{tool}`"));
        }
        let mut told = named.join(", ");
        if let Some(more @ 1..) = tools.len().checked_sub(TOLD) {
            told.push_str(&format!(" and {more} more"));
        }
        match (told.is_empty(), pointer.is_empty()) {
            (false, false) => format!("{told} at {pointer}: "),
            (false, true) => format!("{told}: "),
            (true, false) => format!("{pointer}: "),
            (true, true) => String::new(),
        }
    }
}

/// A value before and after a change.
pub(super) type Given<'v> = (Option<&'v Value>, Option<&'v Value>);

/// Schemas by names.
pub(super) type Named<'v> = BTreeMap<&'v str, &'v Value>;

/// The changes of one tool.
pub(super) struct Found<'o> {
    pub(super) changes: Vec<Change>,
    others: Others<'o>,
    /// The schemas that references name, before and after.
    named: (Named<'o>, Named<'o>),
    /// The pairs of different names whose schemas were compared, with the worst change that was found.
    renamed: BTreeMap<(String, String), Class>,
}

impl<'o> Found<'o> {
    /// Starts without changes. `others` are the names of tools that no text should name.
    pub(super) fn new(others: Others<'o>) -> Found<'o> {
        Found { changes: Vec::new(), others, named: (Named::new(), Named::new()), renamed: BTreeMap::new() }
    }

    /// Sets the schemas that references name, before and after.
    pub(super) fn names(&mut self, old: Named<'o>, new: Named<'o>) {
        self.named = (old, new);
    }

    /// Returns the changes as those of this tool.
    pub(super) fn of_tool(self, tool: &str) -> impl Iterator<Item = Change> {
        let tool = tool.to_owned();
        self.changes.into_iter().map(move |change| Change { tool: tool.clone(), ..change })
    }

    /// Reports a change without values.
    pub(super) fn add(&mut self, pointer: &str, class: Class, message: impl Into<String>) {
        self.changes.push(Change {
            tool: String::new(),
            tools: Vec::new(),
            pointer: pointer.to_owned(),
            class,
            message: message.into(),
            why: class.meaning(),
            before: None,
            after: None,
        });
    }

    /// Reports the change of a value.
    pub(super) fn changed(&mut self, pointer: &str, class: Class, what: &str, (old, new): Given<'_>) {
        self.add(pointer, class, told(what, old, new));
        if let Some(change) = self.changes.last_mut() {
            (change.before, change.after) = (old.cloned(), new.cloned());
        }
    }

    /// As [`changed`](Self::changed), with a reason of its own.
    pub(super) fn changed_as(
        &mut self,
        pointer: &str,
        (class, why): (Class, &'static str),
        what: &str,
        given: Given<'_>,
    ) {
        self.changed(pointer, class, what, given);
        if let Some(change) = self.changes.last_mut() {
            change.why = why;
        }
    }

    /// Reports a change of text that is only read. Something suspicious in the new text that was not in the old one
    /// counts for more.
    pub(super) fn text(&mut self, pointer: &str, given: Given<'_>) {
        if !self.suspicious(pointer, given) {
            self.changed(pointer, Class::Text, "the text", given);
        }
    }

    /// Reports a change that is not understood.
    pub(super) fn unknown(&mut self, pointer: &str, given: Given<'_>) {
        self.suspicious(pointer, given);
        let why = "what is not understood may be anything";
        self.changed_as(pointer, (Class::Breaking, why), "a part that is not understood", given);
    }

    /// Reports what is suspicious in new texts. Returns whether something is.
    pub(super) fn suspicious(&mut self, pointer: &str, (old, new): Given<'_>) -> bool {
        let known: BTreeSet<String> = old.map(texts).into_iter().flatten().map(|(_, text)| text).collect();
        let before = self.changes.len();
        for (at, text) in new.map(texts).unwrap_or_default() {
            if let Some(what) = of_text(&text, self.others).filter(|_| !known.contains(&text)) {
                self.add(&format!("{pointer}{at}"), Class::Security, format!("the text now {what}"));
            }
        }
        self.changes.len() > before
    }

    /// Reports a name that is suspicious.
    pub(super) fn suspicious_name(&mut self, pointer: &str, name: &str) -> bool {
        let found = of_text(name, self.others);
        if let Some(what) = &found {
            self.add(pointer, Class::Security, format!("the name {what}"));
        }
        found.is_some()
    }
}

/// Returns the members that differ between two objects.
pub(super) fn members<'v>(old: &'v Value, new: &'v Value) -> Vec<(&'v str, Given<'v>)> {
    let keys = |value: &'v Value| value.as_object().into_iter().flat_map(|members| members.keys());
    let all: BTreeSet<&String> = keys(old).chain(keys(new)).collect();
    all.into_iter()
        .map(|key| (key.as_str(), (old.get(key), new.get(key))))
        .filter(|(_, given)| differ(*given))
        .collect()
}

/// Whether two values differ, whatever their notation.
pub(super) fn differ((old, new): Given<'_>) -> bool {
    // Equal trees are common, and canonical texts are long.
    old != new && old.map(canonical) != new.map(canonical)
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
