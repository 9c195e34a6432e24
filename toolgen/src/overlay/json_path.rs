//! Queries of JSONPath (RFC 9535), which select the values that an action changes.
//!
//! Two things go beyond the RFC, because published overlays rely on them: a name after a dot may contain `-`, and a
//! value that several selectors match is returned once.

mod filter;
mod parse;

use std::collections::BTreeSet;

use serde_json::Value;

pub(super) use parse::PathError;

use self::filter::Test;
use crate::source::Pointer;

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JsonPath {
    segments: Vec<Segment>,
}

/// One step of a query.
#[derive(Clone, Debug, PartialEq)]
struct Segment {
    /// Whether it also selects among all descendants of a value: `..`.
    descends: bool,
    selectors: Vec<Selector>,
}

#[derive(Clone, Debug, PartialEq)]
enum Selector {
    Name(String),
    Wildcard,
    Index(i64),
    Slice { start: Option<i64>, end: Option<i64>, step: i64 },
    Filter(Test),
}

/// A value that a query found.
#[derive(Clone, Debug)]
struct Match<'v> {
    value: &'v Value,
    pointer: Pointer,
}

impl JsonPath {
    /// Parses a query, which starts with `$`.
    pub(super) fn parse(text: &str) -> Result<JsonPath, PathError> {
        parse::path(text).map(|segments| JsonPath { segments })
    }

    /// Returns the pointers to the values that the query selects, in the order in which it finds them.
    pub(super) fn select(&self, root: &Value) -> Vec<Pointer> {
        let start = Match { value: root, pointer: Pointer::ROOT };
        run(&self.segments, start, root).into_iter().map(|matched| matched.pointer).collect()
    }
}

/// Returns the matches of a query that starts at a value.
fn run<'v>(segments: &[Segment], start: Match<'v>, root: &'v Value) -> Vec<Match<'v>> {
    let mut nodes = vec![start];
    for segment in segments {
        let mut matches = Vec::new();
        for node in nodes {
            if segment.descends {
                descend(segment, &node, root, &mut matches);
            } else {
                select(segment, &node, root, &mut matches);
            }
        }
        let mut seen = BTreeSet::new();
        matches.retain(|node| seen.insert(node.pointer.clone()));
        nodes = matches;
    }
    nodes
}

fn descend<'v>(segment: &Segment, node: &Match<'v>, root: &'v Value, matches: &mut Vec<Match<'v>>) {
    select(segment, node, root, matches);
    for child in children(node) {
        descend(segment, &child, root, matches);
    }
}

fn children<'v>(node: &Match<'v>) -> Vec<Match<'v>> {
    match node.value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, value)| Match { value, pointer: node.pointer.item(index) })
            .collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| Match { value, pointer: node.pointer.child(name) }).collect()
        }
        _ => Vec::new(),
    }
}

fn select<'v>(segment: &Segment, node: &Match<'v>, root: &'v Value, matches: &mut Vec<Match<'v>>) {
    for selector in &segment.selectors {
        match selector {
            Selector::Name(name) => {
                let value = node.value.as_object().and_then(|members| members.get(name));
                matches.extend(value.map(|value| Match { value, pointer: node.pointer.child(name) }));
            }
            Selector::Wildcard => matches.extend(children(node)),
            Selector::Index(index) => matches.extend(item(node, *index)),
            Selector::Slice { start, end, step } => {
                let length = node.value.as_array().map_or(0, Vec::len);
                matches.extend(
                    slice(length, *start, *end, *step).into_iter().filter_map(|index| item(node, index)),
                );
            }
            Selector::Filter(test) => {
                matches.extend(children(node).into_iter().filter(|child| test.matches(child.value, root)));
            }
        }
    }
}

/// Returns the item at an index, which counts from the end if it is negative.
fn item<'v>(node: &Match<'v>, index: i64) -> Option<Match<'v>> {
    let items = node.value.as_array()?;
    let distance = usize::try_from(index.unsigned_abs()).ok()?;
    let index = if index < 0 { items.len().checked_sub(distance)? } else { distance };
    Some(Match { value: items.get(index)?, pointer: node.pointer.item(index) })
}

/// Returns the indices of a slice (RFC 9535, 2.3.4.2.2).
fn slice(length: usize, start: Option<i64>, end: Option<i64>, step: i64) -> Vec<i64> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let from_start = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
    let mut indices = Vec::new();
    if step > 0 {
        let mut index = from_start(start.unwrap_or(0)).clamp(0, length);
        let end = from_start(end.unwrap_or(length)).clamp(0, length);
        while index < end {
            indices.push(index);
            index = index.saturating_add(step);
        }
    } else if step < 0 {
        let mut index = from_start(start.unwrap_or(length - 1)).clamp(-1, length - 1);
        let end = end.map_or(-1, |end| from_start(end).clamp(-1, length - 1));
        while index > end {
            indices.push(index);
            index = index.saturating_add(step);
        }
    }
    indices
}

#[cfg(test)]
mod tests;
