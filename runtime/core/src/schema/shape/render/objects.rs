//! Renders objects, and completes every schema.

use serde_json::Value;

use super::node::{NO_OTHER_KEYS, NOT_THIS_VALUE, Node, set_json_text, set_type, type_schema};
use super::{Object, Renderer};
use crate::schema::dialect::Nulls;
use crate::schema::shape::codec::{self, Form, Member, MemberKind, ROOT_KEY};
use crate::schema::shape::decode::describe::article;
use crate::schema::shape::schema::allows_null;
use crate::schema::shape::{Extra, Field, Kind, Literal, ObjectRules, PatternField, Relation, Shape, prose};

/// The reason for losing `null` of an optional field.
const NO_NULL: &str = "`null` means that a field is absent, so `null` itself cannot be sent";

impl Renderer<'_> {
    /// Renders an object. `is_root`: the arguments of a tool, which must always have their fields.
    pub(super) fn render_object(&mut self, rules: &ObjectRules, node: &mut Node, is_root: bool) {
        set_type(node, "object");
        let members = self.codec.members(rules);
        let mut properties = Object::with_capacity(members.len());
        for member in &members {
            let value = self.at(&["properties", &member.key], |renderer| match &member.kind {
                MemberKind::Field(field) => renderer.render_field(field, &member.key),
                MemberKind::Others(value) => renderer.render_extra_pairs(rules, value),
            });
            properties.insert(member.key.to_string(), value);
        }
        let is_open = rules.extra != Extra::Closed || !rules.patterns.is_empty();
        if is_root
            && is_open
            && properties.is_empty()
            && !self.dialect.empty_objects
            && self.dialect.open_objects
        {
            properties.insert(ROOT_KEY.to_owned(), self.render_single_string());
        }
        let is_empty = properties.is_empty();
        if !is_empty || is_root || rules.extra == Extra::Closed || !self.dialect.open_objects {
            node.map.insert("properties".into(), Value::Object(properties));
        }
        let is_required = |member: &&Member<'_>| member.required || !self.dialect.optional_fields;
        let required: Vec<&str> =
            members.iter().filter(is_required).map(|member| member.key.as_ref()).collect();
        // Strict modes require the keyword also if it is empty.
        if !required.is_empty() || !self.dialect.optional_fields && node.map.contains_key("properties") {
            node.map.insert("required".into(), required.into());
        }
        if self.dialect.open_objects {
            // Patterns that are only stated in prose must not forbid the keys that they allow.
            let in_prose = self.render_patterns(rules, node);
            let extra = if in_prose { &Extra::Open } else { &rules.extra };
            self.render_extra(extra, members.is_empty(), node);
        } else {
            let has_extra_pairs = members.iter().any(|member| matches!(member.kind, MemberKind::Others(_)));
            // An object with fields that does not mention other keys is open, but does not need any.
            let is_named = !members.is_empty() && rules.patterns.is_empty() && rules.extra == Extra::Open;
            let allows_other_keys = !rules.patterns.is_empty() || rules.extra != Extra::Closed;
            if !is_named && allows_other_keys && (!has_extra_pairs || rules.extra == Extra::Open) {
                self.record_loss("additionalProperties", false, NO_OTHER_KEYS);
            }
            node.map.insert("additionalProperties".into(), false.into());
        }
        self.write_rules(rules.stated_rules(), node);
        node.notes.extend(rules.relations.iter().map(Relation::prose));
        self.render_relations(rules, node, is_root);
    }

    /// Renders the pairs of all additional keys.
    fn render_extra_pairs(&mut self, rules: &ObjectRules, value: &Shape) -> Value {
        let pairs = Shape {
            description: "All other keys with their values".into(),
            ..codec::pairs(rules, value.clone())
        };
        self.render_node(&pairs, !self.dialect.optional_fields)
    }

    /// Renders an object that is written as JSON text.
    pub(super) fn render_object_as_text(&mut self, rules: &ObjectRules, node: &mut Node) {
        self.record_loss("type", true, "the dialect has no objects without fields");
        set_json_text(node, "an object");
        // The members have no schema inside a string, so all rules are stated in prose.
        let mut inner = Node::default();
        self.render_patterns(rules, &mut inner);
        self.render_extra(&rules.extra, true, &mut inner);
        node.notes.extend(inner.notes);
        if let Some(value) = inner.map.get("additionalProperties").filter(|value| value.is_object()) {
            let message = prose::schema(value);
            node.notes.push(format!("any keys, each with {} {message}", article(&message)));
        }
        node.notes
            .extend(rules.stated_rules().into_iter().map(|rule| rule.prose).filter(|note| !note.is_empty()));
    }

    /// Renders arguments without names as one string.
    fn render_single_string(&mut self) -> Value {
        self.at(&["properties", ROOT_KEY], |renderer| {
            renderer.record_loss("type", true, "the dialect has no objects without fields");
            let mut node = Node::default();
            set_json_text(&mut node, "all arguments as an object");
            renderer.finish_schema(node, &Shape::ANY, false)
        })
    }

    /// Renders a field under a key.
    fn render_field(&mut self, field: &Field, key: &str) -> Value {
        let is_nullable = !self.dialect.optional_fields && !field.required;
        let is_json_text = || matches!(self.codec.form(&field.shape, &self.enclosing), Form::Text);
        let mut notes = Vec::new();
        if field.name != *key {
            notes.push(format!("for `{}`", field.name));
        }
        if is_nullable && allows_null(&field.shape, self.defs) && !is_json_text() {
            // If `null` is the default, it is equivalent to an absent field.
            if field.shape.default != Some(Literal::Null) {
                self.record_loss("nullable", false, NO_NULL);
            }
            notes.push(String::from("null to omit"));
        }
        if notes.is_empty() {
            return self.render_node(&field.shape, is_nullable);
        }
        let description = prose::describe(&field.shape.description, &notes).into();
        self.render_node(&Shape { description, ..field.shape.clone() }, is_nullable)
    }

    /// Renders pattern properties. Returns whether some are only stated in prose.
    fn render_patterns(&mut self, rules: &ObjectRules, node: &mut Node) -> bool {
        let (mut patterns, mut messages) = (Object::new(), Vec::new());
        let is_supported = self.dialect.accepts("patternProperties");
        for PatternField { pattern, shape } in &rules.patterns {
            let value =
                self.at(&["patternProperties", pattern], |renderer| renderer.render_node(shape, false));
            match self.dialect.pattern(pattern).filter(|_| is_supported) {
                Some(pattern) => drop(patterns.insert(pattern.into_owned(), value)),
                None => messages.push(format!("{pattern} ({})", prose::schema(&value))),
            }
        }
        if !patterns.is_empty() {
            node.map.insert("patternProperties".into(), Value::Object(patterns));
        }
        if !messages.is_empty() {
            let reason = if is_supported { NOT_THIS_VALUE } else { "the dialect does not take the keyword" };
            self.record_loss("patternProperties", true, reason);
            node.notes.push(format!("keys may also match {}", messages.join(", ")));
        }
        !messages.is_empty()
    }

    fn render_extra(&mut self, extra: &Extra, is_only: bool, node: &mut Node) {
        match extra {
            // The default of JSON Schema. Stated only if there is nothing else to state.
            Extra::Open
                if (is_only || self.dialect.closed_by_default)
                    && self.dialect.accepts("additionalProperties") =>
            {
                node.map.insert("additionalProperties".into(), true.into());
            }
            Extra::Open => {}
            Extra::Closed if !self.dialect.accepts("additionalProperties") => {}
            Extra::Closed => {
                node.map.insert("additionalProperties".into(), false.into());
            }
            Extra::Of(shape) => {
                let value = self.at(&["additionalProperties"], |renderer| renderer.render_node(shape, false));
                let value_text = prose::schema(&value);
                let any_key = if is_only { "any keys" } else { "also any other keys" };
                self.write_keyword(node, "additionalProperties", value, || {
                    format!("{any_key}, each with {} {value_text}", article(&value_text))
                });
            }
        }
    }

    /// Adds `null`, and moves `type` and the description to the front.
    pub(super) fn finish_schema(&mut self, node: Node, shape: &Shape, nullable: bool) -> Value {
        let Node { mut map, notes } = node;
        let description = prose::describe(&shape.description, &notes);
        if self.dialect.any_of_alone && map.contains_key("anyOf") {
            into_first_variant(&mut map, &description, nullable);
            return Value::Object(map);
        }
        if nullable && !matches!(shape.kind, Kind::Any) {
            map = self.add_null(map, shape);
        }
        if self.dialect.ref_alone && map.contains_key("$ref") && (map.len() > 1 || !description.is_empty()) {
            let reference = map.shift_remove("$ref").unwrap_or_default();
            let only: Object = [(String::from("$ref"), reference)].into_iter().collect();
            map.insert("anyOf".into(), vec![Value::Object(only)].into());
        }
        let mut index = 0;
        for first in ["type", "$ref"] {
            if move_to(&mut map, first, index) {
                index += 1;
            }
        }
        if !description.is_empty() && !move_to(&mut map, "description", index) {
            map.shift_insert(index, "description".into(), description.into());
        }
        Value::Object(map)
    }

    fn add_null(&mut self, mut map: Object, shape: &Shape) -> Object {
        if self.dialect.nulls == Nulls::Keyword {
            map.insert("nullable".into(), true.into());
            return map;
        }
        let is_done = !matches!(shape.kind, Kind::All(_)) && self.add_null_to_variants(&mut map, shape);
        if is_done {
            return map;
        }
        // Annotations stay outside of `anyOf`.
        let mut inner = Object::new();
        let mut outer = Object::new();
        for (keyword, value) in map {
            let is_annotation = matches!(keyword.as_str(), "default" | "examples" | "deprecated");
            if is_annotation { &mut outer } else { &mut inner }.insert(keyword, value);
        }
        outer.insert("anyOf".into(), vec![Value::Object(inner), type_schema("null")].into());
        outer
    }

    /// Adds `null` to the values, the types or the variants of a schema. Returns false if it has none of these.
    fn add_null_to_variants(&self, map: &mut Object, shape: &Shape) -> bool {
        if let Some(only) = map.shift_remove("const") {
            map.insert("enum".into(), vec![only, Value::Null].into());
        } else if let Some(Value::Array(values)) = map.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
        let has_enum = map.contains_key("enum");
        match map.get_mut("type") {
            Some(Value::Array(types)) => {
                if !types.contains(&"null".into()) {
                    types.push("null".into());
                }
                return true;
            }
            Some(name) if *name == "null" => return true,
            Some(name) if self.dialect.nulls == Nulls::Type => {
                *name = vec![name.take(), "null".into()].into();
                // A pattern matches every value that is not a string, so negating it would forbid `null`.
                if let Some(Value::Object(not)) =
                    map.get_mut("not").filter(|not| not.get("pattern").is_some())
                {
                    not.insert("type".into(), "string".into());
                }
                return true;
            }
            Some(_) => return false,
            None if has_enum => return true,
            None => {}
        }
        let variants_allow_null = allows_null(&Shape { nullable: false, ..shape.clone() }, self.defs);
        for keyword in ["anyOf", "oneOf"] {
            if keyword == "oneOf" && variants_allow_null {
                continue;
            }
            if let Some(Value::Array(variants)) = map.get_mut(keyword) {
                variants.push(type_schema("null"));
                return true;
            }
        }
        false
    }
}

/// Moves a keyword to an index, if it is present.
fn move_to(map: &mut Object, keyword: &str, index: usize) -> bool {
    // Most schemas have few keywords, and this one is usually first: a linear search is faster than hashing.
    let Some(position) = map.keys().position(|key| key == keyword) else { return false };
    if position != index
        && let Some((keyword, value)) = map.shift_remove_entry(keyword)
    {
        map.shift_insert(index, keyword, value);
    }
    true
}

/// Moves the description and `nullable` of the union into the first variant, if `anyOf` allows no other keywords.
fn into_first_variant(map: &mut Object, description: &str, nullable: bool) {
    let Some(Value::Array(variants)) = map.get_mut("anyOf") else { return };
    let variants = std::mem::take(variants);
    map.clear();
    let mut merged = Vec::new();
    for (index, variant) in variants.into_iter().enumerate() {
        let Value::Object(mut variant) = variant else { continue };
        if index == 0 {
            if nullable {
                variant.insert("nullable".into(), true.into());
            }
            if !description.is_empty() {
                let variant_description =
                    variant.get("description").and_then(Value::as_str).unwrap_or_default();
                let combined = if variant_description.is_empty() {
                    description.to_owned()
                } else {
                    format!("{description} {variant_description}")
                };
                variant.insert("description".into(), combined.into());
            }
        }
        merged.push(Value::Object(variant));
    }
    map.insert("anyOf".into(), merged.into());
}
