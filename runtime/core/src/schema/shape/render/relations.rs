//! Renders rules between the arguments of a tool as keywords.
//!
//! A field that is `null` counts as absent, as in decoding. If `null` is allowed, `required` alone is therefore not
//! enough. Some providers reject such keywords at the root; then only the description states the rule, as it always
//! does.

use serde_json::{Value, json};

use super::Renderer;
use super::node::Node;
use crate::base::frozen::Text;
use crate::schema::shape::relations;
use crate::schema::shape::schema::allows_null;
use crate::schema::shape::{ObjectRules, Relation, RelationKind};

/// The keywords that rules consist of.
const KEYWORDS: [&str; 5] = ["allOf", "dependentRequired", "not", "oneOf", "const"];

impl Renderer<'_> {
    /// Renders the rules between fields as keywords. That is only possible at the root.
    pub(super) fn render_relations(&mut self, rules: &ObjectRules, node: &mut Node, is_root: bool) {
        if rules.relations.is_empty() {
            return;
        }
        let is_supported =
            self.dialect.root_composition && KEYWORDS.iter().all(|keyword| self.dialect.accepts(keyword));
        if !(is_root && is_supported) {
            self.record_loss(relations::KEYWORD, true, "no keyword can express rules between fields here");
            return;
        }
        let mut schemas: Vec<Value> =
            rules.relations.iter().map(|rule| self.relation_schema(rule, rules)).collect();
        match (schemas.pop(), schemas.is_empty()) {
            (Some(Value::Object(only)), true) => node.map.extend(only),
            (Some(last), _) => {
                schemas.push(last);
                node.map.insert("allOf".into(), schemas.into());
            }
            (None, _) => {}
        }
    }

    fn relation_schema(&self, relation: &Relation, rules: &ObjectRules) -> Value {
        let presences: Vec<Presence<'_>> =
            relation.fields.iter().map(|name| self.presence(name, rules)).collect();
        let schemas = || presences.iter().map(Presence::schema).collect::<Vec<Value>>();
        let all_non_null = presences.iter().all(|presence| matches!(presence, Presence::Present(_)));
        match (relation.kind, presences.as_slice()) {
            (RelationKind::ExactlyOne, _) => json!({ "oneOf": schemas() }),
            (RelationKind::AtMostOne, [first, second]) if all_non_null => {
                json!({ "not": { "required": [first.name(), second.name()] } })
            }
            (RelationKind::AtMostOne, _) => {
                let mut alternatives = schemas();
                alternatives.push(json!({ "not": { "anyOf": schemas() } }));
                json!({ "oneOf": alternatives })
            }
            (RelationKind::Requires, [first, others @ ..]) if all_non_null => {
                let others: Vec<&str> = others.iter().map(Presence::name).collect();
                json!({ "dependentRequired": { first.name(): others } })
            }
            (RelationKind::Requires, [first, others @ ..]) => {
                let others: Vec<Value> = others.iter().map(Presence::schema).collect();
                json!({ "anyOf": [{ "not": first.schema() }, { "allOf": others }] })
            }
            (RelationKind::Requires, []) => json!({}),
        }
    }

    fn presence<'n>(&self, name: &'n Text, rules: &ObjectRules) -> Presence<'n> {
        match rules.fields.iter().find(|field| field.name == *name && self.is_visible(field)) {
            Some(field) if allows_null(&field.shape, self.defs) => Presence::NotNull(name),
            Some(_) => Presence::Present(name),
            None => Presence::Never(name),
        }
    }
}

/// The condition for a field to be present.
enum Presence<'n> {
    /// The key is present.
    Present(&'n str),
    /// The key is present and its value is not `null`.
    NotNull(&'n str),
    /// The field cannot be present.
    Never(&'n str),
}

impl Presence<'_> {
    fn name(&self) -> &str {
        match self {
            Presence::Present(name) | Presence::NotNull(name) | Presence::Never(name) => name,
        }
    }

    /// Returns the schema of objects in which the field is present.
    fn schema(&self) -> Value {
        match self {
            Presence::Present(name) => json!({ "required": [name] }),
            Presence::NotNull(name) => {
                json!({ "required": [name], "properties": { *name: { "not": { "const": null } } } })
            }
            Presence::Never(_) => json!({ "not": {} }),
        }
    }
}

#[cfg(test)]
mod tests;
