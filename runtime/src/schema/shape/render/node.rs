//! Renders one shape as a schema.

use serde_json::Value;

use super::merge::Merger;
use super::{Object, Renderer};
use crate::base::truncate;
use crate::schema::dialect::Nulls;
use crate::schema::shape::read::raw_keyword_is_well_formed;
use crate::schema::shape::rules::Stated;
use crate::schema::shape::written::is_written;
use crate::schema::shape::{Kind, Literal, Shape, find_def, pointer, prose};

/// A schema that is being written.
#[derive(Default)]
pub(super) struct Node {
    pub(super) map: Object,
    /// What the schema cannot express.
    pub(super) notes: Vec<String>,
}

impl Renderer<'_> {
    /// Renders a shape as a schema; `or_null` allows `null` in addition.
    pub(super) fn node(&mut self, shape: &Shape, or_null: bool) -> Value {
        if let Kind::Ref(name) = &shape.kind
            && !self.dialect.takes("$ref")
        {
            return self.inline(name, shape, or_null);
        }
        if let Kind::All(parts) = &shape.kind
            && !self.dialect.takes("allOf")
        {
            return self.merged(parts, shape, or_null);
        }
        let mut node = Node::default();
        match &shape.kind {
            Kind::Object(rules) if is_written(shape, self.dialect, self.hidden) => {
                self.written_object(rules, &mut node);
            }
            _ => self.kind(shape, &mut node),
        }
        self.annotations(shape, &mut node);
        self.close(node, shape, shape.nullable || or_null)
    }

    fn kind(&mut self, shape: &Shape, node: &mut Node) {
        match &shape.kind {
            Kind::Any => self.any(node),
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
            Kind::All(parts) if parts.is_empty() => self.any(node),
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
                self.reached.insert(name.to_string());
                node.map.insert("$ref".into(), pointer::reference(name).into());
            }
            Kind::Raw(text) => self.raw(text, node),
        }
    }

    /// Renders the named shape itself, for dialects without references.
    fn inline(&mut self, name: &str, outer: &Shape, or_null: bool) -> Value {
        let cyclic = self.inlining.iter().any(|known| known == name);
        let target = find_def(self.defs, name).filter(|_| !cyclic && self.budget > 0);
        let Some(target) = target else {
            self.lose("$ref", true);
            let mut node = Node::default();
            let what =
                if cyclic { format!("the same form as the enclosing {name}") } else { format!("a {name}") };
            if self.dialect.empty_objects {
                named(&mut node, "object");
                node.notes.push(what);
            } else {
                written(&mut node, &what);
            }
            return self.close(node, outer, outer.nullable || or_null);
        };
        self.budget -= 1;
        self.inlining.push(name.to_owned());
        let shape = under(target, outer);
        let value = self.node(&shape, or_null);
        self.inlining.pop();
        value
    }

    fn merged(&mut self, parts: &[Shape], outer: &Shape, or_null: bool) -> Value {
        let mut merger = Merger::new(self.defs, self.hidden);
        let merged = merger.all(parts, 0);
        let raw = merger.raw;
        let Some(merged) = merged else {
            self.lose("allOf", false);
            self.refuse(format!(
                "{} has no `allOf`, and these schemas cannot be merged into one; describe the value with one schema",
                self.dialect.title
            ));
            return Value::Object(Object::new());
        };
        let mut shape = under(&merged, outer);
        if !raw.is_empty() {
            let mut notes = Vec::new();
            raw.iter().for_each(|text| self.lose_raw(text, &mut notes));
            shape.description = prose::describe(&shape.description, &notes).into();
        }
        self.node(&shape, or_null)
    }

    /// Drops a schema that the dialect has no place for, and records the loss.
    fn lose_raw(&mut self, text: &str, notes: &mut Vec<String>) {
        self.lose("schema", true);
        notes.push(format!("must also fit the JSON Schema {}", truncate::cut(text, 200)));
    }

    fn raw(&mut self, text: &str, node: &mut Node) {
        match serde_json::from_str(text) {
            // A reference to elsewhere, or a malformed rule, would cost the whole request.
            Ok(Value::Object(raw))
                if raw.iter().all(|(keyword, value)| {
                    self.dialect.takes(keyword) && raw_keyword_is_well_formed(keyword, value)
                }) =>
            {
                self.reach(&Value::Object(raw.clone()));
                node.map.extend(raw);
            }
            _ => {
                self.lose_raw(text, &mut node.notes);
                self.any(node);
            }
        }
    }

    /// Records the named shapes that a raw schema refers to.
    fn reach(&mut self, raw: &Value) {
        match raw {
            Value::Array(items) => items.iter().for_each(|item| self.reach(item)),
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    self.reached.extend(pointer::referenced(reference));
                }
                fields.values().for_each(|field| self.reach(field));
            }
            _ => {}
        }
    }

    fn any(&mut self, node: &mut Node) {
        if !self.dialect.untyped {
            self.refuse(format!(
                "{} has no schema for any value; give the value a type, or leave strict mode off",
                self.dialect.title
            ));
        }
        if !self.dialect.empty_objects {
            self.lose("type", true);
            written(node, "any JSON value");
        }
    }

    pub(super) fn never(&mut self, node: &mut Node) {
        if self.dialect.takes("not") {
            node.map.insert("not".into(), Value::Object(Object::new()));
        } else {
            self.refuse("no value is allowed here; leave the field out");
        }
    }

    fn null(&mut self, node: &mut Node) {
        match self.dialect.nulls {
            Nulls::Type | Nulls::AnyOf => named(node, "null"),
            Nulls::Keyword => {
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
        if self.dialect.takes(keyword) {
            node.map.insert(keyword.into(), value);
        } else {
            self.lose(keyword, true);
            node.notes.push(prose());
        }
    }

    /// Writes the rules that the dialect accepts, and states the others in prose.
    pub(super) fn rules(&mut self, rules: Vec<Stated>, node: &mut Node) {
        for Stated { keyword, value, shown, taken, told } in rules {
            if told.is_empty() {
                continue;
            }
            let (keyword, value) = shown.unwrap_or((keyword, value));
            if taken(self.dialect, &value) {
                self.keyword(node, keyword, value, || told);
            } else {
                self.lose(keyword, true);
                node.notes.push(told);
            }
        }
    }

    fn annotations(&mut self, shape: &Shape, node: &mut Node) {
        if let Some(default) = &shape.default {
            self.keyword(node, "default", default.to_json(), || {
                format!("default: {}", prose::value(default))
            });
        }
        if !shape.examples.is_empty() {
            let examples: Vec<Value> = shape.examples.iter().map(Literal::to_json).collect();
            self.keyword(node, "examples", examples.into(), || prose::examples(&shape.examples));
        }
        if shape.deprecated {
            self.keyword(node, "deprecated", true.into(), || "deprecated".into());
        }
    }
}

/// Returns a shape with the annotations of the one that refers to it.
fn under(inner: &Shape, outer: &Shape) -> Shape {
    let nullable = inner.nullable || outer.nullable;
    let mut shape = Shape { kind: inner.kind.clone(), nullable, ..outer.clone() };
    shape.adopt(inner);
    shape
}

/// Combines schemas that all apply into one with all their keywords, if the meaning is the same: one schema of any
/// keywords, and others with keywords that do not depend on their neighbours.
fn beside(parts: &[Value]) -> Option<Object> {
    const ALONE: &[&str] =
        &["anyOf", "oneOf", "not", "propertyNames", "dependentRequired", "dependentSchemas"];
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

/// Makes a schema that of a value written as JSON text.
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
