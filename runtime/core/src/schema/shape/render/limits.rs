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
    for (what, found, limit) in counted {
        if let Some(limit) = limit.filter(|limit| found > *limit) {
            let reason = format!(
                "{title} takes at most {limit} {what}, the schema has {found}; split the tool or disable strict mode"
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
    let mut open: Vec<Value> = Vec::new();
    let mut names: Vec<String> = by_name.keys().cloned().collect();
    let known = names.len();
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("$defs");
    }
    let mut hoisted = Hoisted { limit, names: &mut names, found: &mut open };
    hoisted.within(schema, 1);
    by_name.values_mut().for_each(|schema| hoisted.within(schema, 1));
    let mut next = 0;
    while next < hoisted.found.len() {
        let mut inner = hoisted.found[next].take();
        hoisted.within(&mut inner, 1);
        hoisted.found[next] = inner;
        next += 1;
    }
    by_name.extend(names.split_off(known).into_iter().zip(open));
    if let (Value::Object(schema), false) = (schema, by_name.is_empty()) {
        schema.insert("$defs".into(), Value::Object(by_name));
    }
}

struct Hoisted<'a> {
    limit: usize,
    names: &'a mut Vec<String>,
    found: &'a mut Vec<Value>,
}

impl Hoisted<'_> {
    fn within(&mut self, schema: &mut Value, level: usize) {
        let Value::Object(schema) = schema else { return };
        for (keyword, value) in schema.iter_mut() {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    properties.iter_mut().for_each(|(name, property)| self.below(property, name, level));
                }
                ("items", items) => self.below(items, "item", level),
                ("anyOf", Value::Array(variants)) => {
                    variants.iter_mut().for_each(|variant| self.within(variant, level));
                }
                _ => {}
            }
        }
    }

    fn below(&mut self, schema: &mut Value, name: &str, level: usize) {
        if !nests(schema) {
            return;
        }
        if level < self.limit {
            return self.within(schema, level + 1);
        }
        let mut unique = name.to_owned();
        let mut number = 1;
        while self.names.contains(&unique) {
            number += 1;
            unique = format!("{name}_{number}");
        }
        let reference: Map<String, Value> =
            [(String::from("$ref"), Value::from(pointer::reference(&unique)))].into_iter().collect();
        self.names.push(unique);
        self.found.push(std::mem::replace(schema, Value::Object(reference)));
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
                    measure_below(property, level, size);
                }
            }
            ("$defs", Value::Object(defs)) => {
                for (name, schema) in defs {
                    size.characters += name.chars().count();
                    measure(schema, 1, size);
                }
            }
            ("items", items) => measure_below(items, level, size),
            ("anyOf", Value::Array(variants)) => {
                variants.iter().for_each(|variant| measure(variant, level, size));
            }
            ("enum", Value::Array(values)) => {
                size.enum_values += values.len();
                size.characters += values.iter().map(listed_length).sum::<usize>();
            }
            ("const", value) => size.characters += listed_length(value),
            _ => {}
        }
    }
}

/// Measures the parts of a schema. Only objects and arrays are levels.
fn measure_below(schema: &Value, level: usize, size: &mut Size) {
    measure(schema, if nests(schema) { level + 1 } else { level }, size);
}

fn nests(schema: &Value) -> bool {
    ["properties", "items", "anyOf"].iter().any(|keyword| schema.get(keyword).is_some())
}

fn listed_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    }
}
