//! Changes of tools, and their meaning for callers and for the model.
//!
//! One comparison of schemas serves tools of documents and programs (`Surface`) and tools
//! of MCP servers ([`mcp::drift`](super::mcp::drift)). Arguments go to the tool and results come back. So a change of
//! the arguments is compatible if the tool accepts more than before, and a change of the result if it returns less.
//! Changes that the comparison does not understand count as breaking.

pub(super) mod keyword_change;
pub mod report;
pub(super) mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::base::canonical::canonical;
use crate::spec::mcp::lint::{OtherServerTools, all_strings, first_finding};

/// What a change means for the programs and models that call the tool, from the least to the most severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ChangeClass {
    /// Every call that worked still works, and its result still matches the declaration.
    Compatible,
    /// Only text for a model or a person changed.
    Text,
    /// The tool is new. A new tool of an MCP server is not called until it is locked.
    Added,
    /// Calls work as before, but a model sees something else: the tool is in another group, is deprecated, or returns
    /// less of its results at a time.
    Model,
    /// Calls may fail, or results may be unexpected.
    Breaking,
    /// The tool may do more harm, or tries to manipulate a model or to hide something.
    Security,
}

impl ChangeClass {
    /// All classes, from the least to the most severe.
    pub const ALL: [ChangeClass; 6] = [
        ChangeClass::Compatible,
        ChangeClass::Text,
        ChangeClass::Added,
        ChangeClass::Model,
        ChangeClass::Breaking,
        ChangeClass::Security,
    ];

    /// Returns the name of the class, such as `breaking`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ChangeClass::Compatible => "compatible",
            ChangeClass::Text => "text",
            ChangeClass::Added => "added",
            ChangeClass::Model => "model",
            ChangeClass::Breaking => "breaking",
            ChangeClass::Security => "security",
        }
    }

    /// Returns the class with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<ChangeClass> {
        ChangeClass::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Returns a description of the class, as a part of a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            ChangeClass::Compatible => "every call that worked still works",
            ChangeClass::Text => "only text changed",
            ChangeClass::Added => "the tool did not exist before",
            ChangeClass::Model => "calls work as before, but a model is offered something else",
            ChangeClass::Breaking => "calls may fail, or results may be unexpected",
            ChangeClass::Security => "the tool may do more harm, manipulate the model, or hide something",
        }
    }
}

impl fmt::Display for ChangeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The name of the tool; for a tool of an MCP server, the server's name for it. Empty for changes that several
    /// tools share.
    pub tool: String,
    /// The names of the tools that share the change, if there are several: they use the same named schema.
    pub tools: Vec<String>,
    /// The location in the tool or descriptor, as a JSON pointer. Empty for the tool as a whole.
    pub pointer: String,
    /// What the change means.
    pub class: ChangeClass,
    /// What changed, without the name of the tool.
    pub message: String,
    /// Why the change has its class, as a part of a sentence.
    pub reason: &'static str,
    /// The value at the location before, if a value changed.
    pub before: Option<Value>,
    /// The value there now, if a value changed.
    pub after: Option<Value>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.class, self.place(), self.message)
    }
}

impl Change {
    /// Returns the location of the change, as the start of a line: the tools, and the location in them.
    #[must_use]
    pub fn place(&self) -> String {
        const MAX_TOOLS_NAMED: usize = 3;
        let Change { tool, tools, pointer, .. } = self;
        let mut shown: Vec<String> =
            tools.iter().take(MAX_TOOLS_NAMED).map(|name| format!("`{name}`")).collect();
        if tools.is_empty() && !tool.is_empty() {
            shown.push(format!("`{tool}`"));
        }
        let mut tools_text = shown.join(", ");
        if let Some(more @ 1..) = tools.len().checked_sub(MAX_TOOLS_NAMED) {
            tools_text.push_str(&format!(" and {more} more"));
        }
        match (tools_text.is_empty(), pointer.is_empty()) {
            (false, false) => format!("{tools_text} at {pointer}: "),
            (false, true) => format!("{tools_text}: "),
            (true, false) => format!("{pointer}: "),
            (true, true) => String::new(),
        }
    }
}

/// A value before and after a change.
pub(super) type BeforeAfter<'v> = (Option<&'v Value>, Option<&'v Value>);

/// Schemas by name.
pub(super) type NamedSchemas<'v> = BTreeMap<&'v str, &'v Value>;

/// The changes of one tool.
pub(super) struct ToolChanges<'o> {
    pub(super) changes: Vec<Change>,
    other_tools: OtherServerTools<'o>,
    /// The schemas that references can name, before and after.
    named_schemas: (NamedSchemas<'o>, NamedSchemas<'o>),
    /// The pairs of different names whose schemas were compared, with the most severe change.
    renamed: BTreeMap<(String, String), ChangeClass>,
}

impl<'o> ToolChanges<'o> {
    /// Creates an empty list of changes. `other_tools` are the names of tools that no text should name.
    pub(super) fn new(other_tools: OtherServerTools<'o>) -> ToolChanges<'o> {
        ToolChanges {
            changes: Vec::new(),
            other_tools,
            named_schemas: (NamedSchemas::new(), NamedSchemas::new()),
            renamed: BTreeMap::new(),
        }
    }

    /// Sets the schemas that references can name, before and after.
    pub(super) fn set_named_schemas(&mut self, old: NamedSchemas<'o>, new: NamedSchemas<'o>) {
        self.named_schemas = (old, new);
    }

    /// Returns the changes, with the name of this tool.
    pub(super) fn into_changes(self, tool: &str) -> impl Iterator<Item = Change> {
        let tool = tool.to_owned();
        self.changes.into_iter().map(move |change| Change { tool: tool.clone(), ..change })
    }

    /// Reports a change without values.
    pub(super) fn add(&mut self, pointer: &str, class: ChangeClass, message: impl Into<String>) {
        self.changes.push(Change {
            tool: String::new(),
            tools: Vec::new(),
            pointer: pointer.to_owned(),
            class,
            message: message.into(),
            reason: class.meaning(),
            before: None,
            after: None,
        });
    }

    /// Reports the change of a value.
    pub(super) fn add_value_change(
        &mut self,
        pointer: &str,
        class: ChangeClass,
        subject: &str,
        (old, new): BeforeAfter<'_>,
    ) {
        self.add(pointer, class, describe_change(subject, old, new));
        if let Some(change) = self.changes.last_mut() {
            (change.before, change.after) = (old.cloned(), new.cloned());
        }
    }

    /// Like [`add_value_change`](Self::add_value_change), with another reason.
    pub(super) fn add_with_reason(
        &mut self,
        pointer: &str,
        (class, reason): (ChangeClass, &'static str),
        subject: &str,
        values: BeforeAfter<'_>,
    ) {
        self.add_value_change(pointer, class, subject, values);
        if let Some(change) = self.changes.last_mut() {
            change.reason = reason;
        }
    }

    /// Reports a change of text that is only read. A suspicious text that is new gets a more severe class.
    pub(super) fn add_text_change(&mut self, pointer: &str, values: BeforeAfter<'_>) {
        if !self.report_suspicious(pointer, values) {
            self.add_value_change(pointer, ChangeClass::Text, "the text", values);
        }
    }

    /// Reports a change that the comparison does not understand.
    pub(super) fn add_unknown(&mut self, pointer: &str, values: BeforeAfter<'_>) {
        self.report_suspicious(pointer, values);
        let reason = "a change that is not understood may have any effect";
        self.add_with_reason(pointer, (ChangeClass::Breaking, reason), "an unrecognized part", values);
    }

    /// Reports suspicious content of new texts. Returns whether there is any.
    pub(super) fn report_suspicious(&mut self, pointer: &str, (old, new): BeforeAfter<'_>) -> bool {
        let old_texts: BTreeSet<String> =
            old.map(all_strings).into_iter().flatten().map(|(_, text)| text).collect();
        let old_count = self.changes.len();
        for (suffix, text) in new.map(all_strings).unwrap_or_default() {
            if let Some(finding) =
                first_finding(&text, self.other_tools).filter(|_| !old_texts.contains(&text))
            {
                self.add(
                    &format!("{pointer}{suffix}"),
                    ChangeClass::Security,
                    format!("the text now {finding}"),
                );
            }
        }
        self.changes.len() > old_count
    }

    /// Reports a name if it is suspicious. Returns whether it is.
    pub(super) fn report_suspicious_name(&mut self, pointer: &str, name: &str) -> bool {
        let finding = first_finding(name, self.other_tools);
        if let Some(description) = &finding {
            self.add(pointer, ChangeClass::Security, format!("the name {description}"));
        }
        finding.is_some()
    }
}

/// Returns the members that differ between two objects.
pub(super) fn changed_members<'v>(old: &'v Value, new: &'v Value) -> Vec<(&'v str, BeforeAfter<'v>)> {
    let keys = |value: &'v Value| value.as_object().into_iter().flat_map(|members| members.keys());
    let all_keys: BTreeSet<&String> = keys(old).chain(keys(new)).collect();
    all_keys
        .into_iter()
        .map(|key| (key.as_str(), (old.get(key), new.get(key))))
        .filter(|(_, values)| differ(*values))
        .collect()
}

/// Whether two values differ, ignoring their notation.
pub(super) fn differ((old, new): BeforeAfter<'_>) -> bool {
    // Equal trees are common, and canonical forms are long.
    old != new && old.map(canonical) != new.map(canonical)
}

/// Describes that a value was added, removed or changed, and shows short values.
fn describe_change(subject: &str, old: Option<&Value>, new: Option<&Value>) -> String {
    let render_short = |value: &Value| Some(canonical(value)).filter(|text| text.len() <= 60);
    match (old, new) {
        (None, Some(new)) => match render_short(new) {
            Some(new) => format!("{subject} was added: {new}"),
            None => format!("{subject} was added"),
        },
        (Some(_), None) => format!("{subject} was removed"),
        (old, new) => match (old.and_then(render_short), new.and_then(render_short)) {
            (Some(old), Some(new)) => format!("{subject} was {old} and is {new}"),
            _ => format!("{subject} changed"),
        },
    }
}
