//! Keywords for values of one type, next to variants of several types.
//!
//! `minimum` does not apply to strings. A schema without `type` is read as if its keywords implied one, which would
//! forbid the strings among its variants: `{oneOf: [{type: integer}, {const: auto}], minimum: 1}`. Such keywords move
//! into the variants that they apply to.

use std::cell::Cell;

use serde_json::{Value, json};

use super::{Object, Reader, form, implied};
use crate::base::json::type_name;
use crate::schema::shape::pointer;
use crate::schema::shape::read::Source;

/// Types of values. An integer is a number.
type Types = Vec<&'static str>;

const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Maximum number of schemas that are visited to find the types of one. The members of a longer `allOf`, which does
/// not occur in practice, are read as if their keywords implied their types.
const MAX_SEEN: usize = 500;

fn is_short(parts: &Value) -> bool {
    parts.as_array().is_some_and(|parts| parts.len() <= MAX_SEEN)
}

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Moves keywords of one type, next to variants of other types, into the variants that they apply to.
    pub(super) fn settle(&mut self, schema: &mut Object) {
        let composed = |keyword: &str| matches!(keyword, "$ref" | "allOf" | "anyOf" | "oneOf");
        let several: Vec<&str> =
            schema.keys().map(String::as_str).filter(|keyword| composed(keyword)).collect();
        let union = match several.as_slice() {
            [] => return,
            [only @ ("anyOf" | "oneOf")] => Some((*only).to_owned()),
            _ => None,
        };
        self.settle_parts(schema);
        let Some(taken) = self.taken_beside(schema, schema, None) else { return };
        let mut own = Object::new();
        schema.retain(|keyword, value| {
            let is_own = is_rule(keyword);
            if is_own {
                own.insert(keyword.clone(), value.take());
            }
            !is_own
        });
        let variants = union.as_ref().and_then(|union| schema.get(union)?.as_array());
        let variants: Option<Vec<Value>> =
            variants.and_then(|all| all.iter().map(|variant| self.with_rules(variant, &own)).collect());
        if let (Some(union), Some(variants)) = (union, variants) {
            schema.insert(union, variants.into());
        } else if let Value::Array(parts) = schema.entry("allOf").or_insert_with(|| json!([])) {
            parts.push(of_types(own, &taken));
        }
    }

    /// Like [`settle`](Self::settle), for the members of `allOf`: each is a rule for the values that the others
    /// allow.
    fn settle_parts(&self, schema: &mut Object) {
        let Some(Value::Array(parts)) = schema.get("allOf").filter(|parts| is_short(parts)) else { return };
        let mut settled: Vec<(usize, Value)> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let Value::Object(rules) = part else { continue };
            if rules.keys().all(|keyword| is_rule(keyword))
                && let Some(taken) = self.taken_beside(rules, schema, Some(index))
            {
                settled.push((index, of_types(rules.clone(), &taken)));
            }
        }
        let Some(Value::Array(parts)) = schema.get_mut("allOf") else { return };
        for (index, part) in settled {
            parts[index] = part;
        }
    }

    /// Returns the types that the parts of a schema allow, without one of its `allOf`, if there are others than those
    /// of the rules.
    fn taken_beside(&self, rules: &Object, schema: &Object, but: Option<usize>) -> Option<Types> {
        if names_type(rules) {
            return None;
        }
        let implied = implied(rules);
        if implied.is_empty() {
            return None;
        }
        let taken =
            in_common(self.with_target(|target| of_parts(schema, but, target, &Cell::new(MAX_SEEN))))?;
        let is_meant = |name: &&'static str| implied.contains(name);
        (taken.iter().any(is_meant) && !taken.iter().all(is_meant)).then_some(taken)
    }

    /// Returns a variant with rules for the values that they apply to, unless only `allOf` can express it.
    fn with_rules(&mut self, variant: &Value, own: &Object) -> Option<Value> {
        let implied = implied(own);
        let types = self.with_target(|target| types_taken(variant, target, &Cell::new(MAX_SEEN)))?;
        if !types.iter().any(|name| implied.contains(name)) {
            return Some(variant.clone());
        }
        let variant = variant.as_object().filter(|variant| !variant.contains_key("$ref"))?;
        let mut both = variant.clone();
        if !self.merge(&mut both, own) {
            return None;
        }
        if let Some(nullable) = variant.get("nullable") {
            both.insert("nullable".to_owned(), nullable.clone());
        }
        self.settle(&mut both);
        Some(Value::Object(both))
    }

    /// Calls `ask` with a function that returns the types of a reference's target.
    fn with_target<T>(&self, ask: impl FnOnce(&dyn Fn(&str) -> Option<Types>) -> T) -> T {
        ask(&|text| self.source.types_of(&pointer::referenced(text)?))
    }
}

/// Whether a schema itself names the types of its values.
fn names_type(schema: &Object) -> bool {
    ["type", "enum", "const"].iter().any(|keyword| schema.contains_key(*keyword))
}

/// Whether a keyword is a rule for values of one type.
fn is_rule(keyword: &str) -> bool {
    matches!(keyword, "properties" | "required") || form(keyword).is_some_and(|(_, of)| !of.is_empty())
}

/// Returns a schema that applies rules to values of one type and allows the other types.
fn of_types(mut rules: Object, taken: &[&'static str]) -> Value {
    let implied = implied(&rules);
    let others: Types = taken.iter().copied().filter(|name| !implied.contains(name)).collect();
    rules.insert("type".to_owned(), json!(implied));
    json!({"anyOf": [rules, {"type": others}]})
}

/// Returns the types of the values that a schema allows; `None` if it does not restrict them. `target` returns the
/// types of a reference's target, `left` is the number of schemas that may still be visited.
pub fn types_taken(
    schema: &Value,
    target: &dyn Fn(&str) -> Option<Vec<&'static str>>,
    remaining: &Cell<usize>,
) -> Option<Vec<&'static str>> {
    remaining.set(remaining.get().checked_sub(1)?);
    let schema = match schema {
        Value::Bool(false) => return Some(Types::new()),
        Value::Object(schema) => schema,
        _ => return None,
    };
    let named = |name: &Value| {
        TYPES.into_iter().find(|known| name == known || (name == "integer" && *known == "number"))
    };
    let mut parts = of_parts(schema, None, target, remaining);
    match (schema.get("type"), schema.get("const"), schema.get("enum")) {
        (Some(Value::Array(names)), ..) => parts.push(names.iter().map(named).collect()),
        (Some(name), ..) => parts.push(named(name).map(|name| vec![name])),
        (None, Some(value), _) => parts.push(Some(vec![type_name(value)])),
        (None, None, Some(Value::Array(values))) => parts.push(Some(values.iter().map(type_name).collect())),
        _ => {}
    }
    let implied = Some(implied(schema)).filter(|types| !types.is_empty());
    let mut taken = in_common(parts).or(implied)?;
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        taken.push("null");
    }
    Some(taken)
}

/// Returns the types that each part of a schema allows, without one of its `allOf`.
fn of_parts(
    schema: &Object,
    but: Option<usize>,
    target: &dyn Fn(&str) -> Option<Types>,
    remaining: &Cell<usize>,
) -> Vec<Option<Types>> {
    let below = |part: &Value| types_taken(part, target, remaining);
    let listed = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let mut parts: Vec<Option<Types>> = Vec::new();
    parts.extend(schema.get("$ref").and_then(Value::as_str).map(target));
    for variants in ["anyOf", "oneOf"].into_iter().filter_map(listed) {
        let taken: Option<Vec<Types>> = variants.iter().map(below).collect();
        parts.push(taken.map(|taken| taken.concat()));
    }
    let all = listed("allOf").into_iter().flatten().enumerate();
    parts.extend(all.filter(|(index, _)| Some(*index) != but).map(|(_, part)| below(part)));
    parts
}

/// Returns the types that all parts have in common. Parts without types are ignored; `None` if no part has types.
fn in_common(parts: Vec<Option<Types>>) -> Option<Types> {
    let both = |own: Types, other: Types| own.into_iter().filter(|name| other.contains(name)).collect();
    let mut common = parts.into_iter().flatten().reduce(both)?;
    common.sort_unstable();
    common.dedup();
    Some(common)
}
