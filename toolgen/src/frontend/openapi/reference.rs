//! Resolves references, `{"$ref": "#/…"}`, to anywhere in the same document.
//!
//! Nothing is fetched: a reference never reaches the network or another file.

use std::borrow::Cow;

use serde_json::Value;
use toolgen_runtime::schema::shape::read::plain;

use super::codes;
use super::context::Context;
use super::node::Node;
use crate::source::Pointer;

/// The maximum length of a chain of references, beyond which it counts as a cycle.
const MAX_HOPS: usize = 64;

/// Why a reference cannot be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// It leads out of the document.
    External,
    /// Its target does not exist.
    Missing,
    /// It leads back to itself.
    Cycle,
}

/// The target of a chain of references.
pub(super) struct Resolved<'a> {
    /// The end of the chain.
    pub(super) node: Node<'a>,
    /// A description next to a reference, which takes precedence over the target's own (OpenAPI 3.1).
    pub(super) description: Option<&'a str>,
}

impl<'a> Resolved<'a> {
    /// Returns the description that counts, as a model reads it; empty if there is none.
    pub(super) fn prose(&self) -> Cow<'a, str> {
        self.description.map_or_else(|| self.node.prose("description"), plain)
    }
}

/// Returns the text of a value that is a reference.
pub(super) fn target_of(value: &Value) -> Option<&str> {
    value.as_object()?.get("$ref")?.as_str()
}

impl<'a> Context<'a> {
    /// Follows references to their target, and reports one that cannot be resolved.
    pub(super) fn resolve(&mut self, node: &Node<'a>) -> Option<Resolved<'a>> {
        self.resolve_or(node, "")
    }

    /// As [`resolve`](Self::resolve); the report goes on to say what comes of it.
    pub(super) fn resolve_or(&mut self, node: &Node<'a>, so: &str) -> Option<Resolved<'a>> {
        match self.follow(node) {
            Ok(resolved) => Some(resolved),
            Err((why, text)) => {
                self.report_broken(why, &text, &node.pointer, so);
                None
            }
        }
    }

    /// Follows references to their target.
    pub(super) fn follow(&self, node: &Node<'a>) -> Result<Resolved<'a>, (Broken, String)> {
        self.follow_within(node, MAX_HOPS)
    }

    fn follow_within(&self, node: &Node<'a>, hops: usize) -> Result<Resolved<'a>, (Broken, String)> {
        let mut resolved = Resolved { node: node.clone(), description: None };
        for hops in (0..hops).rev() {
            let Some(text) = target_of(resolved.node.value) else { return Ok(resolved) };
            resolved.description = resolved.description.or(resolved.node.text("description"));
            resolved.node = self.locate_within(text, hops).map_err(|why| (why, text.to_owned()))?;
        }
        Err((Broken::Cycle, target_of(node.value).unwrap_or_default().to_owned()))
    }

    /// Returns the direct target of a reference, which may be a reference again.
    pub(super) fn locate(&self, text: &str) -> Result<Node<'a>, Broken> {
        self.locate_within(text, MAX_HOPS)
    }

    fn locate_within(&self, text: &str, hops: usize) -> Result<Node<'a>, Broken> {
        let text = text.trim();
        let (file, fragment) = text.split_once('#').unwrap_or((text, ""));
        if !file.is_empty() && !self.is_own_name(file) {
            return Err(Broken::External);
        }
        match Pointer::from_fragment(fragment) {
            Some(pointer) => self.walk(&pointer, hops),
            None => anchor(self.root, fragment, &Pointer::ROOT).ok_or(Broken::Missing),
        }
    }

    /// Whether a reference's file part names this very document.
    fn is_own_name(&self, file: &str) -> bool {
        self.file.is_some_and(|own| file.strip_prefix("./").unwrap_or(file) == own)
    }

    fn walk(&self, path: &Pointer, hops: usize) -> Result<Node<'a>, Broken> {
        let mut node = self.top();
        for token in path.tokens() {
            node = match self.step(&node, &token) {
                Some(next) => next,
                // A pointer may lead through a reference: `#/paths/~1a/get/parameters/0/schema`.
                None if target_of(node.value).is_some() => {
                    let target = self.follow_within(&node, hops).map_err(|(why, _)| why)?.node;
                    self.step(&target, &token).ok_or(Broken::Missing)?
                }
                None => return Err(Broken::Missing),
            };
        }
        Ok(node)
    }

    pub(super) fn step(&self, node: &Node<'a>, token: &str) -> Option<Node<'a>> {
        let value = match node.value {
            Value::Object(object) => object.get(token)?,
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
        Some(Node::new(value, node.pointer.child(token)))
    }

    pub(super) fn report_broken(&mut self, why: Broken, text: &str, pointer: &Pointer, so: &str) {
        let pointer = pointer.child("$ref");
        match why {
            Broken::External => self.report(
                codes::EXTERNAL_REF,
                &pointer,
                format!("`{text}` leads out of the document and is not followed{so}"),
                "bundle the document into one file first; neither files nor the network are read for a reference",
            ),
            Broken::Missing => {
                let help = match self.nearest_component(text) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "add what is referred to, or correct the reference".to_owned(),
                };
                self.report(codes::MISSING_REF, &pointer, format!("`{text}` leads to nothing{so}"), &help);
            }
            Broken::Cycle => self.report(
                codes::CYCLIC_REF,
                &pointer,
                format!("`{text}` leads back to itself{so}"),
                "let one of the references lead to a value",
            ),
        }
    }

    /// Returns the component of the same kind with the most similar name.
    fn nearest_component(&self, text: &str) -> Option<String> {
        let (parent, name) = text.strip_prefix('#')?.rsplit_once('/')?;
        let siblings = self.root.pointer(parent)?.as_object()?;
        let near = crate::select::did_you_mean(name, siblings.keys().map(String::as_str))?;
        Some(format!("#{parent}/{near}"))
    }
}

/// Returns the schema with this anchor (`$anchor`, JSON Schema 2020-12).
fn anchor<'a>(value: &'a Value, name: &str, pointer: &Pointer) -> Option<Node<'a>> {
    match value {
        Value::Object(object) => {
            let named = |key: &str| object.get(key).and_then(Value::as_str) == Some(name);
            if named("$anchor") || named("$dynamicAnchor") {
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
