//! Checks the size of a schema.

use serde_json::{Map, Value, json};

use super::Refusal;
use crate::schema::dialect::{Dialect, SchemaLimits};
use crate::schema::shape::pointer;

#[derive(Default)]
struct Size {
    properties: usize,
    depth: usize,
    enum_values: usize,
    characters: usize,
}

/// Rejects a schema that is larger than a dialect accepts.
pub(super) fn check(schema: &Value, limits: &SchemaLimits, title: &str, refusals: &mut Vec<Refusal>) {
    if *limits == SchemaLimits::NONE {
        return;
    }
    let mut size = Size::default();
    measure(schema, 1, &mut size);
    let counted = [
        ("properties", size.properties, limits.properties),
        ("levels of objects and arrays", size.depth, limits.depth),
        ("listed values", size.enum_values, limits.enum_values),
        ("characters in names and listed values", size.characters, limits.characters),
    ];
    for (what, actual, limit) in counted {
        if let Some(limit) = limit.filter(|limit| actual > *limit) {
            let reason = format!(
                "{title} takes at most {limit} {what}, the schema has {actual}; split the tool or disable strict mode"
            );
            refusals.push(Refusal { pointer: String::new(), reason });
        }
    }
}

/// Moves schemas that are nested too deeply for a dialect into named schemas, which are counted separately.
pub(super) fn hoist(schema: &mut Value, dialect: &Dialect) {
    let Some(limit) = dialect.limits.depth.filter(|_| dialect.accepts("$ref")) else { return };
    let Some(Value::Object(mut by_name)) =
        schema.as_object().map(|schema| schema.get("$defs").cloned().unwrap_or_else(|| json!({})))
    else {
        return;
    };
    let mut schemas: Vec<Value> = Vec::new();
    let mut names: Vec<String> = by_name.keys().cloned().collect();
    let existing = names.len();
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("$defs");
    }
    let mut hoister = Hoister { limit, names: &mut names, schemas: &mut schemas };
    hoister.hoist_in(schema, 1);
    by_name.values_mut().for_each(|schema| hoister.hoist_in(schema, 1));
    let mut next = 0;
    while next < hoister.schemas.len() {
        let mut inner = hoister.schemas[next].take();
        hoister.hoist_in(&mut inner, 1);
        hoister.schemas[next] = inner;
        next += 1;
    }
    by_name.extend(names.split_off(existing).into_iter().zip(schemas));
    if let (Value::Object(schema), false) = (schema, by_name.is_empty()) {
        schema.insert("$defs".into(), Value::Object(by_name));
    }
}

struct Hoister<'a> {
    limit: usize,
    names: &'a mut Vec<String>,
    schemas: &'a mut Vec<Value>,
}

impl Hoister<'_> {
    fn hoist_in(&mut self, schema: &mut Value, level: usize) {
        let Value::Object(schema) = schema else { return };
        for (keyword, value) in schema.iter_mut() {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    properties
                        .iter_mut()
                        .for_each(|(name, property)| self.hoist_child(property, name, level));
                }
                ("items", items) => self.hoist_child(items, "item", level),
                ("anyOf", Value::Array(variants)) => {
                    variants.iter_mut().for_each(|variant| self.hoist_in(variant, level));
                }
                _ => {}
            }
        }
    }

    fn hoist_child(&mut self, schema: &mut Value, name: &str, level: usize) {
        if !has_children(schema) {
            return;
        }
        if level < self.limit {
            return self.hoist_in(schema, level + 1);
        }
        let mut unique_name = name.to_owned();
        let mut number = 1;
        while self.names.contains(&unique_name) {
            number += 1;
            unique_name = format!("{name}_{number}");
        }
        let reference: Map<String, Value> =
            [(String::from("$ref"), Value::from(pointer::reference(&unique_name)))].into_iter().collect();
        self.names.push(unique_name);
        self.schemas.push(std::mem::replace(schema, Value::Object(reference)));
    }
}

/// Measures a schema. Each named schema is measured separately: references are not followed.
fn measure(schema: &Value, level: usize, size: &mut Size) {
    let Value::Object(schema) = schema else { return };
    size.depth = size.depth.max(level);
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                size.properties += properties.len();
                for (name, property) in properties {
                    size.characters += name.chars().count();
                    measure_child(property, level, size);
                }
            }
            ("$defs", Value::Object(defs)) => {
                for (name, schema) in defs {
                    size.characters += name.chars().count();
                    measure(schema, 1, size);
                }
            }
            ("items", items) => measure_child(items, level, size),
            ("anyOf", Value::Array(variants)) => {
                variants.iter().for_each(|variant| measure(variant, level, size));
            }
            ("enum", Value::Array(values)) => {
                size.enum_values += values.len();
                size.characters += values.iter().map(value_length).sum::<usize>();
            }
            ("const", value) => size.characters += value_length(value),
            _ => {}
        }
    }
}

/// Measures the parts of a schema. Only objects and arrays are levels.
fn measure_child(schema: &Value, level: usize, size: &mut Size) {
    measure(schema, if has_children(schema) { level + 1 } else { level }, size);
}

fn has_children(schema: &Value) -> bool {
    ["properties", "items", "anyOf"].iter().any(|keyword| schema.get(keyword).is_some())
}

fn value_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    }
}
