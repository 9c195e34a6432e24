//! The shared state of the front end, and its readers of values, which report errors.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use toolgen_core::spec::toolset::{ContextSpec, Toolset};
use toolgen_core::{Def, List, Shape};

use super::codes;
use super::files::{Files, Refusal};
use super::keys::Keys;
use super::node::Node;
use super::secrets;
use crate::options::Options;
use crate::problem::{Code, Problems, Severity};
use crate::selector::suggestion;
use crate::source::{Document, Pointer, Source};
use crate::tool::{McpSource, Part, Tool};

/// The shared state of the front end.
pub(super) struct Context<'a> {
    /// The manifest.
    pub(super) document: &'a Arc<Document>,
    pub(super) options: &'a Options,
    pub(super) problems: &'a mut Problems,
    /// The number of errors so far, which is used to determine whether a tool has errors.
    pub(super) errors: usize,
    /// The number of tools that the manifest describes.
    pub(super) operations: usize,
    /// The names of these tools in the manifest, including tools that cannot be compiled.
    pub(super) declared: BTreeSet<String>,
    /// The names of the credentials that requests need.
    pub(super) schemes: Vec<String>,
    /// The files that belong to the manifest.
    pub(super) files: Files,
    pub(super) schemas: Schemas,
    /// The named shapes that the tools reach; complete after all their schemas are read.
    pub(super) defs: List<Def>,
    /// The imports of the manifest.
    pub(super) imported: Imported,
    /// The manifests that import this one.
    pub(super) importing: Importing,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        document: &'a Arc<Document>,
        options: &'a Options,
        problems: &'a mut Problems,
    ) -> Context<'a> {
        Context {
            document,
            options,
            problems,
            errors: 0,
            operations: 0,
            declared: BTreeSet::new(),
            schemes: Vec::new(),
            files: Files::new(document),
            schemas: Schemas::default(),
            defs: List::EMPTY,
            imported: Imported::default(),
            importing: Importing::default(),
        }
    }

    /// Returns the manifest as a node.
    pub(super) fn top(&self) -> Node<'a> {
        Node::new(&self.document.root, Pointer::ROOT)
    }

    /// Reports a problem of the manifest; its code determines the severity.
    pub(super) fn report(
        &mut self,
        code: Code,
        pointer: &Pointer,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.errors += usize::from(code.severity() == Severity::Error);
        let value = pointer.resolve(&self.document.root);
        if secrets::may_stand_at(pointer, value) {
            let (message, help) = secrets::redact(message.into(), help.into(), value);
            self.problems.report_secret(code, pointer, message, help);
        } else {
            self.problems.report(code, pointer, message, help);
        }
    }

    /// Reports a problem of a file that the manifest refers to.
    pub(super) fn report_in(
        &mut self,
        source: &Arc<Source>,
        code: Code,
        pointer: &Pointer,
        message: String,
        help: &str,
    ) {
        self.errors += usize::from(code.severity() == Severity::Error);
        self.problems.report_in(source, code, pointer, message, help);
    }

    /// Reads the file that a string in another file names, and returns its index.
    pub(super) fn read_file(&mut self, text: &str, named_in: usize) -> Result<usize, Refusal> {
        self.files.read(text, named_in, self.problems)
    }

    /// Reports a value of the wrong type. `expected` is the type with its article: `a string`.
    pub(super) fn report_wrong_type(&mut self, node: &Node<'_>, expected: &str, help: &str) {
        let name = location_name(&node.pointer);
        let message = match node.value {
            Value::Null => format!("{name} has no value; it must be {expected}"),
            Value::Number(_) => {
                let number = self.document.text_at(&node.pointer).unwrap_or_default();
                format!("{name} must be {expected}, not the number {number}")
            }
            value => format!("{name} must be {expected}, not {}", kind_of(value)),
        };
        self.report(codes::WRONG_KIND, &node.pointer, message, help);
    }

    /// Whether a node is an object. Reports every unknown key.
    pub(super) fn object(&mut self, node: &Node<'a>, keys: &Keys) -> bool {
        if !node.value.is_object() {
            let help = match keys.names().as_slice() {
                [] => "write `{}`".to_owned(),
                names => format!("its keys are {}", quoted_list(names)),
            };
            self.report_wrong_type(node, "an object", &help);
            return false;
        }
        let known_keys = keys.names();
        for (key, member) in node.entries() {
            let is_extension = node.pointer.is_root() && key.starts_with("x-");
            if !known_keys.contains(&key) && !is_extension {
                let message = format!("{} has no key `{key}`", keys.what);
                let help = keys.hint(key).unwrap_or_else(|| suggest_name(key, &known_keys));
                self.report(codes::UNKNOWN_KEY, &member.pointer, message, help);
            }
        }
        true
    }

    /// Returns the member of a required key.
    pub(super) fn required(
        &mut self,
        node: &Node<'a>,
        key: &str,
        what: &str,
        help: &str,
    ) -> Option<Node<'a>> {
        let member = node.get(key);
        if member.is_none() {
            self.report(codes::MISSING, &node.pointer, format!("{what} needs `{key}`"), help);
        }
        member
    }

    /// Returns the value of a node, which must be a string.
    pub(super) fn text_of(&mut self, node: &Node<'a>) -> Option<&'a str> {
        if let Value::String(text) = node.value {
            return Some(text);
        }
        let help = match node.value {
            Value::Number(_) | Value::Bool(_) => "put it in quotes",
            _ => "",
        };
        self.report_wrong_type(node, "a string", help);
        None
    }

    /// Returns the string with a key, if present.
    pub(super) fn text(&mut self, node: &Node<'a>, key: &str) -> Option<&'a str> {
        let member = node.get(key)?;
        self.text_of(&member)
    }

    /// Returns the boolean with a key, if present.
    pub(super) fn flag(&mut self, node: &Node<'a>, key: &str) -> Option<bool> {
        let member = node.get(key)?;
        if let Value::Bool(flag) = member.value {
            return Some(*flag);
        }
        self.report_wrong_type(&member, "true or false", "");
        None
    }

    /// Returns the value of the choice that a key names, if present.
    pub(super) fn choice<T: Copy>(&mut self, node: &Node<'a>, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let member = node.get(key)?;
        let text = self.text_of(&member)?;
        let choice = choices.iter().find(|(name, _)| *name == text);
        if choice.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            let message = format!("`{key}` cannot be `{text}`");
            self.report(codes::CHOICE, &member.pointer, message, suggest_name(text, &names));
        }
        choice.map(|(_, value)| *value)
    }

    /// Returns the positive integer with a key, if present.
    pub(super) fn count(&mut self, node: &Node<'a>, key: &str) -> Option<u64> {
        let member = node.get(key)?;
        let count = member.value.as_u64().filter(|count| *count > 0);
        if count.is_none() {
            self.report_wrong_type(&member, "a positive integer", "");
        }
        count
    }

    /// Returns the items of the array with a key, if present.
    pub(super) fn list(&mut self, node: &Node<'a>, key: &str) -> Option<Vec<Node<'a>>> {
        let member = node.get(key)?;
        if !member.value.is_array() {
            self.report_wrong_type(&member, "an array", "write its items in `[…]`, or one a line after `- `");
            return None;
        }
        Some(member.items())
    }

    /// Returns the members of the object with a key. Its keys are names that the manifest defines.
    pub(super) fn object_members(
        &mut self,
        node: &Node<'a>,
        key: &str,
        plural: &str,
    ) -> Vec<(&'a str, Node<'a>)> {
        let Some(member) = node.get(key) else { return Vec::new() };
        if !member.value.is_object() {
            let help = if member.value.is_array() { "write `NAME: …` for each, without `- `" } else { "" };
            self.report_wrong_type(&member, &format!("an object: {plural} by their names"), help);
            return Vec::new();
        }
        member.entries()
    }

    /// Returns the strings with a key, a string or an array of strings, and their locations.
    pub(super) fn texts(&mut self, node: &Node<'a>, key: &str) -> Option<Vec<(&'a str, Pointer)>> {
        let member = node.get(key)?;
        match member.value {
            Value::String(text) => Some(vec![(text, member.pointer)]),
            Value::Array(_) => {
                let items = member.items();
                Some(
                    items.into_iter().filter_map(|item| Some((self.text_of(&item)?, item.pointer))).collect(),
                )
            }
            _ => {
                self.report_wrong_type(&member, "a string, or an array of strings", "");
                None
            }
        }
    }
}

/// The location of a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SchemaLocation {
    /// The index of the file.
    pub(super) file: usize,
    pub(super) pointer: Pointer,
    /// The root schema that contains the schema. The schema may refer to its `$defs`.
    pub(super) root: Pointer,
}

impl SchemaLocation {
    /// Returns the location of a root schema in the manifest.
    pub(super) fn of(pointer: &Pointer) -> SchemaLocation {
        SchemaLocation { file: 0, pointer: pointer.clone(), root: pointer.clone() }
    }

    /// Returns the location of a subschema.
    pub(super) fn child(&self, key: &str) -> SchemaLocation {
        SchemaLocation { pointer: self.pointer.child(key), ..self.clone() }
    }
}

/// Named schemas, each read at most once.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    /// Names, by the locations of schemas.
    pub(super) names: BTreeMap<(usize, Pointer), String>,
    pub(super) slots: BTreeMap<String, Slot>,
}

/// A named schema.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) location: SchemaLocation,
    /// The shape, after it is read.
    pub(super) shape: Option<Shape>,
    /// Whether the schema is invalid, so that no tool can use it.
    pub(super) broken: bool,
}

/// The imports of a manifest.
#[derive(Debug, Default)]
pub(super) struct Imported {
    /// The documents, each with the location of its import.
    pub(super) parts: Vec<(Part, Pointer)>,
    /// The toolsets of the documents, each with the location of the import.
    pub(super) toolsets: Vec<(Toolset, Pointer)>,
    /// The contexts of the documents, each with the location of the import.
    pub(super) contexts: Vec<(ContextSpec, Pointer)>,
    /// The files that the documents read.
    pub(super) sources: Vec<PathBuf>,
    /// The MCP servers, with or without a lock.
    pub(super) servers: Vec<McpSource>,
    /// Whether an import failed, so that it may contain a name that is not found.
    pub(super) incomplete: bool,
}

impl Imported {
    /// Returns the imported tools.
    pub(super) fn tools(&self) -> Vec<Tool> {
        self.parts.iter().flat_map(|(part, _)| part.program.all_tools()).cloned().collect()
    }
}

/// Maximum depth of manifests that import one another.
const MAX_IMPORT_DEPTH: usize = 16;
/// Maximum number of documents that a manifest imports, directly and indirectly. A few files that each import the
/// next file twice would become millions.
const MAX_IMPORTS: usize = 1000;

/// The importing manifests of an import.
#[derive(Debug, Default)]
pub(super) struct Importing {
    /// The manifests that import this one, the outermost first.
    pub(super) chain: Vec<Arc<Document>>,
    /// The number of documents that all these manifests have imported so far.
    count: Rc<Cell<usize>>,
}

impl Importing {
    /// Counts another document, or returns the limit that it would exceed.
    pub(super) fn count(&self) -> Result<(), String> {
        if self.chain.len() >= MAX_IMPORT_DEPTH {
            return Err(format!("manifests import each other more than {MAX_IMPORT_DEPTH} deep"));
        }
        if self.count.get() >= MAX_IMPORTS {
            return Err(format!("more than {MAX_IMPORTS} documents are imported"));
        }
        self.count.set(self.count.get() + 1);
        Ok(())
    }

    /// Returns the importing manifests for the imports of a manifest.
    pub(super) fn extended_by(&self, manifest: &Arc<Document>) -> Importing {
        let chain = self.chain.iter().chain([manifest]).map(Arc::clone).collect();
        Importing { chain, count: Rc::clone(&self.count) }
    }
}

/// Describes a value of an unexpected type: `the number 5`.
pub(super) fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() <= 40 => {
            format!("the string {}", Value::from(text.as_str()))
        }
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Returns the name of a location in a message: a key, or an item of an array.
fn location_name(pointer: &Pointer) -> String {
    let name = pointer.last().unwrap_or_default();
    let array_name = pointer.parent().and_then(|array| Some(array.last()?.into_owned()));
    match (name.parse::<usize>(), array_name) {
        (Ok(index), Some(array)) => format!("item {} of `{array}`", index + 1),
        _ if name.is_empty() => "the manifest".to_owned(),
        _ => format!("`{name}`"),
    }
}

/// Maximum number of names that a message lists.
const MAX_LISTED: usize = 12;

/// Lists names in backticks.
pub(super) fn quoted_list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let remaining = names.len().saturating_sub(MAX_LISTED);
    let remaining = if remaining == 0 { String::new() } else { format!(" and {remaining} more") };
    format!("{}{remaining}", quoted.join(", "))
}

/// Suggests the most similar known name for an unknown name, or lists the known names.
pub(super) fn suggest_name(name: &str, known: &[&str]) -> String {
    match (suggestion(name, known.iter().copied()), known) {
        (Some(nearest_name), _) => format!("did you mean `{nearest_name}`?"),
        (None, []) => "there is none".to_owned(),
        (None, [name]) => format!("there is only `{name}`"),
        (None, _) => format!("there are {}", quoted_list(known)),
    }
}
