//! Renders the tolerant form of a shape as JSON Schema.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{Members, Scalar, View, reference, target, view};
use crate::base::frozen::List;
use crate::schema::shape::{Def, Literal, Shape, find_def, pointer};

type Object = Map<String, Value>;

/// Maximum number of schemas in a schema. Parts that have several parts themselves are written where they occur, which
/// would double at each level.
const MAX_SCHEMAS: usize = 20_000;

/// Maximum nesting of schemas that are written where they occur; deeper ones accept any value.
const MAX_NESTING: usize = 64;

/// Renders the tolerant form of a shape. Only `depth` levels of objects, at least one, are described; deeper objects
/// are open. Also returns whether more levels would describe no more. Referenced named shapes are under `$defs`.
///
/// If `is_object`, the schema has the type `object`, without `null`.
#[must_use]
pub(crate) fn schema(shape: &Shape, defs: &List<Def>, depth: usize, is_object: bool) -> (Value, bool) {
    let mut writer = Writer {
        defs,
        depth,
        levels: levels(shape, defs, depth),
        pending: BTreeSet::new(),
        remaining: MAX_SCHEMAS,
        nesting: 0,
        is_complete: true,
    };
    let mut root = if is_object { writer.object_root(shape) } else { writer.place(shape, 0) };
    let named = writer.named();
    if let (Value::Object(root), false) = (&mut root, named.is_empty()) {
        root.insert("$defs".into(), Value::Object(named));
    }
    (root, writer.is_complete || writer.remaining == 0)
}

/// Returns the lowest level of each named shape that is above `depth`: the number of objects that enclose it.
fn levels<'a>(shape: &'a Shape, defs: &'a List<Def>, depth: usize) -> BTreeMap<&'a str, usize> {
    let mut visitor = Visitor { defs, depth, pending: BTreeSet::new(), remaining: MAX_SCHEMAS };
    match reference(shape) {
        Some(name) => {
            visitor.pending.insert((0, name));
        }
        None => visitor.visit(shape, 0, 0),
    }
    let mut levels = BTreeMap::new();
    while let Some((level, name)) = visitor.pending.pop_first() {
        if let Entry::Vacant(entry) = levels.entry(name) {
            entry.insert(level);
            if let Some(shape) = find_def(defs, name) {
                visitor.visit(shape, level, 0);
            }
        }
    }
    levels
}

/// Finds the references above a depth.
struct Visitor<'a> {
    defs: &'a List<Def>,
    depth: usize,
    /// The references, with their levels.
    pending: BTreeSet<(usize, &'a str)>,
    remaining: usize,
}

impl<'a> Visitor<'a> {
    fn visit(&mut self, shape: &'a Shape, level: usize, nesting: usize) {
        if level >= self.depth || nesting > MAX_NESTING || self.remaining == 0 {
            return;
        }
        self.remaining -= 1;
        match view(shape, self.defs) {
            View::Any | View::Scalar(..) => {}
            View::Array(items) => self.child(items, level, nesting),
            View::Tuple(items, rest) => {
                items.iter().chain(rest).for_each(|item| self.child(item, level, nesting));
            }
            View::Union(variants) => {
                variants.into_iter().for_each(|variant| self.child(variant, level, nesting));
            }
            View::Object(Members { fields, extra }) => {
                let shapes = fields.into_iter().filter_map(|(_, shape)| shape).chain(extra);
                shapes.for_each(|shape| self.child(shape, level + 1, nesting));
            }
        }
    }

    fn child(&mut self, shape: &'a Shape, level: usize, nesting: usize) {
        match reference(shape) {
            Some(name) if level < self.depth => {
                self.pending.insert((level, name));
            }
            Some(_) => {}
            None => self.visit(shape, level, nesting + 1),
        }
    }
}

struct Writer<'a> {
    defs: &'a List<Def>,
    depth: usize,
    /// The levels of the named shapes above the depth.
    levels: BTreeMap<&'a str, usize>,
    /// The referenced named shapes that are not written yet.
    pending: BTreeSet<&'a str>,
    remaining: usize,
    /// The number of enclosing schemas.
    nesting: usize,
    is_complete: bool,
}

impl<'a> Writer<'a> {
    /// Writes a shape that is always an object.
    fn object_root(&mut self, shape: &'a Shape) -> Value {
        let is_object = match view(shape, self.defs) {
            View::Object(_) => true,
            View::Union(variants) => {
                variants.iter().all(|variant| matches!(view(variant, self.defs), View::Object(_)))
            }
            _ => false,
        };
        // Contradictory parts: nothing is known.
        if !is_object {
            return json!({ "type": "object" });
        }
        let mut root = self.inline(shape, 0);
        root.insert("type".into(), "object".into());
        Value::Object(root)
    }

    /// Writes the named shapes that are referenced.
    fn named(&mut self) -> Object {
        let mut written: BTreeMap<&str, Value> = BTreeMap::new();
        while let Some(name) = self.pending.pop_first() {
            if written.contains_key(name) {
                continue;
            }
            let level = self.levels.get(name).copied().unwrap_or(self.depth);
            let Some(shape) = find_def(self.defs, name) else { continue };
            written.insert(name, Value::Object(self.inline(shape, level)));
        }
        written.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
    }

    /// Writes a shape where it occurs. A reference stays a reference.
    fn place(&mut self, shape: &'a Shape, level: usize) -> Value {
        let name = reference(shape).filter(|name| find_def(self.defs, name).is_some());
        let Some(name) = name else { return Value::Object(self.inline(shape, level)) };
        let is_deep = !self.levels.contains_key(name);
        match view(shape, self.defs) {
            View::Object(members) if is_deep && members.is_described() => {
                self.is_complete = false;
                open_object()
            }
            View::Any => Value::Object(self.inline(shape, level)),
            _ => {
                self.pending.insert(name);
                let schema = Object::from_iter([("$ref".into(), pointer::reference(name).into())]);
                Value::Object(described(schema, shape))
            }
        }
    }

    /// Writes the contents of a shape, also if it is a reference.
    fn inline(&mut self, shape: &'a Shape, level: usize) -> Object {
        let mut out = Object::new();
        if self.remaining == 0 || self.nesting > MAX_NESTING {
            return out;
        }
        self.remaining -= 1;
        self.nesting += 1;
        match view(shape, self.defs) {
            View::Any => {}
            View::Scalar(scalar, examples) => write_scalar(&mut out, scalar, examples),
            View::Array(items) => {
                out.insert("type".into(), json!(["array", "null"]));
                self.write_child(&mut out, "items", items, level);
            }
            View::Tuple(items, rest) => {
                out.insert("type".into(), json!(["array", "null"]));
                let items: Vec<Value> = items.iter().map(|item| self.place(item, level)).collect();
                if !items.is_empty() {
                    out.insert("prefixItems".into(), items.into());
                }
                if let Some(rest) = rest {
                    self.write_child(&mut out, "items", rest, level);
                }
            }
            View::Object(members) if level >= self.depth => {
                self.is_complete &= !members.is_described();
                out.insert("type".into(), json!(["object", "null"]));
            }
            View::Object(members) => self.write_object(&mut out, &members, level),
            View::Union(variants) => self.write_union(&mut out, &variants, level),
        }
        self.nesting -= 1;
        let inner = target(shape, self.defs).filter(|_| shape.description.is_empty()).unwrap_or(shape);
        described(out, inner)
    }

    fn write_child(&mut self, out: &mut Object, keyword: &str, shape: &'a Shape, level: usize) {
        let schema = self.place(shape, level);
        if schema.as_object().is_none_or(|schema| !schema.is_empty()) {
            out.insert(keyword.to_owned(), schema);
        }
    }

    fn write_object(&mut self, out: &mut Object, members: &Members<'a>, level: usize) {
        out.insert("type".into(), json!(["object", "null"]));
        let field = |(name, shape): &(&'a str, Option<&'a Shape>)| {
            let schema = shape.map_or_else(|| json!({}), |shape| self.place(shape, level + 1));
            ((*name).to_owned(), schema)
        };
        let properties: Object = members.fields.iter().map(field).collect();
        if !properties.is_empty() {
            out.insert("properties".into(), properties.into());
        }
        if let Some(extra) = members.extra {
            self.write_child(out, "additionalProperties", extra, level + 1);
        }
    }

    fn write_union(&mut self, out: &mut Object, variants: &[&'a Shape], level: usize) {
        let mut schemas: Vec<Value> = Vec::new();
        for variant in variants {
            let schema = self.place(variant, level);
            // Alternatives that are not described further are equal.
            if !schemas.contains(&schema) {
                schemas.push(schema);
            }
        }
        match schemas.as_mut_slice() {
            [Value::Object(only)] => *out = std::mem::take(only),
            _ => {
                out.insert("anyOf".into(), schemas.into());
            }
        }
    }
}

fn open_object() -> Value {
    json!({ "type": ["object", "null"] })
}

fn write_scalar(out: &mut Object, scalar: Scalar, examples: &[Literal]) {
    out.insert("type".into(), json!([scalar.name(), "null"]));
    let examples: Vec<Value> =
        examples.iter().filter(|value| **value != Literal::Null).map(Literal::to_json).collect();
    if !examples.is_empty() {
        out.insert("examples".into(), examples.into());
    }
}

/// Adds the description of a shape.
fn described(mut schema: Object, shape: &Shape) -> Object {
    if !shape.description.is_empty() {
        schema.insert("description".into(), shape.description.as_str().into());
    }
    schema
}
