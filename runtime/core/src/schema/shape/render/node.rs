//! Renders one shape as a schema.

use serde_json::Value;

use super::{Object, Renderer, canonical};
use crate::base::truncate;
use crate::schema::dialect::Nulls;
use crate::schema::shape::codec::{self, Form, with_annotations_of};
use crate::schema::shape::decode::describe::article;
use crate::schema::shape::read::raw_keyword_is_well_formed;
use crate::schema::shape::rules::StatedRule;
use crate::schema::shape::{Extra, Kind, Literal, ObjectRules, Shape, StringRules, decode, pointer, prose};

/// The reason for losing a schema that the dialect cannot express.
pub(super) const NOT_EXPRESSIBLE: &str = "the dialect cannot express the schema";

/// The reason for losing keys other than fields.
pub(super) const NO_OTHER_KEYS: &str = "objects have no other keys than their fields in the dialect";

/// The reason for losing a rule whose keyword the dialect accepts only with other values.
pub(super) const NOT_THIS_VALUE: &str = "the dialect takes the keyword, but not this value of it";

/// Maximum nesting of inlined shapes; deeper ones are written as JSON text, because each level uses stack.
const MAX_DEPTH: usize = 32;

/// A schema under construction.
#[derive(Default)]
pub(super) struct Node {
    pub(super) map: Object,
    /// The rules that the schema cannot express.
    pub(super) notes: Vec<String>,
}

impl Renderer<'_> {
    /// Renders a shape as a schema for the form in which its values are written. `allow_null` also allows `null`.
    pub(super) fn render_node(&mut self, shape: &Shape, allow_null: bool) -> Value {
        match (self.codec.form(shape, &self.enclosing), &shape.kind) {
            (Form::Text, _) => self.render_json_text(shape, allow_null),
            (Form::Substitute(inner, lost), _) => {
                (0..lost).for_each(|_| self.record_loss("schema", true, NOT_EXPRESSIBLE));
                self.render_node(&inner, allow_null)
            }
            (Form::Pairs(value), Kind::Object(rules)) => {
                if rules.extra == Extra::Open {
                    self.record_loss("additionalProperties", false, NO_OTHER_KEYS);
                }
                self.record_loss("uniqueItems", true, "an array cannot express that each key occurs once");
                let list = codec::pairs(rules, value);
                let notes = vec![String::from(
                    "an object, written as an array of its keys with their values, each key once",
                )];
                self.render_replacement(&list, notes, shape, allow_null)
            }
            (Form::Positions(fields), Kind::Tuple(rules)) => {
                if rules.rest == Extra::Open {
                    self.record_loss("items", false, "arrays end after their last position in the dialect");
                }
                let fields = fields.into();
                let object = ObjectRules { fields, extra: Extra::Closed, ..ObjectRules::ANY };
                let notes =
                    vec![String::from("an array, written as an object with a field for each position")];
                self.render_replacement(&Shape::of(Kind::Object(object)), notes, shape, allow_null)
            }
            (_, Kind::Ref(name)) if !self.dialect.accepts("$ref") => {
                self.render_inline(name, shape, allow_null)
            }
            _ => {
                let mut node = Node::default();
                self.render_kind(shape, &mut node);
                self.render_annotations(shape, &mut node);
                self.finish_schema(node, shape, shape.nullable || allow_null)
            }
        }
    }

    /// Renders the shape of the form that replaces a value.
    fn render_replacement(
        &mut self,
        form: &Shape,
        notes: Vec<String>,
        shape: &Shape,
        allow_null: bool,
    ) -> Value {
        let mut node = Node { notes, ..Node::default() };
        self.render_kind(form, &mut node);
        self.render_annotations(shape, &mut node);
        let outer = Shape { kind: form.kind.clone(), ..shape.clone() };
        self.finish_schema(node, &outer, shape.nullable || allow_null)
    }

    /// Renders a value that is written as JSON text.
    fn render_json_text(&mut self, shape: &Shape, allow_null: bool) -> Value {
        let mut node = Node::default();
        match &shape.kind {
            Kind::Enum(values) => {
                let mut strings: Vec<Value> =
                    values.iter().map(|value| value.to_json().to_string().into()).collect();
                // If `null` means an absent field, the JSON text of null is the string `null`.
                if allow_null && shape.nullable && !strings.contains(&"null".into()) {
                    strings.push("null".into());
                }
                set_json_text(&mut node, "one of these values");
                node.map.insert("enum".into(), strings.into());
            }
            Kind::Object(rules) => self.render_object_as_text(rules, &mut node),
            Kind::Ref(name) => {
                self.record_loss(
                    "$ref",
                    true,
                    "a schema cannot contain itself in the dialect, or not so deeply",
                );
                let is_enclosing = self.enclosing.iter().any(|enclosing_name| *enclosing_name == **name);
                let what = if is_enclosing { "the same schema as the enclosing" } else { article(name) };
                set_json_text(&mut node, &format!("{what} {name}"));
            }
            kind => {
                self.record_loss("type", true, "the dialect requires one type for every value");
                match kind {
                    Kind::Raw(text) => self.drop_raw(text, &mut node.notes),
                    Kind::Union(_) | Kind::All(_) => {
                        let unannotated = Shape::of(kind.clone());
                        node.notes.push(format!(
                            "fits the JSON Schema {}",
                            truncate::cut(&canonical(&unannotated), 300)
                        ));
                    }
                    _ => {}
                }
                set_json_text(&mut node, "any JSON value");
            }
        }
        self.render_annotations(shape, &mut node);
        let text = Shape { kind: Kind::String(StringRules::ANY), ..shape.clone() };
        let nullable = allow_null || shape.nullable && shape.kind != Kind::Any;
        self.finish_schema(node, &text, nullable)
    }

    fn render_kind(&mut self, shape: &Shape, node: &mut Node) {
        match &shape.kind {
            Kind::Any => {}
            Kind::Never if shape.nullable => self.render_null(node),
            Kind::Never => self.render_never(node),
            Kind::Null => self.render_null(node),
            Kind::Boolean => set_type(node, "boolean"),
            Kind::Integer(rules) => {
                set_type(node, "integer");
                self.write_rules(rules.stated_rules(), node);
            }
            Kind::Number(rules) => {
                set_type(node, "number");
                self.write_rules(rules.stated_rules(), node);
            }
            Kind::String(rules) => {
                set_type(node, "string");
                self.write_rules(rules.stated_rules(), node);
            }
            Kind::Enum(values) if values.is_empty() => self.render_never(node),
            Kind::Enum(values) => self.render_enum(values, node),
            Kind::Array(rules) => self.render_array(rules, node),
            Kind::Tuple(rules) => self.render_tuple(rules, node),
            Kind::Object(rules) => self.render_object(rules, node, false),
            Kind::Union(rules) => self.render_union(rules, node),
            Kind::All(parts) if parts.is_empty() => {}
            Kind::All(parts) => {
                let rendered = self.render_list("allOf", parts);
                match merge_keywords(&rendered) {
                    Some(merged) => node.map = merged,
                    None => {
                        node.map.insert("allOf".into(), rendered.into());
                    }
                }
            }
            Kind::Ref(name) => {
                self.add_reference(name.to_string());
                node.map.insert("$ref".into(), pointer::reference(name).into());
            }
            Kind::Raw(text) => self.render_raw(text, node),
        }
    }

    /// Renders the named shape inline, for dialects without references.
    fn render_inline(&mut self, name: &str, outer: &Shape, allow_null: bool) -> Value {
        if self.remaining_inlines == 0 || self.inline_depth == MAX_DEPTH {
            return self.render_json_text(outer, allow_null);
        }
        self.remaining_inlines -= 1;
        self.inline_depth += 1;
        let inner = self.codec.enter_def(name, &self.enclosing);
        let previous = std::mem::replace(&mut self.enclosing, inner);
        let value = self.render_node(&with_annotations_of(self.codec.target(name), outer), allow_null);
        self.enclosing = previous;
        self.inline_depth -= 1;
        value
    }

    /// Drops a schema that the dialect cannot express, and records the loss.
    fn drop_raw(&mut self, text: &str, notes: &mut Vec<String>) {
        self.record_loss("schema", true, NOT_EXPRESSIBLE);
        notes.push(codec::raw_note(text));
    }

    fn render_raw(&mut self, text: &str, node: &mut Node) {
        match serde_json::from_str(text) {
            // An external reference or a malformed rule would fail the whole request.
            Ok(Value::Object(raw))
                if raw.iter().all(|(keyword, value)| {
                    self.dialect.accepts(keyword) && raw_keyword_is_well_formed(keyword, value)
                }) =>
            {
                self.collect_references(&Value::Object(raw.clone()));
                node.map.extend(raw);
            }
            _ => self.drop_raw(text, &mut node.notes),
        }
    }

    /// Records the named shapes that a raw schema references.
    fn collect_references(&mut self, raw: &Value) {
        match raw {
            Value::Array(items) => items.iter().for_each(|item| self.collect_references(item)),
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    pointer::referenced(reference).into_iter().for_each(|name| self.add_reference(name));
                }
                fields.values().for_each(|field| self.collect_references(field));
            }
            _ => {}
        }
    }

    pub(super) fn render_never(&mut self, node: &mut Node) {
        if self.dialect.accepts("not") {
            node.map.insert("not".into(), Value::Object(Object::new()));
        } else {
            self.add_refusal("no value is allowed here; omit the field");
        }
    }

    fn render_null(&mut self, node: &mut Node) {
        match self.dialect.nulls {
            Nulls::Type | Nulls::AnyOf => set_type(node, "null"),
            Nulls::Keyword => {
                self.record_loss("type", true, "the dialect has no type of `null` alone");
                set_type(node, "string");
                node.map.insert("nullable".into(), true.into());
                node.notes.push("always null".into());
            }
        }
    }

    /// Writes a keyword if the dialect accepts it, and states it in prose otherwise.
    pub(super) fn write_keyword(
        &mut self,
        node: &mut Node,
        keyword: &'static str,
        value: Value,
        prose: impl FnOnce() -> String,
    ) {
        if self.dialect.accepts(keyword) {
            node.map.insert(keyword.into(), value);
        } else {
            self.record_loss(keyword, true, "the dialect does not take the keyword");
            node.notes.extend(Some(prose()).filter(|note| !note.is_empty()));
        }
    }

    /// Writes the rules that the dialect accepts, and states the others in prose.
    pub(super) fn write_rules(&mut self, rules: Vec<StatedRule>, node: &mut Node) {
        for StatedRule { keyword, value, dialect_form: dialect_rule, to_dialect, prose: message } in rules {
            if message.is_empty() {
                continue;
            }
            let (keyword, value) = dialect_rule.unwrap_or((keyword, value));
            match to_dialect(self.dialect, &value) {
                Some(value) => self.write_keyword(node, keyword, value, || message),
                None if !self.dialect.accepts(keyword) => {
                    self.write_keyword(node, keyword, value, || message);
                }
                None => {
                    self.record_loss(keyword, true, NOT_THIS_VALUE);
                    node.notes.push(message);
                }
            }
        }
    }

    fn render_annotations(&mut self, shape: &Shape, node: &mut Node) {
        // In the form in which a model writes them.
        let encode = |literal: &Literal| {
            let value = literal.to_json();
            let is_plain = self.dialect.is_plain() || !decode::fits(&value, shape, self.defs);
            if is_plain {
                literal.clone()
            } else {
                Literal::of(&self.codec.encode_value(&value, shape, &self.enclosing, 0))
            }
        };
        // A default that is invalid would be rejected if a model sent it. `null` means that there is no default.
        let is_valid = |literal: &&Literal| {
            **literal == Literal::Null || decode::fits_as(&literal.to_json(), shape, self.defs, self.hidden)
        };
        let default = shape.default.as_ref().filter(is_valid).map(encode);
        let examples: Vec<Literal> = shape.examples.iter().filter(is_valid).map(encode).collect();
        if let Some(default) = default {
            let plain =
                shape.default.as_ref().filter(|plain| adds_nulls(&plain.to_json(), &default.to_json()));
            let default = plain.filter(|_| !self.dialect.accepts("default")).cloned().unwrap_or(default);
            self.write_keyword(node, "default", default.to_json(), || {
                let is_stated = prose::states_default(&shape.description, &default);
                if is_stated { String::new() } else { format!("default: {}", prose::value(&default)) }
            });
        }
        if !examples.is_empty() {
            let values: Vec<Value> = examples.iter().map(Literal::to_json).collect();
            self.write_keyword(node, "examples", values.into(), || prose::examples(&examples));
        }
        if shape.deprecated {
            let is_stated = || prose::states_deprecated(&shape.description);
            let note = || if is_stated() { String::new() } else { "deprecated".to_owned() };
            self.write_keyword(node, "deprecated", true.into(), note);
        }
    }
}

/// Whether the encoded form of a value only adds `null` for absent members.
fn adds_nulls(plain: &Value, encoded: &Value) -> bool {
    match (plain, encoded) {
        (Value::Object(plain), Value::Object(encoded)) => {
            plain.keys().all(|key| encoded.contains_key(key))
                && encoded.iter().all(|(key, value)| match plain.get(key) {
                    Some(plain) => adds_nulls(plain, value),
                    None => value.is_null(),
                })
        }
        (Value::Array(plain), Value::Array(encoded)) => {
            plain.len() == encoded.len()
                && plain.iter().zip(encoded).all(|(plain, encoded)| adds_nulls(plain, encoded))
        }
        _ => plain == encoded,
    }
}

/// Combines schemas that all apply into one schema with all their keywords, if the meaning is the same: at most one of
/// them has keywords that depend on each other.
fn merge_keywords(parts: &[Value]) -> Option<Object> {
    const INDEPENDENT: &[&str] = &[
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "propertyNames",
        "dependentRequired",
        "dependentSchemas",
    ];
    let is_independent = |part: &Value| {
        part.as_object()
            .is_some_and(|part| part.keys().all(|keyword| INDEPENDENT.contains(&keyword.as_str())))
    };
    let mut merged: Object = Object::new();
    let mut others = 0;
    for part in parts {
        let keywords = part.as_object()?;
        others += usize::from(!is_independent(part));
        if others > 1
            || keywords.contains_key("$ref")
            || keywords.keys().any(|keyword| merged.contains_key(keyword))
        {
            return None;
        }
        merged.extend(keywords.clone());
    }
    Some(merged)
}

/// Turns a schema into the schema of a value that is written as JSON text.
pub(super) fn set_json_text(node: &mut Node, what: &str) {
    set_type(node, "string");
    node.notes.push(format!("{what}, written as JSON text"));
}

pub(super) fn set_type(node: &mut Node, name: &str) {
    node.map.insert("type".into(), name.into());
}

pub(super) fn type_schema(name: &str) -> Value {
    Value::Object([(String::from("type"), Value::from(name))].into_iter().collect())
}
