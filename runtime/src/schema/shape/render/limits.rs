//! Checks the size of a schema.

use serde_json::Value;

use super::Refusal;
use crate::schema::dialect::Limits;

#[derive(Default)]
struct Size {
    properties: usize,
    depth: usize,
    enum_values: usize,
    characters: usize,
}

/// Refuses a schema that is larger than a dialect accepts.
pub(super) fn check(schema: &Value, limits: &Limits, title: &str, refusals: &mut Vec<Refusal>) {
    let mut size = Size::default();
    measure(schema, 1, &mut size);
    let counted = [
        ("properties", size.properties, limits.properties),
        ("levels of objects and lists", size.depth, limits.depth),
        ("listed values", size.enum_values, limits.enum_values),
        ("characters in names and listed values", size.characters, limits.characters),
    ];
    for (what, found, limit) in counted {
        if let Some(limit) = limit.filter(|limit| found > *limit) {
            let reason = format!(
                "{title} takes at most {limit} {what}, the schema has {found}; split the tool or leave strict mode off"
            );
            refusals.push(Refusal { pointer: String::new(), reason });
        }
    }
}

/// Each named schema counts on its own: references are not followed.
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

/// Measures the parts of a schema; only objects and lists are levels.
fn measure_below(schema: &Value, level: usize, size: &mut Size) {
    let nests =
        schema.get("properties").is_some() || schema.get("items").is_some() || schema.get("anyOf").is_some();
    measure(schema, if nests { level + 1 } else { level }, size);
}

fn listed_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    }
}
