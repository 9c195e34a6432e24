//! Renders one shape as a schema.

use serde_json::Value;

use super::{Object, Renderer, canonical};
use crate::base::truncate;
use crate::schema::dialect::Nulls;
use crate::schema::shape::codec::{self, Form, under};
use crate::schema::shape::decode::describe::article;
use crate::schema::shape::read::raw_keyword_is_well_formed;
use crate::schema::shape::rules::Stated;
use crate::schema::shape::{Extra, Kind, Literal, ObjectRules, Shape, StringRules, decode, pointer, prose};

/// The reason for losing a schema that the dialect cannot express.
pub(super) const NO_PLACE: &str = "the dialect cannot express the schema";

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
    /// Renders a shape as a schema for the form in which its values are written. `or_null` also allows `null`.
    pub(super) fn node(&mut self, shape: &Shape, or_null: bool) -> Value {
        match (self.codec.form(shape, &self.enclosing), &shape.kind) {
            (Form::Text, _) => self.text(shape, or_null),
            (Form::As(inner, lost), _) => {
                (0..lost).for_each(|_| self.lose("schema", true, NO_PLACE));
                self.node(&inner, or_null)
            }
            (Form::Pairs(value), Kind::Object(rules)) => {
                if rules.extra == Extra::Open {
                    self.lose("additionalProperties", false, NO_OTHER_KEYS);
                }
                self.lose("uniqueItems", true, "an array cannot express that each key occurs once");
                let list = codec::pairs(rules, value);
                let notes = vec![String::from(
                    "an object, written as an array of its keys with their values, each key once",
                )];
                self.instead(&list, notes, shape, or_null)
            }
            (Form::Places(fields), Kind::Tuple(rules)) => {
                if rules.rest == Extra::Open {
                    self.lose("items", false, "arrays end after their last position in the dialect");
                }
                let fields = fields.into();
                let object = ObjectRules { fields, extra: Extra::Closed, ..ObjectRules::ANY };
                let notes =
                    vec![String::from("an array, written as an object with a field for each position")];
                self.instead(&Shape::of(Kind::Object(object)), notes, shape, or_null)
            }
            (_, Kind::Ref(name)) if !self.dialect.accepts("$ref") => self.inline(name, shape, or_null),
            _ => {
                let mut node = Node::default();
                self.kind(shape, &mut node);
                self.annotations(shape, &mut node);
                self.close(node, shape, shape.nullable || or_null)
            }
        }
    }

    /// Renders the shape of the form that replaces a value.
    fn instead(&mut self, form: &Shape, notes: Vec<String>, shape: &Shape, or_null: bool) -> Value {
        let mut node = Node { notes, ..Node::default() };
        self.kind(form, &mut node);
        self.annotations(shape, &mut node);
        let outer = Shape { kind: form.kind.clone(), ..shape.clone() };
        self.close(node, &outer, shape.nullable || or_null)
    }

    /// Renders a value that is written as JSON text.
    fn text(&mut self, shape: &Shape, or_null: bool) -> Value {
        let mut node = Node::default();
        match &shape.kind {
            Kind::Enum(values) => {
                let mut texts: Vec<Value> =
                    values.iter().map(|value| value.to_json().to_string().into()).collect();
                // If `null` means an absent field, the JSON text of null is the string `null`.
                if or_null && shape.nullable && !texts.contains(&"null".into()) {
                    texts.push("null".into());
                }
                written(&mut node, "one of these values");
                node.map.insert("enum".into(), texts.into());
            }
            Kind::Object(rules) => self.written_object(rules, &mut node),
            Kind::Ref(name) => {
                self.lose("$ref", true, "a schema cannot contain itself in the dialect, or not so deeply");
                let enclosing = self.enclosing.iter().any(|known| *known == **name);
                let what = if enclosing { "the same schema as the enclosing" } else { article(name) };
                written(&mut node, &format!("{what} {name}"));
            }
            kind => {
                self.lose("type", true, "the dialect requires one type for every value");
                match kind {
                    Kind::Raw(text) => self.lose_raw(text, &mut node.notes),
                    Kind::Union(_) | Kind::All(_) => {
                        let plain = Shape::of(kind.clone());
                        node.notes
                            .push(format!("fits the JSON Schema {}", truncate::cut(&canonical(&plain), 300)));
                    }
                    _ => {}
                }
                written(&mut node, "any JSON value");
            }
        }
        self.annotations(shape, &mut node);
        let text = Shape { kind: Kind::String(StringRules::ANY), ..shape.clone() };
        let nullable = or_null || shape.nullable && shape.kind != Kind::Any;
        self.close(node, &text, nullable)
    }

    fn kind(&mut self, shape: &Shape, node: &mut Node) {
        match &shape.kind {
            Kind::Any => {}
            Kind::Never if shape.nullable => self.null(node),
            Kind::Never => self.never(node),
            Kind::Null => self.null(node),
            Kind::Boolean => named(node, "boolean"),
            Kind::Integer(rules) => {
                named(node, "integer");
                self.rules(rules.stated(), node);
            }
            Kind::Number(rules) => {
                named(node, "number");
                self.rules(rules.stated(), node);
            }
            Kind::String(rules) => {
                named(node, "string");
                self.rules(rules.stated(), node);
            }
            Kind::Enum(values) if values.is_empty() => self.never(node),
            Kind::Enum(values) => self.enumeration(values, node),
            Kind::Array(rules) => self.array(rules, node),
            Kind::Tuple(rules) => self.tuple(rules, node),
            Kind::Object(rules) => self.object(rules, node, false),
            Kind::Union(rules) => self.union(rules, node),
            Kind::All(parts) if parts.is_empty() => {}
            Kind::All(parts) => {
                let rendered = self.list("allOf", parts);
                match beside(&rendered) {
                    Some(one) => node.map = one,
                    None => {
                        node.map.insert("allOf".into(), rendered.into());
                    }
                }
            }
            Kind::Ref(name) => {
                self.refer(name.to_string());
                node.map.insert("$ref".into(), pointer::reference(name).into());
            }
            Kind::Raw(text) => self.raw(text, node),
        }
    }

    /// Renders the named shape inline, for dialects without references.
    fn inline(&mut self, name: &str, outer: &Shape, or_null: bool) -> Value {
        if self.budget == 0 || self.inlined == MAX_DEPTH {
            return self.text(outer, or_null);
        }
        self.budget -= 1;
        self.inlined += 1;
        let within = self.codec.within(name, &self.enclosing);
        let around = std::mem::replace(&mut self.enclosing, within);
        let value = self.node(&under(self.codec.target(name), outer), or_null);
        self.enclosing = around;
        self.inlined -= 1;
        value
    }

    /// Drops a schema that the dialect cannot express, and records the loss.
    fn lose_raw(&mut self, text: &str, notes: &mut Vec<String>) {
        self.lose("schema", true, NO_PLACE);
        notes.push(codec::raw_note(text));
    }

    fn raw(&mut self, text: &str, node: &mut Node) {
        match serde_json::from_str(text) {
            // An external reference or a malformed rule would fail the whole request.
            Ok(Value::Object(raw))
                if raw.iter().all(|(keyword, value)| {
                    self.dialect.accepts(keyword) && raw_keyword_is_well_formed(keyword, value)
                }) =>
            {
                self.reach(&Value::Object(raw.clone()));
                node.map.extend(raw);
            }
            _ => self.lose_raw(text, &mut node.notes),
        }
    }

    /// Records the named shapes that a raw schema references.
    fn reach(&mut self, raw: &Value) {
        match raw {
            Value::Array(items) => items.iter().for_each(|item| self.reach(item)),
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    pointer::referenced(reference).into_iter().for_each(|name| self.refer(name));
                }
                fields.values().for_each(|field| self.reach(field));
            }
            _ => {}
        }
    }

    pub(super) fn never(&mut self, node: &mut Node) {
        if self.dialect.accepts("not") {
            node.map.insert("not".into(), Value::Object(Object::new()));
        } else {
            self.refuse("no value is allowed here; omit the field");
        }
    }

    fn null(&mut self, node: &mut Node) {
        match self.dialect.nulls {
            Nulls::Type | Nulls::AnyOf => named(node, "null"),
            Nulls::Keyword => {
                self.lose("type", true, "the dialect has no type of `null` alone");
                named(node, "string");
                node.map.insert("nullable".into(), true.into());
                node.notes.push("always null".into());
            }
        }
    }

    /// Writes a keyword if the dialect accepts it, and states it in prose otherwise.
    pub(super) fn keyword(
        &mut self,
        node: &mut Node,
        keyword: &'static str,
        value: Value,
        prose: impl FnOnce() -> String,
    ) {
        if self.dialect.accepts(keyword) {
            node.map.insert(keyword.into(), value);
        } else {
            self.lose(keyword, true, "the dialect does not take the keyword");
            node.notes.extend(Some(prose()).filter(|note| !note.is_empty()));
        }
    }

    /// Writes the rules that the dialect accepts, and states the others in prose.
    pub(super) fn rules(&mut self, rules: Vec<Stated>, node: &mut Node) {
        for Stated { keyword, value, dialect_form: visible, written, prose: message } in rules {
            if message.is_empty() {
                continue;
            }
            let (keyword, value) = visible.unwrap_or((keyword, value));
            match written(self.dialect, &value) {
                Some(value) => self.keyword(node, keyword, value, || message),
                None if !self.dialect.accepts(keyword) => self.keyword(node, keyword, value, || message),
                None => {
                    self.lose(keyword, true, NOT_THIS_VALUE);
                    node.notes.push(message);
                }
            }
        }
    }

    fn annotations(&mut self, shape: &Shape, node: &mut Node) {
        // In the form in which a model writes them.
        let written = |literal: &Literal| {
            let value = literal.to_json();
            let plain = self.dialect.is_plain() || !decode::fits(&value, shape, self.defs);
            if plain {
                literal.clone()
            } else {
                Literal::of(&self.codec.written(&value, shape, &self.enclosing, 0))
            }
        };
        // A default that is invalid would be rejected if a model sent it. `null` means that there is no default.
        let fits = |literal: &&Literal| {
            **literal == Literal::Null || decode::fits_as(&literal.to_json(), shape, self.defs, self.hidden)
        };
        let default = shape.default.as_ref().filter(fits).map(written);
        let examples: Vec<Literal> = shape.examples.iter().filter(fits).map(written).collect();
        if let Some(default) = default {
            let plain =
                shape.default.as_ref().filter(|plain| adds_nulls(&plain.to_json(), &default.to_json()));
            let default = plain.filter(|_| !self.dialect.accepts("default")).cloned().unwrap_or(default);
            self.keyword(node, "default", default.to_json(), || {
                let stated = prose::states_default(&shape.description, &default);
                if stated { String::new() } else { format!("default: {}", prose::value(&default)) }
            });
        }
        if !examples.is_empty() {
            let values: Vec<Value> = examples.iter().map(Literal::to_json).collect();
            self.keyword(node, "examples", values.into(), || prose::examples(&examples));
        }
        if shape.deprecated {
            let stated = || prose::states_deprecated(&shape.description);
            let note = || if stated() { String::new() } else { "deprecated".to_owned() };
            self.keyword(node, "deprecated", true.into(), note);
        }
    }
}

/// Whether the written form of a value adds only `null` for absent members.
fn adds_nulls(plain: &Value, written: &Value) -> bool {
    match (plain, written) {
        (Value::Object(plain), Value::Object(written)) => {
            plain.keys().all(|key| written.contains_key(key))
                && written.iter().all(|(key, value)| match plain.get(key) {
                    Some(plain) => adds_nulls(plain, value),
                    None => value.is_null(),
                })
        }
        (Value::Array(plain), Value::Array(written)) => {
            plain.len() == written.len()
                && plain.iter().zip(written).all(|(plain, written)| adds_nulls(plain, written))
        }
        _ => plain == written,
    }
}

/// Combines schemas that all apply into one with all their keywords, if the meaning is the same: one schema with
/// arbitrary keywords, and others with keywords that are independent of their neighbours.
fn beside(parts: &[Value]) -> Option<Object> {
    const ALONE: &[&str] = &[
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
    let alone = |part: &Value| {
        part.as_object().is_some_and(|part| part.keys().all(|keyword| ALONE.contains(&keyword.as_str())))
    };
    let mut whole: Object = Object::new();
    let mut others = 0;
    for part in parts {
        let keywords = part.as_object()?;
        others += usize::from(!alone(part));
        if others > 1
            || keywords.contains_key("$ref")
            || keywords.keys().any(|keyword| whole.contains_key(keyword))
        {
            return None;
        }
        whole.extend(keywords.clone());
    }
    Some(whole)
}

/// Turns a schema into that of a value that is written as JSON text.
pub(super) fn written(node: &mut Node, what: &str) {
    named(node, "string");
    node.notes.push(format!("{what}, written as JSON text"));
}

pub(super) fn named(node: &mut Node, name: &str) {
    node.map.insert("type".into(), name.into());
}

pub(super) fn typed(name: &str) -> Value {
    Value::Object([(String::from("type"), Value::from(name))].into_iter().collect())
}
