//! Renders enumerated values, arrays and tuples.

use serde_json::Value;

use super::node::{Node, set_type, type_schema};
use super::{Object, Renderer};
use crate::schema::shape::{ArrayRules, Extra, Literal, Shape, TupleRules, prose};

impl Renderer<'_> {
    pub(super) fn render_enum(&mut self, values: &[Literal], node: &mut Node) {
        let types = types_of(values);
        let json_values = || values.iter().map(Literal::to_json).collect::<Vec<Value>>();
        if self.dialect.accepts("enum") {
            match types.as_slice() {
                _ if !self.dialect.typed_values => {}
                [only] if !matches!(*only, "array" | "object") => set_type(node, only),
                // Otherwise the values imply the type.
                _ if !self.dialect.untyped => {
                    node.map.insert("type".into(), types.clone().into());
                }
                _ => {}
            }
            if let ([only], true) = (values, self.dialect.accepts("const")) {
                node.map.insert("const".into(), only.to_json());
            } else {
                node.map.insert("enum".into(), json_values().into());
            }
            return;
        }
        let has_empty_string =
            values.iter().any(|value| matches!(value, Literal::String(text) if text.is_empty()));
        if types == ["string"] && (self.dialect.empty_values || !has_empty_string) {
            set_type(node, "string");
            node.map.insert("enum".into(), json_values().into());
            return;
        }
        // The dialect's `enum` allows only strings, and possibly not the empty string.
        self.record_loss("enum", true, "the dialect lists only strings, and possibly not the empty string");
        node.notes.push(prose::one_of(values));
        match types.as_slice() {
            [only] => set_type(node, only),
            _ => {
                let variants = types.iter().filter(|name| **name != "null").map(|name| type_schema(name));
                node.map.insert("anyOf".into(), variants.collect::<Vec<Value>>().into());
            }
        }
    }

    pub(super) fn render_array(&mut self, rules: &ArrayRules, node: &mut Node) {
        set_type(node, "array");
        self.write_rules(rules.stated_rules(), node);
        let items = self.at(&["items"], |renderer| renderer.render_node(&rules.items, false));
        node.map.insert("items".into(), items);
    }

    pub(super) fn render_tuple(&mut self, rules: &TupleRules, node: &mut Node) {
        set_type(node, "array");
        if self.dialect.accepts("prefixItems") {
            self.write_rules(rules.stated_rules(), node);
            let items = self.render_list("prefixItems", &rules.items);
            // `prefixItems` must not be empty.
            if !items.is_empty() {
                node.map.insert("prefixItems".into(), items.into());
            }
            let rest_schema = match &rules.rest {
                Extra::Open => Value::Object(Object::new()),
                Extra::Closed => false.into(),
                Extra::Of(shape) => self.at(&["items"], |renderer| renderer.render_node(shape, false)),
            };
            node.map.insert("items".into(), rest_schema);
            return;
        }
        self.render_tuple_in_prose(rules, node);
    }

    /// Renders a tuple as an array of any of its items, with the positions described in prose.
    fn render_tuple_in_prose(&mut self, rules: &TupleRules, node: &mut Node) {
        self.record_loss(
            "prefixItems",
            true,
            "the dialect cannot give each position of an array its own schema",
        );
        let mut members: Vec<Value> = Vec::new();
        let mut positions: Vec<String> = Vec::new();
        for shape in &rules.items {
            let member = self.at(&["items"], |renderer| renderer.render_node(shape, false));
            let item_text = prose::schema(&member);
            positions.push(if shape.description.is_empty() {
                item_text
            } else {
                format!("{item_text}: {}", shape.description)
            });
            if !members.contains(&member) {
                members.push(member);
            }
        }
        let is_closed = rules.rest == Extra::Closed;
        if let Extra::Of(shape) = &rules.rest {
            let member = self.at(&["items"], |renderer| renderer.render_node(shape, false));
            positions.push(format!("then any number of {}", prose::schema(&member)));
            if !members.contains(&member) {
                members.push(member);
            }
        }
        let length = u64::try_from(rules.items.len()).unwrap_or(u64::MAX);
        let mut limits = rules.clone();
        if is_closed {
            limits.max_items = Some(rules.max_items.map_or(length, |max| max.min(length)));
        }
        self.write_rules(limits.stated_rules(), node);
        if !positions.is_empty() {
            node.notes.push(format!("in this order: {}", positions.join(", ")));
        }
        if rules.rest == Extra::Open || members.is_empty() {
            let any = self.at(&["items"], |renderer| renderer.render_node(&Shape::ANY, false));
            // A schema for any value stays next to the others.
            if any.get("type").is_none() {
                members.clear();
            }
            if !members.contains(&any) {
                members.push(any);
            }
        }
        let items = match members.pop() {
            Some(only) if members.is_empty() => only,
            last => {
                members.extend(last);
                Value::Object([(String::from("anyOf"), Value::from(members))].into_iter().collect())
            }
        };
        node.map.insert("items".into(), items);
    }
}

/// Returns the distinct JSON types of enumerated values.
fn types_of(values: &[Literal]) -> Vec<&'static str> {
    let mut types = Vec::new();
    for name in values.iter().map(Literal::type_name) {
        if !types.contains(&name) {
            types.push(name);
        }
    }
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    types
}
