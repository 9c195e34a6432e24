//! Rules that shapes keep as raw JSON and that types depend on.

use serde_json::{Map, Value, json};
use toolgen_core::Shape;
use toolgen_core::schema::shape::Kind;
use toolgen_core::schema::shape::read::read;

fn raw(shape: &Shape) -> Option<Map<String, Value>> {
    let Kind::Raw(text) = &shape.kind else { return None };
    serde_json::from_str(text).ok()
}

/// Whether a part of an `allOf` only restricts the values that the other parts describe.
pub(super) fn restricts(part: &Shape) -> bool {
    let is_rule = |(keyword, value): (&String, &Value)| match keyword.as_str() {
        "propertyNames" | "not" | "dependentRequired" | "contains" | "minContains" | "maxContains"
        | "uniqueItems" => true,
        "unevaluatedProperties" | "unevaluatedItems" => *value == Value::Bool(false),
        _ => false,
    };
    part.kind == Kind::Any || raw(part).is_some_and(|raw| raw.iter().all(is_rule))
}

/// Returns the only part of an `allOf` that describes values.
pub(super) fn describing_part(parts: &[Shape]) -> Option<&Shape> {
    let mut others = parts.iter().filter(|part| !restricts(part));
    others.next().filter(|_| others.next().is_none())
}

/// Returns the shape that the keys of an object must have, from the rules among the parts of an `allOf`.
pub(super) fn key_shape(shape: &Shape) -> Option<Shape> {
    match &shape.kind {
        Kind::All(parts) => parts.iter().find_map(key_shape),
        Kind::Raw(_) => {
            let mut rule = raw(shape)?.remove("propertyNames")?;
            let object = rule.as_object_mut()?;
            // Keys are strings even without a `type`.
            if !["$ref", "enum", "const", "type"].iter().any(|keyword| object.contains_key(*keyword)) {
                object.insert("type".to_owned(), json!("string"));
            }
            Some(read(&rule, &mut Vec::new()))
        }
        _ => None,
    }
}
