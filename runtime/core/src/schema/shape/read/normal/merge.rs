//! Merges several schemas into one, for an `allOf` that a single schema can express.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{ANNOTATIONS, Object, Reader, allow_null};
use crate::schema::shape::pointer;
use crate::schema::shape::read::{CHOICES, Nesting, Source, TITLE};
use crate::schema::shape::rules::{self, Combination};

/// Maximum size of a named shape that is merged inline, in JSON values: as a part of the schema itself, and as a part
/// of a field. Without these limits, shapes that share fields with nested shared fields would grow without bound.
const MAX_BASE: usize = 20_000;
const MAX_FIELD: usize = 200;

/// Maximum nesting of merged fields that several parts share.
const MAX_MERGE: usize = 4;

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Merges all parts into one schema. The last annotation applies. Parts that cannot be merged stay in `allOf`.
    pub(super) fn intersect(&mut self, parts: Vec<Value>) -> Value {
        self.join(parts, false)
    }

    /// Like [`intersect`](Self::intersect). `extends`: the target of a single reference is also merged inline.
    pub(super) fn join(&mut self, parts: Vec<Value>, extends: bool) -> Value {
        let mut annotations = Object::new();
        let (mut remaining_parts, mut seen): (Vec<Object>, HashSet<Object>) = Default::default();
        for part in parts {
            let Value::Object(mut part) = part else {
                if part == Value::Bool(false) {
                    return part;
                }
                continue;
            };
            for key in ANNOTATIONS.into_iter().chain(["x-wire", TITLE, CHOICES]) {
                if let Some(value) = part.shift_remove(key) {
                    annotations.insert(key.to_owned(), value);
                }
            }
            if !part.is_empty() && seen.insert(part.clone()) {
                remaining_parts.push(part);
            }
        }
        let mut merged = match remaining_parts.len() {
            0 => Object::new(),
            1 if !extends => remaining_parts.swap_remove(0),
            _ => self.merge_all(remaining_parts, &mut annotations),
        };
        self.distribute_type_rules(&mut merged);
        merged.extend(annotations);
        Value::Object(merged)
    }

    fn merge_all(&mut self, parts: Vec<Object>, annotations: &mut Object) -> Object {
        let mut merged: Vec<Object> = Vec::new();
        self.merges += 1;
        for part in parts {
            let Some(part) = self.expand(&part, annotations) else {
                merged.push(part);
                continue;
            };
            if !merged.iter_mut().any(|other| self.merge(other, &part)) {
                merged.push(part);
            }
        }
        self.merges -= 1;
        merged.iter_mut().for_each(remove_duplicate_keys);
        match merged.len() {
            1 => merged.swap_remove(0),
            _ => Object::from_iter([("allOf".to_owned(), json!(merged))]),
        }
    }

    /// Returns a part in a form that can be merged, with references replaced by their targets. `None` if a target is
    /// being read or nested too deeply.
    fn expand(&mut self, part: &Object, annotations: &mut Object) -> Option<Object> {
        let Some(text) = part.get("$ref").and_then(Value::as_str) else { return Some(part.clone()) };
        let nullable = part.contains_key("nullable");
        if self.merges > MAX_MERGE || part.len() > 1 + usize::from(nullable) {
            return None;
        }
        let mut base = self.resolve_named(text)?;
        base.shift_remove(TITLE);
        // A base may only be an alias of its own base.
        for _ in 0..8 {
            let Some(next) = base.get("$ref").and_then(Value::as_str) else { break };
            if base.keys().any(|key| key != "$ref" && !ANNOTATIONS.contains(&key.as_str())) {
                return None;
            }
            base = self.resolve_named(next)?;
            base.shift_remove(TITLE);
        }
        if let Some(choices) = base.shift_remove(CHOICES) {
            annotations.entry(CHOICES).or_insert(choices);
        }
        let limit = if self.merges == 1 { MAX_BASE } else { MAX_FIELD };
        base.values().try_fold(limit, |remaining, value| remaining_after(value, remaining))?;
        for key in ANNOTATIONS {
            if let (Some(value), "description") = (base.shift_remove(key), key) {
                annotations.entry(key).or_insert(value);
            }
        }
        if base.contains_key("$ref") {
            return None;
        }
        // The base lists the types that extend it, and they extend the base: the extended type is already selected.
        for key in ["oneOf", "anyOf"] {
            let is_being_extended = base.get(key).and_then(Value::as_array).is_some_and(|variants| {
                let names = variants.iter().filter_map(|variant| variant.get("$ref")?.as_str());
                names.filter_map(pointer::referenced).any(|name| self.source.is_open(&name))
            });
            if is_being_extended {
                base.shift_remove(key);
                base.shift_remove("discriminator");
            }
        }
        if nullable {
            allow_null(&mut base);
        }
        Some(base)
    }

    /// Returns the target of a reference in normal form, if it can be read here.
    pub(super) fn resolve_named(&mut self, reference: &str) -> Option<Object> {
        let nesting = Nesting { schemas: self.enclosing_schemas + self.depth, merges: self.merges };
        self.source.named_schema(&pointer::referenced(reference)?, nesting)
    }

    /// Merges a schema into another, unless only `allOf` can express the result; then the other is unchanged. Common
    /// members are not copied: with many parts, that would take quadratic time.
    pub(super) fn merge(&mut self, left: &mut Object, right: &Object) -> bool {
        if left.contains_key("$ref") || right.contains_key("$ref") {
            return false;
        }
        let mut changes = Vec::new();
        for (key, value) in right.iter().filter(|(key, _)| *key != "nullable") {
            let change = match left.get(key) {
                None => Some(Change::Set(value.clone())),
                Some(existing) if existing == value => continue,
                Some(existing) => self.merge_keyword(key, existing, value),
            };
            let Some(change) = change else { return false };
            changes.push((key, change));
        }
        // `null` matches all parts or none.
        if !right.contains_key("nullable") {
            left.shift_remove("nullable");
        }
        for (key, change) in changes {
            change.apply(left, key);
        }
        true
    }

    fn merge_keyword(&mut self, key: &str, left: &Value, right: &Value) -> Option<Change> {
        Some(Change::Set(match key {
            "properties" | "patternProperties" => return self.merge_fields(left, right),
            "required" => {
                return left.is_array().then(|| right.as_array().cloned()).flatten().map(Change::Append);
            }
            "type" => common_types(left, right)?,
            "enum" => {
                let allowed: HashSet<&Value> = right.as_array().into_iter().flatten().collect();
                let common = left.as_array()?.iter().filter(|value| allowed.contains(value));
                let common: Vec<Value> = common.cloned().collect();
                (!common.is_empty()).then_some(Value::Array(common))?
            }
            "additionalProperties" => match (left, right) {
                // Literally, two closed objects allow only their common keys. The union is intended.
                (Value::Bool(_), _) if right.is_object() => right.clone(),
                (_, Value::Bool(_)) if left.is_object() => left.clone(),
                (Value::Bool(a), Value::Bool(b)) => Value::Bool(*a && *b),
                _ => self.intersect(vec![left.clone(), right.clone()]),
            },
            "items" => self.intersect(vec![left.clone(), right.clone()]),
            // An annotation rather than a rule: the later value is more specific.
            "format" => right.clone(),
            rule => match rules::keyword(rule)?.1.combination {
                Combination::Larger if left.as_f64()? >= right.as_f64()? => left.clone(),
                Combination::Smaller if left.as_f64()? <= right.as_f64()? => left.clone(),
                Combination::Larger | Combination::Smaller | Combination::Later => right.clone(),
                Combination::Same => return None,
            },
        }))
    }

    fn merge_fields(&mut self, left: &Value, right: &Value) -> Option<Change> {
        let (Value::Object(fields), Value::Object(other_fields)) = (left, right) else { return None };
        let mut changes = Vec::new();
        for (key, field) in other_fields {
            let merged = match fields.get(key) {
                None => field.clone(),
                Some(existing) if existing == field => continue,
                Some(existing) => self.intersect(vec![existing.clone(), field.clone()]),
            };
            changes.push((key.clone(), merged));
        }
        Some(Change::Insert(changes))
    }
}

/// The merged value of a keyword that two schemas have.
enum Change {
    /// Replaces the value.
    Set(Value),
    /// Appends values to an array. Some may already be present.
    Append(Vec<Value>),
    /// Inserts members into an object.
    Insert(Vec<(String, Value)>),
}

impl Change {
    fn apply(self, schema: &mut Object, key: &str) {
        match (self, schema.get_mut(key)) {
            (Change::Set(value), _) => drop(schema.insert(key.to_owned(), value)),
            (Change::Append(added), Some(Value::Array(existing))) => existing.extend(added),
            (Change::Insert(added), Some(Value::Object(existing))) => existing.extend(added),
            (Change::Append(_) | Change::Insert(_), _) => {}
        }
    }
}

/// Removes duplicates from `required`; the first occurrence stays.
fn remove_duplicate_keys(schema: &mut Object) {
    let Some(Value::Array(keys)) = schema.get_mut("required") else { return };
    let mut seen = HashSet::new();
    let is_new: Vec<bool> = keys.iter().map(|key| seen.insert(key.clone())).collect();
    let mut is_new = is_new.into_iter();
    keys.retain(|_| is_new.next().unwrap_or(true));
}

/// Subtracts the number of nested values from a limit; `None` if it is exceeded.
fn remaining_after(value: &Value, remaining: usize) -> Option<usize> {
    let remaining = remaining.checked_sub(1)?;
    match value {
        Value::Array(items) => {
            items.iter().try_fold(remaining, |remaining, item| remaining_after(item, remaining))
        }
        Value::Object(members) => {
            members.values().try_fold(remaining, |remaining, member| remaining_after(member, remaining))
        }
        _ => Some(remaining),
    }
}

/// Returns the types that both allow; an integer is a number.
fn common_types(left: &Value, right: &Value) -> Option<Value> {
    let list = |types: &Value| -> Vec<String> {
        match types {
            Value::String(name) => vec![name.clone()],
            Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let (left, right) = (list(left), list(right));
    let has = |types: &[String], name: &str| types.iter().any(|known| known == name);
    let allows =
        |types: &[String], name: &str| has(types, name) || (name == "integer" && has(types, "number"));
    let mut common: Vec<String> = left.iter().filter(|name| allows(&right, name)).cloned().collect();
    common.extend(right.iter().filter(|name| allows(&left, name) && !has(&left, name)).cloned());
    match common.as_slice() {
        [] => None,
        [name] => Some(json!(name)),
        names => Some(json!(names)),
    }
}
