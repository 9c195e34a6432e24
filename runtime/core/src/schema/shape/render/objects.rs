//! Renders objects, and completes every schema.

use serde_json::Value;

use super::node::{NO_OTHER_KEYS, NOT_THIS_VALUE, Node, named, typed, written};
use super::{Object, Renderer};
use crate::schema::dialect::Nulls;
use crate::schema::shape::codec::{self, Form, Member, MemberKind, ROOT_KEY};
use crate::schema::shape::decode::describe::article;
use crate::schema::shape::schema::takes_null;
use crate::schema::shape::{Extra, Field, Kind, Literal, ObjectRules, PatternField, Relation, Shape, prose};

/// The reason for losing `null` of an optional field.
const NO_NULL: &str = "`null` means that a field is absent, so `null` itself cannot be sent";

impl Renderer<'_> {
    /// Renders an object. `root`: the arguments of a tool, which must always have their fields.
    pub(super) fn object(&mut self, rules: &ObjectRules, node: &mut Node, root: bool) {
        named(node, "object");
        let members = self.codec.members(rules);
        let mut properties = Object::with_capacity(members.len());
        for member in &members {
            let value = self.at(&["properties", &member.key], |renderer| match &member.of {
                MemberKind::Field(field) => renderer.field(field, &member.key),
                MemberKind::Others(value) => renderer.others(rules, value),
            });
            properties.insert(member.key.to_string(), value);
        }
        let open = rules.extra != Extra::Closed || !rules.patterns.is_empty();
        if root && open && properties.is_empty() && !self.dialect.empty_objects && self.dialect.open_objects {
            properties.insert(ROOT_KEY.to_owned(), self.single_argument());
        }
        let empty = properties.is_empty();
        if !empty || root || rules.extra == Extra::Closed || !self.dialect.open_objects {
            node.map.insert("properties".into(), Value::Object(properties));
        }
        let needed = |member: &&Member<'_>| member.required || !self.dialect.optional_fields;
        let required: Vec<&str> = members.iter().filter(needed).map(|member| member.key.as_ref()).collect();
        // Strict modes require the keyword also if it is empty.
        if !required.is_empty() || !self.dialect.optional_fields && node.map.contains_key("properties") {
            node.map.insert("required".into(), required.into());
        }
        if self.dialect.open_objects {
            // Patterns that are only stated in prose must not forbid the keys that they allow.
            let reported = self.patterns(rules, node);
            let extra = if reported { &Extra::Open } else { &rules.extra };
            self.extra(extra, members.is_empty(), node);
        } else {
            let has_extra_pairs = members.iter().any(|member| matches!(member.of, MemberKind::Others(_)));
            // An object with fields that does not mention other keys is open, but does not need any.
            let is_named = !members.is_empty() && rules.patterns.is_empty() && rules.extra == Extra::Open;
            let keyed = !rules.patterns.is_empty() || rules.extra != Extra::Closed;
            if !is_named && keyed && (!has_extra_pairs || rules.extra == Extra::Open) {
                self.lose("additionalProperties", false, NO_OTHER_KEYS);
            }
            node.map.insert("additionalProperties".into(), false.into());
        }
        self.rules(rules.stated(), node);
        node.notes.extend(rules.relations.iter().map(Relation::prose));
        self.relations(rules, node, root);
    }

    /// Renders the pairs of all additional keys.
    fn others(&mut self, rules: &ObjectRules, value: &Shape) -> Value {
        let described = Shape {
            description: "All other keys with their values".into(),
            ..codec::pairs(rules, value.clone())
        };
        self.node(&described, !self.dialect.optional_fields)
    }

    /// Renders an object that is written as JSON text.
    pub(super) fn written_object(&mut self, rules: &ObjectRules, node: &mut Node) {
        self.lose("type", true, "the dialect has no objects without fields");
        written(node, "an object");
        // The members have no schema inside a string, so all rules are stated in prose.
        let mut inside = Node::default();
        self.patterns(rules, &mut inside);
        self.extra(&rules.extra, true, &mut inside);
        node.notes.extend(inside.notes);
        if let Some(value) = inside.map.get("additionalProperties").filter(|value| value.is_object()) {
            let message = prose::schema(value);
            node.notes.push(format!("any keys, each with {} {message}", article(&message)));
        }
        node.notes.extend(rules.stated().into_iter().map(|rule| rule.prose).filter(|note| !note.is_empty()));
    }

    /// Renders arguments without names as one string.
    fn single_argument(&mut self) -> Value {
        self.at(&["properties", ROOT_KEY], |renderer| {
            renderer.lose("type", true, "the dialect has no objects without fields");
            let mut node = Node::default();
            written(&mut node, "all arguments as an object");
            renderer.close(node, &Shape::ANY, false)
        })
    }

    /// Renders a field under a key.
    fn field(&mut self, field: &Field, key: &str) -> Value {
        let optional = !self.dialect.optional_fields && !field.required;
        let as_text = || matches!(self.codec.form(&field.shape, &self.enclosing), Form::Text);
        let mut notes = Vec::new();
        if field.name != *key {
            notes.push(format!("for `{}`", field.name));
        }
        if optional && takes_null(&field.shape, self.defs) && !as_text() {
            // If `null` is the default, it is equivalent to an absent field.
            if field.shape.default != Some(Literal::Null) {
                self.lose("nullable", false, NO_NULL);
            }
            notes.push(String::from("null to omit"));
        }
        if notes.is_empty() {
            return self.node(&field.shape, optional);
        }
        let description = prose::describe(&field.shape.description, &notes).into();
        self.node(&Shape { description, ..field.shape.clone() }, optional)
    }

    /// Renders pattern properties. Returns whether some are only stated in prose.
    fn patterns(&mut self, rules: &ObjectRules, node: &mut Node) -> bool {
        let (mut patterns, mut messages) = (Object::new(), Vec::new());
        let is_taken = self.dialect.accepts("patternProperties");
        for PatternField { pattern, shape } in &rules.patterns {
            let value = self.at(&["patternProperties", pattern], |renderer| renderer.node(shape, false));
            match self.dialect.pattern(pattern).filter(|_| is_taken) {
                Some(pattern) => drop(patterns.insert(pattern.into_owned(), value)),
                None => messages.push(format!("{pattern} ({})", prose::schema(&value))),
            }
        }
        if !patterns.is_empty() {
            node.map.insert("patternProperties".into(), Value::Object(patterns));
        }
        if !messages.is_empty() {
            let reason = if is_taken { NOT_THIS_VALUE } else { "the dialect does not take the keyword" };
            self.lose("patternProperties", true, reason);
            node.notes.push(format!("keys may also match {}", messages.join(", ")));
        }
        !messages.is_empty()
    }

    fn extra(&mut self, extra: &Extra, only: bool, node: &mut Node) {
        match extra {
            // The default of JSON Schema. Stated only if there is nothing else to state.
            Extra::Open
                if (only || self.dialect.closed_by_default)
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
                let value = self.at(&["additionalProperties"], |renderer| renderer.node(shape, false));
                let value_words = prose::schema(&value);
                let any_key = if only { "any keys" } else { "also any other keys" };
                self.keyword(node, "additionalProperties", value, || {
                    format!("{any_key}, each with {} {value_words}", article(&value_words))
                });
            }
        }
    }

    /// Adds `null`, and moves `type` and the description to the front.
    pub(super) fn close(&mut self, node: Node, shape: &Shape, nullable: bool) -> Value {
        let Node { mut map, notes } = node;
        let description = prose::describe(&shape.description, &notes);
        if self.dialect.any_of_alone && map.contains_key("anyOf") {
            into_first_variant(&mut map, &description, nullable);
            return Value::Object(map);
        }
        if nullable && !matches!(shape.kind, Kind::Any) {
            map = self.or_null(map, shape);
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

    fn or_null(&mut self, mut map: Object, shape: &Shape) -> Object {
        if self.dialect.nulls == Nulls::Keyword {
            map.insert("nullable".into(), true.into());
            return map;
        }
        let done = !matches!(shape.kind, Kind::All(_)) && self.null_inside(&mut map, shape);
        if done {
            return map;
        }
        // Annotations stay outside.
        let mut inner = Object::new();
        let mut outer = Object::new();
        for (keyword, value) in map {
            let outside = matches!(keyword.as_str(), "default" | "examples" | "deprecated");
            if outside { &mut outer } else { &mut inner }.insert(keyword, value);
        }
        outer.insert("anyOf".into(), vec![Value::Object(inner), typed("null")].into());
        outer
    }

    /// Adds `null` to the variants of a schema. Returns false if it has none that `null` could be added to.
    fn null_inside(&self, map: &mut Object, shape: &Shape) -> bool {
        if let Some(only) = map.shift_remove("const") {
            map.insert("enum".into(), vec![only, Value::Null].into());
        } else if let Some(Value::Array(values)) = map.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
        let listed = map.contains_key("enum");
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
            None if listed => return true,
            None => {}
        }
        let others_take_it = takes_null(&Shape { nullable: false, ..shape.clone() }, self.defs);
        for keyword in ["anyOf", "oneOf"] {
            if keyword == "oneOf" && others_take_it {
                continue;
            }
            if let Some(Value::Array(variants)) = map.get_mut(keyword) {
                variants.push(typed("null"));
                return true;
            }
        }
        false
    }
}

/// Moves a keyword to a place, if it is present.
fn move_to(map: &mut Object, keyword: &str, index: usize) -> bool {
    // Most schemas have few keywords, and this one is usually first: a linear search is faster than hashing.
    let Some(found) = map.keys().position(|known| known == keyword) else { return false };
    if found != index
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
                let own = variant.get("description").and_then(Value::as_str).unwrap_or_default();
                let both =
                    if own.is_empty() { description.to_owned() } else { format!("{description} {own}") };
                variant.insert("description".into(), both.into());
            }
        }
        merged.push(Value::Object(variant));
    }
    map.insert("anyOf".into(), merged.into());
}
