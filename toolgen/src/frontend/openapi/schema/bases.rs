//! Handles bases that list their own extensions: `Pet: {properties, oneOf: [Cat, Dog]}` where `Cat` and `Dog` are
//! `allOf: [Pet, …]`. Each extension repeats the base, so the base can be the bare union.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

const OBJECT: [&str; 3] = ["type", "properties", "required"];

/// Removes from unions the fields that each of their variants also has.
pub(super) fn drop_repeated(shapes: &mut BTreeMap<String, Value>) {
    let repeated: Vec<String> = shapes
        .iter()
        .filter(|(_, shape)| says_no_more(shape, shapes))
        .map(|(name, _)| name.clone())
        .collect();
    for name in repeated {
        if let Some(Value::Object(shape)) = shapes.get_mut(&name) {
            for key in OBJECT {
                shape.shift_remove(key);
            }
        }
    }
}

fn says_no_more(shape: &Value, shapes: &BTreeMap<String, Value>) -> bool {
    let Value::Object(base) = shape else { return false };
    if !base.contains_key("properties") || base.contains_key("additionalProperties") {
        return false;
    }
    let variants = base.get("oneOf").or(base.get("anyOf")).and_then(Value::as_array);
    variants.is_some_and(|variants| {
        variants.iter().all(|variant| {
            let name =
                variant.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"));
            let target = name.and_then(|name| shapes.get(name)).and_then(Value::as_object);
            target.is_some_and(|target| extends(target, base))
        })
    })
}

fn extends(variant: &Map<String, Value>, base: &Map<String, Value>) -> bool {
    let fields = |schema: &Map<String, Value>| schema.get("properties").and_then(Value::as_object).cloned();
    let (own, shared) = (fields(variant).unwrap_or_default(), fields(base).unwrap_or_default());
    let required = |schema: &Map<String, Value>| schema.get("required").and_then(Value::as_array).cloned();
    let (needs, needed) = (required(variant).unwrap_or_default(), required(base).unwrap_or_default());
    variant.get("type") == base.get("type")
        && shared.iter().all(|(key, field)| own.get(key).is_some_and(|own| own == field || is_listed(own)))
        && needed.iter().all(|key| needs.contains(key))
}

/// Whether a variant's field lists the values of the discriminating property, as the base's does not.
fn is_listed(field: &Value) -> bool {
    field.get("const").or(field.get("enum")).is_some()
}
