//! Keywords the tree has no form for.

use serde_json::{Value, json};

use super::{Builder, MAX_DEPTH, Object, ReadProblemKind, arrays};
use crate::schema::shape::read::{CHOICES, TITLE, within_depth};
use crate::schema::shape::{Kind, Shape};

/// Returns the keywords of a raw schema if they may be written unchanged and read back as the same text.
pub(in crate::schema::shape) fn is_natural(text: &str) -> Option<Object> {
    let Ok(Value::Object(schema)) = serde_json::from_str(text) else { return None };
    let mut parts = Vec::new();
    super::unlimited(&mut Vec::new(), false).raw(&schema, &mut parts);
    let all_known = schema.iter().all(|(keyword, value)| well_formed(keyword, value));
    // These two are also rules of lists and objects.
    let alone = !schema.contains_key("uniqueItems") && !schema.contains_key("unevaluatedProperties");
    let same = matches!(parts.as_slice(), [Shape { kind: Kind::Raw(read), .. }] if read == text);
    (all_known && alone && same).then_some(schema)
}

/// Whether a keyword constrains a value, has no form of its own in the tree, and has a value it may have.
pub(in crate::schema::shape) fn well_formed(keyword: &str, value: &Value) -> bool {
    let schema = |value: &Value| value.is_object() || value.is_boolean();
    match keyword {
        "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "contentSchema"
        | "unevaluatedItems"
        | "unevaluatedProperties" => schema(value),
        "dependentSchemas" => value.as_object().is_some_and(|schemas| schemas.values().all(schema)),
        "dependentRequired" | "dependencies" => value.is_object(),
        "minContains" | "maxContains" => value.is_u64(),
        "uniqueItems" => value.is_boolean(),
        "$dynamicRef" | "$recursiveRef" => value.is_string(),
        _ => false,
    }
}

impl Builder<'_> {
    pub(super) fn raw(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let mut raw = Object::new();
        for (keyword, value) in schema {
            if !well_formed(keyword, value) || has_no_effect(keyword, schema) {
                continue;
            }
            if self.limit != usize::MAX && !within_depth(value, MAX_DEPTH) {
                let message = format!("nested more than {MAX_DEPTH} levels deep, so ignored");
                self.at(keyword, |builder| builder.problem(ReadProblemKind::Depth, message));
            } else if keyword == "not" && (*value == json!(true) || *value == json!({})) {
                parts.push(Shape::of(Kind::Never));
            } else {
                raw.insert(keyword.clone(), without_titles(value));
            }
        }
        if !raw.is_empty() {
            parts.push(Shape::of(Kind::Raw(Value::Object(raw).to_string().into())));
        }
    }
}

/// Returns a schema as its author wrote it: titles and names of values in the normal form are for types.
fn without_titles(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let is_ours = |key: &str, value: &Value| {
                key == TITLE && value.is_string()
                    || key == CHOICES && value.get("values").is_some_and(Value::is_array)
            };
            let kept = object.iter().filter(|(key, value)| !is_ours(key, value));
            kept.map(|(key, value)| (key.clone(), without_titles(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_titles).collect(),
        other => other.clone(),
    }
}

/// Keywords without effect next to the rest of the schema, or that were read already.
fn has_no_effect(keyword: &str, schema: &Object) -> bool {
    match keyword {
        "then" | "else" => !schema.contains_key("if"),
        "minContains" | "maxContains" => !schema.contains_key("contains"),
        "uniqueItems" => arrays::tuple(schema).is_none(),
        "unevaluatedProperties" => schema.get(keyword) == Some(&json!(true)),
        _ => false,
    }
}
