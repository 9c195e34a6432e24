//! `oneOf`, `anyOf` and `allOf` as API descriptions use them.

use serde_json::{Value, json};

use super::{Object, Reader, allow_null};
use crate::base::json::type_name;
use crate::schema::shape::read::{CHOICES, Source, TITLE, plain_markdown};

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Merges a schema with its `allOf` and its unions of one variant.
    pub(super) fn compose(&mut self, object: &'a Object) -> Value {
        let mut out = self.read_keywords(object);
        let mut parts = match out.shift_remove("allOf") {
            Some(Value::Array(parts)) => parts,
            _ => Vec::new(),
        };
        for keyword in ["oneOf", "anyOf"] {
            if let (Some(Value::Array(variants)), Some(Value::Array(union))) =
                (out.shift_remove(keyword), object.get(keyword))
            {
                let variants = self.read_union(variants, union, object, &mut out);
                match only_variant(&variants) {
                    Some(only) => parts.push(only),
                    None => drop(out.insert(keyword.to_owned(), Value::Array(variants))),
                }
            }
        }
        if !out.contains_key("oneOf") && !out.contains_key("anyOf") {
            out.shift_remove("discriminator");
        }
        if parts.is_empty() {
            return Value::Object(out);
        }
        parts.push(Value::Object(out));
        let extends_base = self.source.is_heir(&self.path);
        self.join(parts, extends_base)
    }

    /// Reads the variants of a union, with the discriminator next to it.
    fn read_union(
        &mut self,
        mut variants: Vec<Value>,
        union: &'a [Value],
        object: &'a Object,
        out: &mut Object,
    ) -> Vec<Value> {
        for (variant, source) in variants.iter_mut().zip(union) {
            describe_by_title(variant, source);
            // Frameworks that generate OpenAPI 3.0 declare in this way that `null` is one of the variants.
            if union.len() > 1 && *source == json!({"nullable": true}) {
                *variant = json!({"type": "null"});
            }
        }
        variants.dedup_by(|later, first| is_same(first, later));
        if let Some(discriminator) = object.get("discriminator")
            && let Some(discriminator) =
                self.source.discriminator(discriminator, union, &variants, &self.path)
        {
            out.insert("discriminator".to_owned(), discriminator);
        }
        let variants = select_by_values(variants, out);
        drop_type_of_values(&variants, out);
        variants
    }
}

/// Returns the only variant of a union other than `null`. References stay, since they might not be read yet.
fn only_variant(variants: &[Value]) -> Option<Value> {
    let null = json!({"type": "null"});
    match variants {
        [only] => Some(only.clone()),
        [first, second] if *second == null || *first == null => {
            let mut value = if *second == null { first } else { second }.as_object()?.clone();
            let is_typed = value.contains_key("type") && !value.contains_key("$ref");
            allow_null(&mut value);
            is_typed.then_some(Value::Object(value))
        }
        _ => None,
    }
}

/// Selects variants by the enumerated values next to a union of single values; each variant describes its value.
fn select_by_values(variants: Vec<Value>, out: &mut Object) -> Vec<Value> {
    let values: Vec<Value> = match (out.get("const"), out.get("enum")) {
        (Some(value), None) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => return variants,
    };
    let selected: Vec<Value> = variants
        .iter()
        .filter(|variant| variant.get("const").is_some_and(|constant| values.contains(constant)))
        .cloned()
        .collect();
    let all_constant = variants.iter().all(|variant| variant.get("const").is_some());
    if !all_constant || selected.len() != values.len() {
        return variants;
    }
    out.shift_remove("const");
    out.shift_remove("enum");
    selected
}

/// Removes a redundant type next to single values of that type.
fn drop_type_of_values(variants: &[Value], out: &mut Object) {
    let Some(Value::String(name)) = out.get("type") else { return };
    let is_implied = variants.iter().all(|variant| match variant.get("const") {
        Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => {
            name == type_name(value) || (name == "integer" && value.is_i64())
        }
        _ => false,
    });
    if is_implied {
        out.shift_remove("type");
    }
}

/// Uses the title as the description if there is none. In a union it distinguishes variants, and for a field it may
/// be more informative than the key. Elsewhere it only repeats a name.
pub(super) fn describe_by_title(schema: &mut Value, source: &Value) {
    let title = source.get("title").and_then(Value::as_str).map(str::trim).filter(|title| !title.is_empty());
    if let (Some(title), Value::Object(object)) = (title, schema)
        && source.get("$ref").is_none()
        && !object.contains_key("description")
    {
        object.insert("description".to_owned(), Value::from(plain_markdown(title)));
    }
}

/// Keeps the title of a schema under a separate key, so that it is not used as a description. `null` needs no title,
/// and targets of references have names.
pub(super) fn keep_title(schema: &mut Object, source: &Object) {
    let is_named =
        schema.contains_key("$ref") || schema.get("type").is_some_and(|type_name| type_name == "null");
    if let Some(title) = source.get("title").and_then(Value::as_str).filter(|_| !is_named) {
        schema.insert(TITLE.to_owned(), Value::from(title));
    }
}

/// Whether two schemas are equal except for their names and the names of their values.
fn is_same(left: &Value, right: &Value) -> bool {
    let (Value::Object(left), Value::Object(right)) = (left, right) else { return left == right };
    let rules = |schema: &Object| schema.keys().filter(|key| *key != TITLE && *key != CHOICES).count();
    let mut entries = left.iter().filter(|(key, _)| *key != TITLE && *key != CHOICES);
    rules(left) == rules(right) && entries.all(|(key, value)| right.get(key) == Some(value))
}
