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
use crate::schema::shape::schema::takes_null;
use crate::schema::shape::{ObjectRules, Relation, RelationKind};

/// The keywords that rules consist of.
const KEYWORDS: [&str; 5] = ["allOf", "dependentRequired", "not", "oneOf", "const"];

impl Renderer<'_> {
    /// Renders the rules between fields as keywords. That is only possible at the root.
    pub(super) fn relations(&mut self, rules: &ObjectRules, node: &mut Node, root: bool) {
        if rules.relations.is_empty() {
            return;
        }
        let taken = self.dialect.root_composition && KEYWORDS.iter().all(|word| self.dialect.accepts(word));
        if !(root && taken) {
            self.lose(relations::KEYWORD, true, "no keyword can express rules between fields here");
            return;
        }
        let mut messages: Vec<Value> =
            rules.relations.iter().map(|rule| self.relation(rule, rules)).collect();
        match (messages.pop(), messages.is_empty()) {
            (Some(Value::Object(only)), true) => node.map.extend(only),
            (Some(last), _) => {
                messages.push(last);
                node.map.insert("allOf".into(), messages.into());
            }
            (None, _) => {}
        }
    }

    fn relation(&self, relation: &Relation, rules: &ObjectRules) -> Value {
        let given: Vec<Presence<'_>> =
            relation.fields.iter().map(|name| self.presence(name, rules)).collect();
        let each = || given.iter().map(Presence::schema).collect::<Vec<Value>>();
        let plain = given.iter().all(|given| matches!(given, Presence::Present(_)));
        match (relation.kind, given.as_slice()) {
            (RelationKind::ExactlyOne, _) => json!({ "oneOf": each() }),
            (RelationKind::AtMostOne, [first, second]) if plain => {
                json!({ "not": { "required": [first.name(), second.name()] } })
            }
            (RelationKind::AtMostOne, _) => {
                let mut ways = each();
                ways.push(json!({ "not": { "anyOf": each() } }));
                json!({ "oneOf": ways })
            }
            (RelationKind::Requires, [first, others @ ..]) if plain => {
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
        match rules.fields.iter().find(|field| field.name == *name && self.visible(field)) {
            Some(field) if takes_null(&field.shape, self.defs) => Presence::NotNull(name),
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
