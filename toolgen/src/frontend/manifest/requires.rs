//! Requirements of a tool call: `requires`.

use serde_json::Value;
use toolgen_core::schema::shape::{Relation, RelationKind};
use toolgen_core::spec::{Requirement, RequirementKind};
use toolgen_core::{Text, ToolSpec};

use super::attributes::Attributes;
use super::codes;
use super::context::Context;
use super::keys;
use super::node::Node;

const KINDS: [(&str, RequirementKind); 6] = [
    ("context", RequirementKind::Context),
    ("session", RequirementKind::Session),
    ("entity", RequirementKind::Entity),
    ("tool", RequirementKind::Tool),
    ("service", RequirementKind::Service),
    ("custom", RequirementKind::Custom),
];

const HELP: &str = "write `{tool: check_stock}`, `{session: cart}`, `{entity: order, argument: order_id}`, for \
    example, or `a => b` between arguments";

impl<'a> Context<'a> {
    /// Reads `requires`: sets the requirements of a tool, and returns the rules between its arguments.
    pub(super) fn requires(&mut self, attributes: &Attributes<'a>, spec: &mut ToolSpec) -> Vec<Relation> {
        let Some(node) = attributes.object_with("requires").get("requires") else { return Vec::new() };
        let items = if node.value.is_array() { node.items() } else { vec![node] };
        let (mut requirements, mut relations) = (Vec::new(), Vec::new());
        for item in items {
            match item.value {
                Value::String(text) => relations.extend(self.dependence(text, &item, spec)),
                Value::Object(_) => requirements.extend(self.requirement(&item, spec)),
                _ => self.report_wrong_type(&item, "a requirement", HELP),
            }
        }
        spec.requires = requirements.into();
        relations
    }

    /// Reads `a => b`: a call that sets `a` must also set `b`.
    fn dependence(&mut self, text: &str, node: &Node<'a>, spec: &ToolSpec) -> Option<Relation> {
        let Some((premise, consequence)) = text.split_once("=>") else {
            let message = format!("`{text}` is not a requirement");
            self.report(codes::RELATION, &node.pointer, message, HELP);
            return None;
        };
        let premise = self.argument(premise.trim(), &node.pointer, spec);
        let consequence = self.argument(consequence.trim(), &node.pointer, spec);
        Some(Relation { kind: RelationKind::Requires, fields: vec![premise?, consequence?].into() })
    }

    fn requirement(&mut self, node: &Node<'a>, spec: &ToolSpec) -> Option<Requirement> {
        self.object(node, &keys::REQUIREMENT);
        let with_name =
            |(name, kind): &(&'static str, RequirementKind)| Some((*kind, *name, node.get(name)?));
        let mut kinds = KINDS.iter().filter_map(with_name);
        let (Some((kind, key, name)), None) = (kinds.next(), kinds.next()) else {
            let message = "a requirement needs exactly one of `context`, `session`, `entity`, `tool`, `service` and `custom`";
            self.report(codes::RELATION, &node.pointer, message, HELP);
            return None;
        };
        let name = self.text_of(&name)?;
        let argument = self.text(node, "argument").unwrap_or_default();
        match (kind, argument) {
            (RequirementKind::Entity, "") => {
                let message = format!("`entity: {name}` needs `argument`, which identifies it");
                let help = format!("write `{{entity: {name}, argument: …}}`");
                self.report(codes::RELATION, &node.pointer, message, help);
            }
            (RequirementKind::Entity, argument) => {
                self.argument(argument, &node.pointer.child("argument"), spec)?;
            }
            (_, "") => {}
            _ => {
                let message = format!("`argument` identifies an entity; `{key}: {name}` is not an entity");
                self.report(codes::RELATION, &node.pointer.child("argument"), message, "leave it out");
            }
        }
        let message = self.text(node, "message").unwrap_or_default();
        let optional = self.flag(node, "optional").unwrap_or(false);
        let to_text = |text: &str| Text::from(text.to_owned());
        Some(Requirement {
            kind,
            name: to_text(name),
            argument: to_text(argument),
            message: to_text(message),
            optional,
        })
    }
}
