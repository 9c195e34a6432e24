//! Keywords for values of one type, next to variants of several types.
//!
//! `minimum` does not apply to strings. A schema without `type` is read as if its keywords implied one, which would
//! forbid the strings among its variants: `{oneOf: [{type: integer}, {const: auto}], minimum: 1}`. Such keywords move
//! into the variants that they apply to.

use std::cell::Cell;

use serde_json::{Value, json};

use super::{Object, Reader, implied, keyword_form};
use crate::base::json::type_name;
use crate::schema::shape::pointer;
use crate::schema::shape::read::Source;

/// Types of values. An integer is a number.
type Types = Vec<&'static str>;

const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Maximum number of schemas that are visited to find the types of a schema. The members of a longer `allOf`, which
/// does not occur in practice, are read as if their keywords implied their types.
const MAX_VISITED: usize = 500;

fn is_short(parts: &Value) -> bool {
    parts.as_array().is_some_and(|parts| parts.len() <= MAX_VISITED)
}

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Moves keywords for one type, next to variants of other types, into the variants that they apply to.
    pub(super) fn distribute_type_rules(&mut self, schema: &mut Object) {
        let is_composition = |keyword: &str| matches!(keyword, "$ref" | "allOf" | "anyOf" | "oneOf");
        let compositions: Vec<&str> =
            schema.keys().map(String::as_str).filter(|keyword| is_composition(keyword)).collect();
        let union = match compositions.as_slice() {
            [] => return,
            [only @ ("anyOf" | "oneOf")] => Some((*only).to_owned()),
            _ => None,
        };
        self.distribute_in_parts(schema);
        let Some(types) = self.types_of_other_parts(schema, schema, None) else { return };
        let mut rules = Object::new();
        schema.retain(|keyword, value| {
            let is_moved = is_rule(keyword);
            if is_moved {
                rules.insert(keyword.clone(), value.take());
            }
            !is_moved
        });
        let variants = union.as_ref().and_then(|union| schema.get(union)?.as_array());
        let variants: Option<Vec<Value>> = variants.and_then(|variants| {
            variants.iter().map(|variant| self.add_rules_to_variant(variant, &rules)).collect()
        });
        if let (Some(union), Some(variants)) = (union, variants) {
            schema.insert(union, variants.into());
        } else if let Value::Array(parts) = schema.entry("allOf").or_insert_with(|| json!([])) {
            parts.push(for_types(rules, &types));
        }
    }

    /// Like [`distribute_type_rules`](Self::distribute_type_rules), for the members of `allOf`: each member is a rule
    /// for the values that the others allow.
    fn distribute_in_parts(&self, schema: &mut Object) {
        let Some(Value::Array(parts)) = schema.get("allOf").filter(|parts| is_short(parts)) else { return };
        let mut distributed: Vec<(usize, Value)> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let Value::Object(rules) = part else { continue };
            if rules.keys().all(|keyword| is_rule(keyword))
                && let Some(types) = self.types_of_other_parts(rules, schema, Some(index))
            {
                distributed.push((index, for_types(rules.clone(), &types)));
            }
        }
        let Some(Value::Array(parts)) = schema.get_mut("allOf") else { return };
        for (index, part) in distributed {
            parts[index] = part;
        }
    }

    /// Returns the types that the parts of a schema allow, without one of its `allOf`, if the rules apply only to some
    /// of these types.
    fn types_of_other_parts(&self, rules: &Object, schema: &Object, except: Option<usize>) -> Option<Types> {
        if names_type(rules) {
            return None;
        }
        let implied = implied(rules);
        if implied.is_empty() {
            return None;
        }
        let types = common_types(
            self.with_target(|target| types_of_parts(schema, except, target, &Cell::new(MAX_VISITED))),
        )?;
        let is_implied = |name: &&'static str| implied.contains(name);
        (types.iter().any(is_implied) && !types.iter().all(is_implied)).then_some(types)
    }

    /// Returns a variant with rules for the values that they apply to, unless only `allOf` can express it.
    fn add_rules_to_variant(&mut self, variant: &Value, rules: &Object) -> Option<Value> {
        let implied = implied(rules);
        let types = self.with_target(|target| types_taken(variant, target, &Cell::new(MAX_VISITED)))?;
        if !types.iter().any(|name| implied.contains(name)) {
            return Some(variant.clone());
        }
        let variant = variant.as_object().filter(|variant| !variant.contains_key("$ref"))?;
        let mut merged = variant.clone();
        if !self.merge(&mut merged, rules) {
            return None;
        }
        if let Some(nullable) = variant.get("nullable") {
            merged.insert("nullable".to_owned(), nullable.clone());
        }
        self.distribute_type_rules(&mut merged);
        Some(Value::Object(merged))
    }

    /// Calls `ask` with a function that returns the types of a reference's target.
    fn with_target<T>(&self, query: impl FnOnce(&dyn Fn(&str) -> Option<Types>) -> T) -> T {
        query(&|text| self.source.types_of(&pointer::referenced(text)?))
    }
}

/// Whether a schema itself names the types of its values.
fn names_type(schema: &Object) -> bool {
    ["type", "enum", "const"].iter().any(|keyword| schema.contains_key(*keyword))
}

/// Whether a keyword is a rule for values of one type.
fn is_rule(keyword: &str) -> bool {
    matches!(keyword, "properties" | "required")
        || keyword_form(keyword).is_some_and(|(_, type_name)| !type_name.is_empty())
}

/// Returns a schema that applies rules to values of one type and allows the other types.
fn for_types(mut rules: Object, types: &[&'static str]) -> Value {
    let implied = implied(&rules);
    let others: Types = types.iter().copied().filter(|name| !implied.contains(name)).collect();
    rules.insert("type".to_owned(), json!(implied));
    json!({"anyOf": [rules, {"type": others}]})
}

/// Returns the types of the values that a schema allows; `None` if it does not restrict them. `target` returns the
/// types of a reference's target, `remaining` is the number of schemas that may still be visited.
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
    let type_named = |name: &Value| {
        TYPES.into_iter().find(|type_name| name == type_name || (name == "integer" && *type_name == "number"))
    };
    let mut parts = types_of_parts(schema, None, target, remaining);
    match (schema.get("type"), schema.get("const"), schema.get("enum")) {
        (Some(Value::Array(names)), ..) => parts.push(names.iter().map(type_named).collect()),
        (Some(name), ..) => parts.push(type_named(name).map(|name| vec![name])),
        (None, Some(value), _) => parts.push(Some(vec![type_name(value)])),
        (None, None, Some(Value::Array(values))) => parts.push(Some(values.iter().map(type_name).collect())),
        _ => {}
    }
    let implied = Some(implied(schema)).filter(|types| !types.is_empty());
    let mut types = common_types(parts).or(implied)?;
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        types.push("null");
    }
    Some(types)
}

/// Returns the types that each part of a schema allows, without one of its `allOf`.
fn types_of_parts(
    schema: &Object,
    except: Option<usize>,
    target: &dyn Fn(&str) -> Option<Types>,
    remaining: &Cell<usize>,
) -> Vec<Option<Types>> {
    let recurse = |part: &Value| types_taken(part, target, remaining);
    let schemas = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let mut parts: Vec<Option<Types>> = Vec::new();
    parts.extend(schema.get("$ref").and_then(Value::as_str).map(target));
    for variants in ["anyOf", "oneOf"].into_iter().filter_map(schemas) {
        let types: Option<Vec<Types>> = variants.iter().map(recurse).collect();
        parts.push(types.map(|types| types.concat()));
    }
    let all = schemas("allOf").into_iter().flatten().enumerate();
    parts.extend(all.filter(|(index, _)| Some(*index) != except).map(|(_, part)| recurse(part)));
    parts
}

/// Returns the types that all parts have in common. Parts without types are ignored; `None` if no part has types.
fn common_types(parts: Vec<Option<Types>>) -> Option<Types> {
    let intersect =
        |types: Types, other: Types| types.into_iter().filter(|name| other.contains(name)).collect();
    let mut common = parts.into_iter().flatten().reduce(intersect)?;
    common.sort_unstable();
    common.dedup();
    Some(common)
}
