//! Placeholders without quotes, which YAML reads as objects: `{path}`.

use super::codes;
use super::context::Context;
use super::node::Node;
use super::placeholder::placeholder;
use crate::source::Pointer;

impl<'a> Context<'a> {
    /// Reports the placeholders below a node that lack their quotes, and returns whether there are any.
    pub(super) fn is_unquoted(&mut self, node: &Node<'a>) -> bool {
        let mut found = Vec::new();
        collect(node, &mut found);
        if found.is_empty() {
            return false;
        }
        let keys: Vec<Pointer> = found.iter().map(|(key, at)| at.child(key)).collect();
        let source = &self.document.source;
        let places = source.locate_all(&keys.iter().collect::<Vec<_>>());
        let lines: Vec<&str> = source.text.lines().collect();
        // An object with a single explicit `null` member is a real object.
        let is_bare = |key: &str, line: usize, column: usize| {
            let rest: String = lines.get(line - 1)?.chars().skip(column - 1).collect();
            Some(rest.strip_prefix(key)?.trim_start().starts_with('}'))
        };
        found.retain({
            let mut places = places.iter();
            move |(key, _)| places.next().and_then(|at| is_bare(key, at.line, at.column)) == Some(true)
        });
        for (key, at) in &found {
            let message = format!("YAML reads `{{{key}}}` without quotes as an object, not as a placeholder");
            self.report(codes::PLACEHOLDER, at, message, format!("write `\"{{{key}}}\"`"));
        }
        !found.is_empty()
    }
}

/// Collects the objects that may be placeholders, with the content of their braces.
fn collect<'a>(node: &Node<'a>, found: &mut Vec<(&'a str, Pointer)>) {
    let entries = node.entries();
    if let [(key, member)] = entries.as_slice()
        && member.value.is_null()
        && placeholder(key).is_some()
    {
        found.push((key, node.pointer.clone()));
    }
    for (_, member) in entries {
        collect(&member, found);
    }
    for item in node.items() {
        collect(&item, found);
    }
}
