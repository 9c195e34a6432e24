//! Drawings of the graph of required tools.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Graph;
use crate::spec::{Requirement, RequirementKind, ToolSpec};

impl Graph<'_> {
    /// Returns the graph as a [Mermaid](https://mermaid.js.org) flowchart. An arrow leads from a required tool to the
    /// tool that requires it, dotted if the requirement is optional. A thick arrow leads from a tool to each tool that
    /// it calls. Unconnected tools are omitted.
    #[must_use]
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for node in self.nodes() {
            let (open, close) = match node.kind {
                None => ("[", "]"),
                Some(RequirementKind::Context | RequirementKind::Session) => ("([", "])"),
                Some(RequirementKind::Entity) => ("[(", ")]"),
                Some(RequirementKind::Custom | RequirementKind::Service | RequirementKind::Tool) => {
                    ("{{", "}}")
                }
            };
            let label = node.label().replace('"', "#quot;").replace(['\n', '\r'], " ");
            let _ = writeln!(out, "  {}{open}\"{label}\"{close}", node.id());
        }
        self.for_each_arrow(|from, to, arrow| {
            let arrow = match arrow {
                Arrow::Required => "-->",
                Arrow::Optional => "-.->",
                Arrow::Calls => "==>|calls|",
            };
            let _ = writeln!(out, "  {} {arrow} {}", from.id(), to.id());
        });
        out
    }

    /// Returns the graph in Graphviz' DOT language, with the same arrows as [`mermaid`](Self::mermaid).
    #[must_use]
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph tools {\n  rankdir=LR;\n");
        for node in self.nodes() {
            let shape = match node.kind {
                None => "box",
                Some(RequirementKind::Context | RequirementKind::Session) => "ellipse",
                Some(RequirementKind::Entity) => "cylinder",
                Some(RequirementKind::Custom | RequirementKind::Service | RequirementKind::Tool) => "hexagon",
            };
            let (id, label) = (quote(&node.id()), quote(&node.label()));
            let _ = writeln!(out, "  {id} [label={label}, shape={shape}];");
        }
        self.for_each_arrow(|from, to, arrow| {
            let style = match arrow {
                Arrow::Required => "",
                Arrow::Optional => " [style=dotted]",
                Arrow::Calls => " [style=bold, label=\"calls\"]",
            };
            let _ = writeln!(out, "  {} -> {}{style};", quote(&from.id()), quote(&to.id()));
        });
        out.push_str("}\n");
        out
    }

    fn nodes<'s>(&'s self) -> BTreeSet<Node<'s>> {
        let mut nodes = BTreeSet::new();
        self.for_each_arrow(|from, to, _| nodes.extend([from, to]));
        nodes
    }

    fn for_each_arrow<'s>(&'s self, mut draw: impl FnMut(Node<'s>, Node<'s>, Arrow)) {
        for (name, spec) in &self.tools {
            for requirement in unique_requirements(spec) {
                let kind = Some(requirement.kind).filter(|kind| *kind != RequirementKind::Tool);
                let from = Node { kind, name: requirement.name.as_str() };
                let arrow = if requirement.optional { Arrow::Optional } else { Arrow::Required };
                draw(from, Node { kind: None, name }, arrow);
            }
        }
        for (tool, called) in &self.calls {
            draw(Node { kind: None, name: tool }, Node { kind: None, name: called }, Arrow::Calls);
        }
    }
}

/// How two nodes are connected.
#[derive(Clone, Copy)]
enum Arrow {
    /// The second requires the first.
    Required,
    /// The second works better after the first.
    Optional,
    /// The first calls the second.
    Calls,
}

/// Returns the requirements of a tool in order, without duplicates of kind and name.
fn unique_requirements(spec: &ToolSpec) -> impl Iterator<Item = &Requirement> {
    let mut seen = BTreeSet::new();
    spec.requires.iter().filter(move |requirement| seen.insert((requirement.kind, requirement.name.as_str())))
}

/// A node of the graph: a tool, or a requirement of another kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Node<'a> {
    kind: Option<RequirementKind>,
    name: &'a str,
}

impl Node<'_> {
    /// Returns a unique ID: escaping keeps names distinct.
    fn id(&self) -> String {
        let mut id = format!("{}_", self.kind.map_or("tool", RequirementKind::as_str));
        for character in self.name.chars() {
            if character.is_ascii_alphanumeric() {
                id.push(character);
            } else {
                let _ = write!(id, "_{:x}_", u32::from(character));
            }
        }
        id
    }

    fn label(&self) -> String {
        match self.kind {
            None => self.name.to_owned(),
            Some(RequirementKind::Context) => format!("context {}", self.name),
            Some(RequirementKind::Session) => format!("session {}", self.name),
            Some(RequirementKind::Entity) => format!("entity {}", self.name),
            Some(RequirementKind::Service) => format!("service {}", self.name),
            Some(RequirementKind::Custom | RequirementKind::Tool) => format!("check {}", self.name),
        }
    }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " "))
}
