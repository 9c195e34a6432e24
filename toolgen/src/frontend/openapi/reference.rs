//! Resolves references, `{"$ref": "#/…"}`, to locations in the same file or in another file of the document.
//!
//! Nothing is read here: [`Files`](super::files::Files) contains the available files.

use std::borrow::Cow;

use serde_json::Value;
use toolgen_core::schema::shape::read::plain_markdown;

use super::codes;
use super::context::Context;
use super::files::{Refusal, uri};
use super::node::Node;
use crate::source::Pointer;

/// Maximum length of a chain of references; a longer chain counts as a cycle.
const MAX_HOPS: usize = 64;

/// The reason why a reference cannot be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolveError {
    /// The reference names a file that is not read.
    External(Refusal),
    /// The target does not exist.
    Missing,
    /// The reference resolves to itself.
    Cycle,
}

/// The target of a chain of references.
pub(super) struct Resolved<'a> {
    /// The end of the chain.
    pub(super) node: Node<'a>,
    /// A description next to a reference, which takes precedence over that of the target (OpenAPI 3.1).
    pub(super) description: Option<&'a str>,
}

impl<'a> Resolved<'a> {
    /// Returns the effective description as the model sees it; empty if there is none.
    pub(super) fn prose(&self) -> Cow<'a, str> {
        self.description.map_or_else(|| self.node.prose("description"), plain_markdown)
    }
}

/// Returns the `$ref` of a value that is a reference.
pub(super) fn target_of(value: &Value) -> Option<&str> {
    value.as_object()?.get("$ref")?.as_str()
}

impl<'a> Context<'a> {
    /// Follows references to their target, and reports a reference that cannot be resolved.
    pub(super) fn resolve(&mut self, node: &Node<'a>) -> Option<Resolved<'a>> {
        self.note_malformed_reference(node);
        match self.follow(node) {
            Ok(resolved) => Some(resolved),
            Err((reason, text)) => {
                self.report_unknown(reason, &text, &node.pointer, "");
                None
            }
        }
    }

    /// Reports a `$ref` that is not a string. The other members are read.
    pub(super) fn note_malformed_reference(&mut self, node: &Node<'a>) {
        if let Some(reference) = node.get("$ref").filter(|reference| !reference.value.is_string()) {
            self.malformed(&reference, "`$ref` must be a string; it is left out");
        }
    }

    /// Follows references to their target.
    pub(super) fn follow(&self, node: &Node<'a>) -> Result<Resolved<'a>, (ResolveError, String)> {
        self.follow_within(node, MAX_HOPS)
    }

    fn follow_within(&self, node: &Node<'a>, hops: usize) -> Result<Resolved<'a>, (ResolveError, String)> {
        let mut resolved = Resolved { node: node.clone(), description: None };
        for hops in (0..hops).rev() {
            let Some(text) = target_of(resolved.node.value) else { return Ok(resolved) };
            resolved.description = resolved.description.or(resolved.node.text("description"));
            let node = self.locate_within(text, &resolved.node.pointer, hops);
            resolved.node = node.map_err(|error| (error, text.to_owned()))?;
        }
        Err((ResolveError::Cycle, target_of(node.value).unwrap_or_default().to_owned()))
    }

    /// Returns the items of the array with a key. The array may be a reference.
    pub(super) fn resolved_items(&mut self, node: &Node<'a>, key: &str) -> Vec<Node<'a>> {
        let array = node.get(key).and_then(|array| self.resolve(&array));
        let Some(array) = array.map(|resolved| resolved.node) else { return Vec::new() };
        if !array.value.is_array() {
            self.malformed(&array, &format!("`{key}` must be an array; it is left out"));
        }
        array.array_items()
    }

    /// Returns the direct target of the reference at a location. The target may be another reference.
    pub(super) fn locate(&self, text: &str, from: &Pointer) -> Result<Node<'a>, ResolveError> {
        self.locate_within(text, from, MAX_HOPS)
    }

    fn locate_within(&self, text: &str, from: &Pointer, hops: usize) -> Result<Node<'a>, ResolveError> {
        let (file, fragment) = uri::split(text);
        if self.files.has_ids()
            && let Some(node) = self.locate_by_id(file, fragment, from, hops)
        {
            return Ok(node);
        }
        let index = self.files.index_of(from);
        let target = match file {
            "" => index,
            name if index == 0 && self.names_document(name) => 0,
            file => self.files.target(index, file).map_err(ResolveError::External)?,
        };
        match self.find_fragment(self.files.root(target), fragment, hops) {
            // The part was written for the document that includes it.
            Err(ResolveError::Missing) if file.is_empty() && index != 0 => {
                self.find_fragment(self.top(), fragment, hops)
            }
            node => node,
        }
    }

    /// Whether a reference in a part of the document resolves in the document itself: it names no file and does not
    /// resolve in the part.
    pub(super) fn resolves_in_document(&self, text: &str, from: &Pointer) -> bool {
        let (file, fragment) = uri::split(text);
        let index = self.files.index_of(from);
        let in_file = |index| self.find_fragment(self.files.root(index), fragment, MAX_HOPS).is_ok();
        file.is_empty() && index != 0 && !in_file(index) && in_file(0)
    }

    /// Returns the target of a reference relative to the `$id` of schemas, if there is one.
    fn locate_by_id(&self, file: &str, fragment: &str, from: &Pointer, hops: usize) -> Option<Node<'a>> {
        let base = self.files.base_of(from);
        let pointer = match base {
            Some((pointer, _)) if file.is_empty() => pointer,
            base => self.files.pointer_of_id(&uri::resolve(base.map_or("", |(_, id)| id), file))?,
        };
        self.find_fragment(self.files.node_at(pointer)?, fragment, hops).ok()
    }

    /// Returns the target of a fragment in a file or a schema.
    fn find_fragment(&self, root: Node<'a>, fragment: &str, hops: usize) -> Result<Node<'a>, ResolveError> {
        match Pointer::from_fragment(fragment) {
            Some(pointer) => self.walk(root, &pointer, hops),
            None => anchor(root.value, fragment, &root.pointer).ok_or(ResolveError::Missing),
        }
    }

    /// Whether the file name in a reference names the document itself.
    fn names_document(&self, file: &str) -> bool {
        self.file.is_some_and(|name| file.strip_prefix("./").unwrap_or(file) == name)
    }

    fn walk(&self, root: Node<'a>, path: &Pointer, hops: usize) -> Result<Node<'a>, ResolveError> {
        let mut node = root;
        for token in path.tokens() {
            node = match self.step(&node, &token) {
                Some(next) => next,
                // A pointer may pass through a reference: `#/paths/~1a/get/parameters/0/schema`.
                None if target_of(node.value).is_some() => {
                    let target = self.follow_within(&node, hops).map_err(|(reason, _)| reason)?.node;
                    self.step(&target, &token).ok_or(ResolveError::Missing)?
                }
                None => return Err(ResolveError::Missing),
            };
        }
        Ok(node)
    }

    /// Returns the member or the item that a token of a pointer names.
    pub(super) fn step(&self, node: &Node<'a>, token: &str) -> Option<Node<'a>> {
        let value = match node.value {
            Value::Object(object) => object.get(token)?,
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
        Some(Node::new(value, node.pointer.child(token)))
    }

    /// Whether the current schema is part of the request of an operation, and not of a named schema.
    pub(super) fn is_of_request(&self) -> bool {
        self.broken.is_some() && !self.defs.is_reading()
    }

    /// Records that a part of the current request is missing, so that its operation is omitted, and the reference that
    /// does not resolve.
    pub(super) fn record_missing_part(&mut self, reason: &ResolveError, text: &str) {
        if self.is_of_request() {
            self.broken = self.broken.map(|broken| broken + 1);
            self.set_cause(match reason {
                ResolveError::External(_) => format!("`{text}` refers to something that is not read"),
                ResolveError::Missing => format!("`{text}` does not resolve"),
                ResolveError::Cycle => format!("`{text}` is circular"),
            });
        }
    }

    /// Records why the current operation is omitted. The first reason is reported.
    pub(super) fn set_cause(&mut self, reason: String) {
        if self.cause.is_empty() {
            self.cause = reason;
        }
    }

    /// Reports a reference that cannot be resolved. If it dangles and is part of a request, the operation is omitted. A
    /// circular reference does not restrict the value, so any value is accepted.
    pub(super) fn report_unknown(
        &mut self,
        reason: ResolveError,
        text: &str,
        pointer: &Pointer,
        consequence: &str,
    ) {
        if reason != ResolveError::Cycle {
            self.record_missing_part(&reason, text);
        }
        self.report_broken(reason, text, pointer, consequence);
    }

    /// Reports a reference that cannot be resolved, with the consequence for the document.
    pub(super) fn report_broken(
        &mut self,
        reason: ResolveError,
        text: &str,
        pointer: &Pointer,
        consequence: &str,
    ) {
        let pointer = pointer.child("$ref");
        match reason {
            ResolveError::External(refusal) => {
                let (message, help) = file_problem(refusal);
                self.report(codes::EXTERNAL_REF, &pointer, format!("`{text}` {message}{consequence}"), help);
            }
            ResolveError::Missing => {
                let help = match self.nearest_component(text, &pointer) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "add the target, or correct the reference".to_owned(),
                };
                self.report(
                    codes::MISSING_REF,
                    &pointer,
                    format!("`{text}` does not resolve{consequence}"),
                    &help,
                );
            }
            ResolveError::Cycle => self.report(
                codes::CYCLIC_REF,
                &pointer,
                format!("`{text}` is circular{consequence}"),
                "make one of the references refer to a value",
            ),
        }
    }

    /// Returns the component of the same kind with the most similar name.
    fn nearest_component(&self, text: &str, from: &Pointer) -> Option<String> {
        let (parent, name) = text.strip_prefix('#')?.rsplit_once('/')?;
        let root = self.files.root(self.files.index_of(from));
        let siblings = root.value.pointer(parent)?.as_object()?;
        let nearest = crate::selector::suggestion(name, siblings.keys().map(String::as_str))?;
        Some(format!("#{parent}/{nearest}"))
    }
}

/// Returns the reason why a file is not read, and the help.
pub(super) fn file_problem(refusal: Refusal) -> (&'static str, &'static str) {
    match refusal {
        Refusal::Remote => (
            "is on the network, where parts of a document are never read, and is not followed",
            "save it next to the document and refer to it there, or bundle the document into one file",
        ),
        Refusal::NoDirectory => (
            "is outside the document and is not followed: the document was not read from a file",
            "read the document from its file, or name the directory of its parts (`--root`, `Options::root`)",
        ),
        Refusal::Outside => (
            "is outside the document's directory and is not followed",
            "name that directory (`--root`, `Options::root`), if the document may read files there",
        ),
        Refusal::Missing => ("names a file that does not exist", "add the file, or correct the reference"),
        Refusal::NotAFile => ("is a directory or a device, and is not read", "name a file"),
        Refusal::TooLarge => (
            "is too large, or one of too many files, and is not read",
            "a file has at most 128 MB, and all files of a document together 256 MB",
        ),
        Refusal::Unreadable => ("cannot be read", "correct that file; its own problems are reported"),
    }
}

/// Returns the schema with this anchor (`$anchor`, JSON Schema 2020-12).
fn anchor<'a>(value: &'a Value, name: &str, pointer: &Pointer) -> Option<Node<'a>> {
    match value {
        Value::Object(object) => {
            let is_named = |key: &str| object.get(key).and_then(Value::as_str) == Some(name);
            if is_named("$anchor") || is_named("$dynamicAnchor") {
                return Some(Node::new(value, pointer.clone()));
            }
            object
                .iter()
                .filter(|(_, member)| member.is_object() || member.is_array())
                .find_map(|(key, member)| anchor(member, name, &pointer.child(key)))
        }
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| anchor(item, name, &pointer.item(index)))
        }
        _ => None,
    }
}
