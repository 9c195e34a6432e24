//! Merges several schemas into one, for an `allOf` that a single schema can express.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Object, REMARKS, Reader, allow_null};
use crate::schema::shape::pointer;
use crate::schema::shape::read::{CHOICES, Nesting, Source, TITLE};
use crate::schema::shape::rules::{self, Together};

/// Maximum size of a named shape that is merged inline, in JSON values: as a part of the schema itself, and as a part
/// of a field. Without these limits, shapes that share fields with nested shared fields would grow without bound.
const MAX_BASE: usize = 20_000;
const MAX_FIELD: usize = 200;

/// Maximum nesting of merged fields that several parts share.
const MAX_MERGE: usize = 4;

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Merges all parts into one schema. The last annotation applies. Parts that cannot be merged stay in `allOf`.
    pub(super) fn intersection(&mut self, parts: Vec<Value>) -> Value {
        self.joined(parts, false)
    }

    /// Like [`intersection`](Self::intersection). `extends`: the target of a single reference is also merged inline.
    pub(super) fn joined(&mut self, parts: Vec<Value>, extends: bool) -> Value {
        let mut remarks = Object::new();
        let (mut rest, mut known): (Vec<Object>, HashSet<Object>) = Default::default();
        for part in parts {
            let Value::Object(mut part) = part else {
                if part == Value::Bool(false) {
                    return part;
                }
                continue;
            };
            for key in REMARKS.into_iter().chain(["x-wire", TITLE, CHOICES]) {
                if let Some(value) = part.shift_remove(key) {
                    remarks.insert(key.to_owned(), value);
                }
            }
            if !part.is_empty() && known.insert(part.clone()) {
                rest.push(part);
            }
        }
        let mut whole = match rest.len() {
            0 => Object::new(),
            1 if !extends => rest.swap_remove(0),
            _ => self.merge_all(rest, &mut remarks),
        };
        self.settle(&mut whole);
        whole.extend(remarks);
        Value::Object(whole)
    }

    fn merge_all(&mut self, parts: Vec<Object>, remarks: &mut Object) -> Object {
        let mut merged: Vec<Object> = Vec::new();
        self.merges += 1;
        for part in parts {
            let Some(part) = self.expanded(&part, remarks) else {
                merged.push(part);
                continue;
            };
            if !merged.iter_mut().any(|other| self.merge(other, &part)) {
                merged.push(part);
            }
        }
        self.merges -= 1;
        merged.iter_mut().for_each(each_once);
        match merged.len() {
            1 => merged.swap_remove(0),
            _ => Object::from_iter([("allOf".to_owned(), json!(merged))]),
        }
    }

    /// Returns a part in a form that can be merged, with references replaced by their targets. `None` if a target is
    /// being read or nested too deeply.
    fn expanded(&mut self, part: &Object, remarks: &mut Object) -> Option<Object> {
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
            if base.keys().any(|key| key != "$ref" && !REMARKS.contains(&key.as_str())) {
                return None;
            }
            base = self.resolve_named(next)?;
            base.shift_remove(TITLE);
        }
        if let Some(choices) = base.shift_remove(CHOICES) {
            remarks.entry(CHOICES).or_insert(choices);
        }
        let limit = if self.merges == 1 { MAX_BASE } else { MAX_FIELD };
        base.values().try_fold(limit, |room, value| room_after(value, room))?;
        for key in REMARKS {
            if let (Some(value), "description") = (base.shift_remove(key), key) {
                remarks.entry(key).or_insert(value);
            }
        }
        if base.contains_key("$ref") {
            return None;
        }
        // The base lists the types that extend it, and they extend the base: the extended type is already selected.
        for key in ["oneOf", "anyOf"] {
            let listed = base.get(key).and_then(Value::as_array).is_some_and(|variants| {
                let names = variants.iter().filter_map(|variant| variant.get("$ref")?.as_str());
                names.filter_map(pointer::referenced).any(|name| self.source.is_open(&name))
            });
            if listed {
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
        let nesting = Nesting { schemas: self.outer + self.depth, merges: self.merges };
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
                Some(own) if own == value => continue,
                Some(own) => self.merge_keyword(key, own, value),
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
                _ => self.intersection(vec![left.clone(), right.clone()]),
            },
            "items" => self.intersection(vec![left.clone(), right.clone()]),
            // An annotation rather than a rule: the later one is more specific.
            "format" => right.clone(),
            rule => match rules::keyword(rule)?.1.together {
                Together::Larger if left.as_f64()? >= right.as_f64()? => left.clone(),
                Together::Smaller if left.as_f64()? <= right.as_f64()? => left.clone(),
                Together::Larger | Together::Smaller | Together::Later => right.clone(),
                Together::Same => return None,
            },
        }))
    }

    fn merge_fields(&mut self, left: &Value, right: &Value) -> Option<Change> {
        let (Value::Object(fields), Value::Object(more)) = (left, right) else { return None };
        let mut changed = Vec::new();
        for (key, field) in more {
            let merged = match fields.get(key) {
                None => field.clone(),
                Some(own) if own == field => continue,
                Some(own) => self.intersection(vec![own.clone(), field.clone()]),
            };
            changed.push((key.clone(), merged));
        }
        Some(Change::Insert(changed))
    }
}

/// The merged value of a keyword that two schemas have.
enum Change {
    /// It has this value.
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
            (Change::Append(more), Some(Value::Array(own))) => own.extend(more),
            (Change::Insert(more), Some(Value::Object(own))) => own.extend(more),
            (Change::Append(_) | Change::Insert(_), _) => {}
        }
    }
}

/// Removes duplicates from `required`; the first occurrence stays.
fn each_once(schema: &mut Object) {
    let Some(Value::Array(keys)) = schema.get_mut("required") else { return };
    let mut seen = HashSet::new();
    let is_new: Vec<bool> = keys.iter().map(|key| seen.insert(key.clone())).collect();
    let mut is_new = is_new.into_iter();
    keys.retain(|_| is_new.next().unwrap_or(true));
}

/// Returns what a limit on the number of values leaves; `None` if it is exceeded.
fn room_after(value: &Value, room: usize) -> Option<usize> {
    let room = room.checked_sub(1)?;
    match value {
        Value::Array(items) => items.iter().try_fold(room, |room, item| room_after(item, room)),
        Value::Object(members) => members.values().try_fold(room, |room, member| room_after(member, room)),
        _ => Some(room),
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
    let has = |types: &[String], name: &str| types.iter().any(|own| own == name);
    let allows =
        |types: &[String], name: &str| has(types, name) || (name == "integer" && has(types, "number"));
    let mut common: Vec<String> = left.iter().filter(|name| allows(&right, name)).cloned().collect();
    common.extend(right.iter().filter(|name| allows(&left, name) && !has(&left, name)).cloned());
    match common.as_slice() {
        [] => None,
        [one] => Some(json!(one)),
        many => Some(json!(many)),
    }
}
