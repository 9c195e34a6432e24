//! Builds values from nodes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::super::number::ParsedNumber;
use super::super::{Finding, MAX_DEPTH, MAX_FINDINGS, Pointer, Position, TextPosition, Written, quote};
use super::compose::{Id, Kind, Node, Tree};
use super::scalar;
use crate::problem::codes;

/// Maximum number of values that come from aliases; a long string counts as several.
const MAX_COPIES: usize = 1_000_000;

/// Builds the value of a document, or returns `None` if it would be too large or too deep.
pub(super) fn build(tree: &Tree<'_>, findings: &mut Vec<Finding>) -> Option<(Value, Written)> {
    let budget = tree.nodes.len() + MAX_COPIES;
    let mut builder =
        Builder { tree, built: vec![false; tree.nodes.len()], budget, path: Vec::new(), findings };
    match builder.value(tree.root) {
        Ok((value, written)) => Some((value, written.unwrap_or_default())),
        Err(stop) => {
            builder.path.clear();
            // The reason for rejecting the document must not be lost among lesser findings.
            builder.findings.truncate(MAX_FINDINGS - 1);
            let at = tree.nodes.get(stop.node).map_or(Position::START, |node| node.at);
            match stop.reason {
                StopReason::TooDeep => {
                    let message = format!("aliases make the document deeper than {MAX_DEPTH} levels");
                    builder.add_finding(
                        codes::TOO_DEEP,
                        at,
                        message,
                        "use $ref to share parts of the document",
                    );
                }
                StopReason::TooLarge => {
                    let message = String::from("the aliases of this document expand to too many values");
                    let help = "use $ref to share parts of the document";
                    builder.add_finding(codes::TOO_MANY_ALIASES, at, message, help);
                }
            }
            None
        }
    }
}

struct Builder<'b, 't> {
    tree: &'b Tree<'t>,
    /// Whether each node was built before; its findings were reported then.
    built: Vec<bool>,
    budget: usize,
    path: Vec<String>,
    findings: &'b mut Vec<Finding>,
}

/// A value, and the source text of the scalars that it does not preserve.
type BuildResult<T = Value> = Result<(T, Option<Written>), Stop>;

struct Stop {
    node: Id,
    reason: StopReason,
}

enum StopReason {
    TooDeep,
    TooLarge,
}

impl<'b, 't> Builder<'b, 't> {
    fn value(&mut self, id: Id) -> BuildResult {
        let Some(node) = self.tree.nodes.get(id) else { return Ok((Value::Null, None)) };
        let is_first = self.charge(id, node)?;
        if self.path.len() > MAX_DEPTH {
            return Err(Stop { node: id, reason: StopReason::TooDeep });
        }
        match &node.kind {
            Kind::Scalar { text, plain } => {
                let value = self.scalar(node, text, *plain, is_first);
                let written = Written::of(text, &value);
                Ok((value, written))
            }
            Kind::List(items) => {
                self.check_collection_tag(node, "seq", is_first);
                let mut list = Vec::with_capacity(items.len());
                let mut parts = BTreeMap::new();
                for (index, &item) in items.iter().enumerate() {
                    self.path.push(index.to_string());
                    let (value, written) = self.value(item)?;
                    list.push(value);
                    let token = self.path.pop();
                    parts.extend(token.zip(written));
                }
                Ok((Value::Array(list), Written::of_parts(parts)))
            }
            Kind::Map(members) => {
                self.check_collection_tag(node, "map", is_first);
                let (map, written) = self.map(members, is_first)?;
                Ok((Value::Object(map), written))
            }
        }
    }

    /// Counts a node, and returns whether it is built for the first time.
    fn charge(&mut self, id: Id, node: &Node<'_>) -> Result<bool, Stop> {
        let is_first = self.built.get_mut(id).is_some_and(|built| !std::mem::replace(built, true));
        let length = match &node.kind {
            Kind::Scalar { text, .. } => text.len(),
            Kind::List(_) | Kind::Map(_) => 0,
        };
        let cost = if is_first { 1 } else { 1 + length / 64 };
        self.budget = self.budget.checked_sub(cost).ok_or(Stop { node: id, reason: StopReason::TooLarge })?;
        Ok(is_first)
    }

    fn map(&mut self, members: &'b [(Id, Id)], is_first: bool) -> BuildResult<Map<String, Value>> {
        let mut map = Map::with_capacity(members.len());
        let mut parts = BTreeMap::new();
        // Keys of the map itself take precedence over merged ones, in any order.
        let has_merge = members.iter().any(|(key, _)| self.tree.is_merge(*key));
        let own_keys: BTreeSet<&str> = match has_merge {
            true => members.iter().filter_map(|(key, _)| self.tree.key(*key)).collect(),
            false => BTreeSet::new(),
        };
        for &(key, value) in members {
            if let Some(sources) = self.tree.merged(key, value) {
                for source in sources {
                    let (Value::Object(source), written) = self.value(source)? else { continue };
                    let mut merged = match written {
                        Some(Written::Parts(parts)) => parts,
                        _ => BTreeMap::new(),
                    };
                    for (name, value) in source {
                        if !own_keys.contains(name.as_str()) && !map.contains_key(&name) {
                            parts.extend(merged.remove_entry(&name));
                            map.insert(name, value);
                        }
                    }
                }
                continue;
            }
            let node = self.tree.nodes.get(key);
            node.map(|node| self.charge(key, node)).transpose()?;
            let at = node.map_or(Position::START, |node| node.at);
            let Some(name) = self.tree.key(key) else {
                let message = String::from("an array or an object cannot be a key; the member is omitted");
                if is_first {
                    self.add_finding(
                        codes::COMPLEX_KEY,
                        at,
                        message,
                        "put quotes around it if it is a string",
                    );
                }
                continue;
            };
            self.path.push(name.to_owned());
            let (value, written) = self.value(value)?;
            match written {
                Some(written) => parts.insert(name.to_owned(), written),
                None => parts.remove(name),
            };
            if map.insert(name.to_owned(), value).is_some() && is_first {
                let message = format!("the key `{}` is a duplicate in its object", quote(name));
                self.add_finding(codes::DUPLICATE_KEY, at, message, "remove one of the two");
            }
            self.path.pop();
        }
        Ok((map, Written::of_parts(parts)))
    }

    fn scalar(&mut self, node: &Node<'t>, text: &str, plain: bool, is_first: bool) -> Value {
        let parsed = match &node.tag {
            None if plain => scalar::resolve(text),
            None => ParsedNumber::Exact(Value::String(text.to_string())),
            Some(tag) if tag.is_yaml_core_schema() => match scalar::tagged(&tag.suffix, text) {
                Some(parsed) => parsed,
                None => {
                    if is_first {
                        let message = format!(
                            "the value does not match its tag `!!{}`; it is read as a string",
                            tag.suffix
                        );
                        self.add_finding(
                            codes::BAD_TAG,
                            node.at,
                            message,
                            "remove the tag, or fix the value",
                        );
                    }
                    ParsedNumber::Exact(Value::String(text.to_string()))
                }
            },
            // A lone `!` makes the scalar a string regardless of its content.
            Some(tag) if is_non_specific(tag) => ParsedNumber::Exact(Value::String(text.to_string())),
            Some(tag) => {
                if is_first {
                    self.unknown_tag(node, tag);
                }
                if plain {
                    scalar::resolve(text)
                } else {
                    ParsedNumber::Exact(Value::String(text.to_string()))
                }
            }
        };
        let (value, oddity) = parsed.split(text);
        if let Some((code, message)) = oddity.filter(|_| is_first) {
            self.add_finding(code, node.at, message, "write a smaller number, or remove it");
        }
        value
    }

    fn check_collection_tag(&mut self, node: &Node<'t>, expected: &str, is_first: bool) {
        if let Some(tag) = &node.tag
            && is_first
            && !is_non_specific(tag)
            && !(tag.is_yaml_core_schema() && tag.suffix == expected)
        {
            self.unknown_tag(node, tag);
        }
    }

    fn unknown_tag(&mut self, node: &Node<'t>, tag: &saphyr_parser::Tag) {
        let message =
            format!("the tag `{}` is not understood; the value is read unchanged", quote(&tag.to_string()));
        self.add_finding(codes::UNKNOWN_TAG, node.at, message, "resolve the tag first");
    }

    fn add_finding(&mut self, code: crate::Code, at: Position, message: String, help: &'static str) {
        if self.findings.len() >= MAX_FINDINGS {
            return;
        }
        let pointer = self.path.iter().fold(Pointer::ROOT, |pointer, token| pointer.child(token));
        self.findings.push(Finding { code, pointer, position: TextPosition::Position(at), message, help });
    }
}

/// Whether a tag is `!` alone, which the parser returns as a suffix without a handle.
fn is_non_specific(tag: &saphyr_parser::Tag) -> bool {
    tag.handle.is_empty() && tag.suffix == "!"
}

impl Tree<'_> {
    /// Returns the text of a key as written: `200` and `true` are names here. `None` for arrays and maps.
    pub(super) fn key(&self, id: Id) -> Option<&str> {
        match &self.nodes.get(id)?.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// Whether a key is `<<` without quotes (the merge key of YAML 1.1, which documents keep using).
    fn is_merge(&self, id: Id) -> bool {
        let Some(node) = self.nodes.get(id) else { return false };
        match &node.kind {
            Kind::Scalar { text, plain: true } => {
                text == "<<" && node.tag.as_ref().is_none_or(|tag| tag.suffix == "merge")
            }
            _ => false,
        }
    }

    /// Returns the maps that a member merges, highest priority first, or `None` if the member is not a merge.
    pub(super) fn merged(&self, key: Id, value: Id) -> Option<Vec<Id>> {
        if !self.is_merge(key) {
            return None;
        }
        let is_map = |id: Id| matches!(self.nodes.get(id).map(|node| &node.kind), Some(Kind::Map(_)));
        match &self.nodes.get(value)?.kind {
            Kind::Map(_) => Some(vec![value]),
            Kind::List(items) if items.iter().all(|&item| is_map(item)) => Some(items.clone()),
            Kind::List(_) | Kind::Scalar { .. } => None,
        }
    }
}
