//! Reports placeholders without quotes, which YAML reads as objects: `{path}`.

use super::codes;
use super::context::Context;
use super::node::Node;
use super::placeholder::placeholder;
use crate::source::Pointer;

impl<'a> Context<'a> {
    /// Reports the placeholders without quotes in a value, and returns whether there are any.
    pub(super) fn report_unquoted(&mut self, node: &Node<'a>) -> bool {
        let mut candidates = Vec::new();
        collect(node, &mut candidates);
        if candidates.is_empty() {
            return false;
        }
        let keys: Vec<Pointer> = candidates.iter().map(|(key, pointer)| pointer.child(key)).collect();
        let source = &self.document.source;
        let positions = source.locate_all(&keys.iter().collect::<Vec<_>>());
        let lines: Vec<&str> = source.text.lines().collect();
        // An object with a single explicit `null` member is a real object.
        let is_unquoted_at = |key: &str, line: usize, column: usize| {
            let source: String = lines.get(line - 1)?.chars().skip(column - 1).collect();
            Some(source.strip_prefix(key)?.trim_start().starts_with('}'))
        };
        candidates.retain({
            let mut positions = positions.iter();
            move |(key, _)| {
                positions.next().and_then(|position| is_unquoted_at(key, position.line, position.column))
                    == Some(true)
            }
        });
        for (key, pointer) in &candidates {
            let message = format!("YAML reads `{{{key}}}` without quotes as an object, not as a placeholder");
            self.report(codes::PLACEHOLDER, pointer, message, format!("write `\"{{{key}}}\"`"));
        }
        !candidates.is_empty()
    }
}

/// Collects the objects that may be placeholders, with the content of their braces.
fn collect<'a>(node: &Node<'a>, candidates: &mut Vec<(&'a str, Pointer)>) {
    let entries = node.entries();
    if let [(key, member)] = entries.as_slice()
        && member.value.is_null()
        && placeholder(key).is_some()
    {
        candidates.push((key, node.pointer.clone()));
    }
    for (_, member) in entries {
        collect(&member, candidates);
    }
    for item in node.items() {
        collect(&item, candidates);
    }
}
