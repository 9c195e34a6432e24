//! Reads the tags of a document, which may be nested (OpenAPI 3.2).

use toolgen_core::spec::toolset::Toolset;

use super::context::{Context, Tag};
use super::node::Node;
use crate::tool::Tool;

impl<'a> Context<'a> {
    /// Reads the tags. A parent that is not declared, or is its own descendant, is dropped.
    pub(super) fn read_tags(&mut self) {
        let top = self.top();
        let nodes: Vec<Node<'a>> = self
            .resolved_items(&top, "tags")
            .iter()
            .filter_map(|node| Some(self.resolve(node)?.node))
            .collect();
        for node in &nodes {
            let Some(name) = node.text("name") else { continue };
            let text = |key| node.text(key).map(str::trim).unwrap_or_default();
            let (kind, summary, description) = (text("kind"), text("summary"), text("description"));
            let parent = node.text("parent").filter(|parent| *parent != name);
            self.tags.entry(name).or_insert(Tag { parent, kind, summary, description });
        }
        for node in &nodes {
            let (Some(name), Some(parent)) = (node.text("name"), node.text("parent")) else { continue };
            let reason = if !self.tags.contains_key(parent) {
                "is not declared"
            } else if parent == name || self.ancestor_tags(parent).contains(&name) {
                "is a part of it"
            } else {
                continue;
            };
            if let Some(tag) = self.tags.get_mut(name) {
                tag.parent = None;
            }
            self.malformed(
                node,
                &format!("the parent `{parent}` of the tag `{name}` {reason}; it is left out"),
            );
        }
    }

    /// Returns the ancestors of a tag, the nearest first.
    fn ancestor_tags(&self, name: &str) -> Vec<&'a str> {
        let mut ancestors = Vec::new();
        let mut next = self.tags.get(name).and_then(|tag| tag.parent);
        while let Some(parent) = next.filter(|parent| !ancestors.contains(parent)) {
            ancestors.push(parent);
            next = self.tags.get(parent).and_then(|tag| tag.parent);
        }
        ancestors
    }

    /// Returns the groups of an operation: its tags and their ancestors.
    pub(super) fn groups(&self, tags: &[&'a str]) -> Vec<&'a str> {
        let mut groups = tags.to_vec();
        for ancestor in tags.iter().flat_map(|name| self.ancestor_tags(name)) {
            if !groups.contains(&ancestor) {
                groups.push(ancestor);
            }
        }
        groups
    }

    /// Returns the tag that an operation is listed under: its first navigation tag.
    pub(super) fn category(&self, tags: &[&'a str]) -> &'a str {
        let is_navigation =
            |name: &&&str| self.tags.get(**name).is_none_or(|tag| matches!(tag.kind, "" | "nav"));
        tags.iter().find(is_navigation).or(tags.first()).copied().unwrap_or("general")
    }

    /// Returns the tags that have tools as toolsets, if the document nests tags.
    pub(super) fn toolsets(&self, tools: &[Tool]) -> Vec<Toolset> {
        if !self.tags.values().any(|tag| tag.parent.is_some() || !tag.kind.is_empty()) {
            return Vec::new();
        }
        let to_toolset = |(name, tag): (&&'a str, &Tag<'a>)| {
            let members = tools.iter().filter(|tool| tool.origin.groups.iter().any(|group| group == name));
            let members: Vec<_> = members.map(|tool| tool.spec.name.to_text()).collect();
            let texts = [tag.summary, tag.description].into_iter().filter(|text| !text.is_empty());
            let description = texts.collect::<Vec<_>>().join("\n\n").into();
            let toolset = Toolset { description, ..Toolset::new((*name).to_owned(), members) };
            (!toolset.members.is_empty()).then_some(toolset)
        };
        self.tags.iter().filter_map(to_toolset).collect()
    }
}
