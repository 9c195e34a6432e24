//! Compares schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::keyword_change::{KeywordChange, Side, as_bool, listed, presence, rule};
use super::{BeforeAfter, ChangeClass, NamedSchemas, ToolChanges, differ, members};
use crate::base::canonical::canonical;
use crate::schema::shape::pointer::{child, referenced};

/// Returns the named schemas that a schema contains.
pub(in crate::spec) fn own_names(schema: Option<&Value>) -> NamedSchemas<'_> {
    let mut by_name = NamedSchemas::new();
    for key in ["definitions", "$defs"] {
        let members = schema.and_then(|schema| schema.get(key)).and_then(Value::as_object);
        by_name.extend(members.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema)));
    }
    by_name
}

impl ToolChanges<'_> {
    /// Compares two schemas at the same location.
    pub(in crate::spec) fn schema(&mut self, pointer: &str, given: BeforeAfter<'_>, side: Side) {
        let before = self.changes.len();
        match given {
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => {
                if !self.referred(pointer, old, new, side) {
                    for (key, given) in members(old, new) {
                        self.keyword(&child(pointer, key), key, given, (old, new), side);
                    }
                }
            }
            (Some(Value::Bool(_) | Value::Object(_)), Some(Value::Bool(_) | Value::Object(_))) => {
                self.suspicious(pointer, given);
                let turn = match (as_bool(given.0), as_bool(given.1)) {
                    (old, new) if old == new => KeywordChange::Same,
                    (_, Some(true)) | (Some(false), _) => KeywordChange::Wider,
                    _ => KeywordChange::Narrower,
                };
                self.turned(pointer, "the schema", given, turn, side);
            }
            _ => self.unknown(pointer, given),
        }
        if self.changes.len() == before && differ(given) {
            self.unknown(pointer, given);
        }
    }

    /// Compares the schemas of results, which are optional.
    pub(in crate::spec) fn output(&mut self, pointer: &str, given: BeforeAfter<'_>) {
        match given {
            (None, Some(_)) => {
                self.suspicious(pointer, given);
                self.add(pointer, ChangeClass::Compatible, "the tool now declares a schema of its results");
            }
            (Some(_), None) => {
                self.add(
                    pointer,
                    ChangeClass::Breaking,
                    "the tool no longer declares a schema of its results",
                );
            }
            _ => self.schema(pointer, given, Side::Output),
        }
    }

    /// Compares the targets of references, if they differ: a different name alone changes nothing. Returns whether the
    /// targets were compared.
    fn referred(&mut self, pointer: &str, old: &Value, new: &Value, side: Side) -> bool {
        let name = |schema: &Value| schema.get("$ref").and_then(Value::as_str).and_then(referenced);
        let (was, is) = (name(old), name(new));
        if was == is {
            return false;
        }
        let whole = |schema: &Value, name: &Option<String>, by_name: &NamedSchemas<'_>| match name {
            Some(name) => by_name.get(name.as_str()).map(|target| beside(schema, target)),
            None => Some(schema.clone()),
        };
        let (Some(old), Some(new)) =
            (whole(old, &was, &self.named_schemas.0), whole(new, &is, &self.named_schemas.1))
        else {
            return false;
        };
        let pair = was.zip(is);
        if let Some(class) = pair.as_ref().and_then(|pair| self.renamed.get(pair)).copied() {
            self.add(pointer, class, "the schema also has another name here");
        } else if differ((Some(&old), Some(&new))) {
            // A recursive use of the same pair is not another change.
            self.renamed.extend(pair.clone().map(|pair| (pair, ChangeClass::Text)));
            let before = self.changes.len();
            self.schema(pointer, (Some(&old), Some(&new)), side);
            let worst = self.changes.iter().skip(before).map(|change| change.class).max();
            self.renamed.extend(pair.zip(worst));
        } else {
            self.add(pointer, ChangeClass::Text, "the schema was renamed, but not changed");
        }
        true
    }

    fn turned(&mut self, pointer: &str, what: &str, given: BeforeAfter<'_>, turn: KeywordChange, side: Side) {
        self.changed_as(pointer, turn.class(side), what, given);
    }

    /// Compares the values of one keyword. `whole` are the schemas that contain it.
    fn keyword(
        &mut self,
        pointer: &str,
        key: &str,
        given: BeforeAfter<'_>,
        whole: (&Value, &Value),
        side: Side,
    ) {
        let (old, new) = given;
        let all = Value::Bool(true);
        let what = format!("`{key}`");
        let turn = match key {
            "description" | "title" | "$comment" | "examples" | "deprecated" => {
                return self.text(pointer, given);
            }
            "properties" => return self.properties(pointer, given, whole.0, side),
            "$defs" | "definitions" => return self.compare_named(pointer, given, side),
            "items" | "additionalProperties" | "propertyNames" => {
                return self.schema(pointer, (old.or(Some(&all)), new.or(Some(&all))), side);
            }
            "anyOf" | "x-anyOf" => return self.alternatives(pointer, given, KeywordChange::Wider, side),
            "allOf" | "x-all" => return self.alternatives(pointer, given, KeywordChange::Narrower, side),
            // A value that two variants allow is not allowed: one more variant may allow fewer values in total.
            "oneOf" | "x-oneOf" => {
                return self.alternatives(pointer, given, KeywordChange::Other, Side::Either);
            }
            "prefixItems" => return self.tuple(pointer, given, side),
            "default" => {
                self.suspicious(pointer, given);
                let class = match (side, old) {
                    (Side::Input, None) => ChangeClass::Compatible,
                    (Side::Output, _) => ChangeClass::Text,
                    _ => {
                        let reason = "a call that omits the argument now has another meaning";
                        return self.changed_as(pointer, (ChangeClass::Breaking, reason), &what, given);
                    }
                };
                return self.changed(pointer, class, &what, given);
            }
            "enum" | "const" | "x-enum" => {
                self.suspicious(pointer, given);
                listed(given, key == "const")
            }
            "multipleOf" | "pattern" | "format" | "contentEncoding" | "contentMediaType" => {
                self.suspicious(pointer, given);
                presence(given)
            }
            _ => match rule(key, given, side) {
                Some(turn) => turn,
                None => return self.unknown(pointer, given),
            },
        };
        self.turned(pointer, &what, given, turn, side);
    }

    /// Compares the fields of an object.
    fn properties(&mut self, pointer: &str, (old, new): BeforeAfter<'_>, whole: &Value, side: Side) {
        let none = Value::Object(Map::new());
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        if !old.is_object() || !new.is_object() {
            return self.unknown(pointer, (Some(old), Some(new)));
        }
        let closed = whole.get("additionalProperties").is_some_and(|extra| extra != &Value::Bool(true));
        let changed = members(old, new);
        if changed.is_empty() {
            self.add(pointer, ChangeClass::Text, "`properties` is written differently");
        }
        for (key, given) in changed {
            let at = child(pointer, key);
            match given {
                (Some(_), Some(_)) => self.schema(&at, given, side),
                (None, _) => {
                    self.suspicious(&at, given);
                    if self.suspicious_name(&at, key) {
                        continue;
                    }
                    // A caller that validates a result by the old schema rejects a field that the schema does not
                    // allow.
                    let fits = side == Side::Input || (side == Side::Output && !closed);
                    let class = if fits { ChangeClass::Compatible } else { ChangeClass::Breaking };
                    self.add(&at, class, format!("`{key}` was added"));
                }
                (_, None) => self.add(&at, ChangeClass::Breaking, format!("`{key}` was removed")),
            }
        }
    }

    /// Compares named schemas. A new one has no effect by itself: it is used only by references, which are separate
    /// changes.
    fn compare_named(&mut self, pointer: &str, (old, new): BeforeAfter<'_>, side: Side) {
        let none = Value::Object(Map::new());
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        if !old.is_object() || !new.is_object() {
            return self.unknown(pointer, (Some(old), Some(new)));
        }
        let changed = members(old, new);
        if changed.is_empty() {
            self.add(pointer, ChangeClass::Text, "the named schemas are written differently");
        }
        for (key, given) in changed {
            let at = child(pointer, key);
            match given {
                (Some(_), Some(_)) => self.schema(&at, given, side),
                (None, _) => {
                    self.suspicious(&at, given);
                    self.add(&at, ChangeClass::Compatible, format!("the named schema `{key}` was added"));
                }
                _ => self.add(&at, ChangeClass::Breaking, format!("the named schema `{key}` was removed")),
            }
        }
    }

    /// Compares lists of alternatives, or of schemas that must all match. `more` is the meaning of an additional item.
    fn alternatives(&mut self, pointer: &str, (old, new): BeforeAfter<'_>, more: KeywordChange, side: Side) {
        let (Some(Value::Array(was)), Some(Value::Array(is))) = (old, new) else {
            self.suspicious(pointer, (old, new));
            // A missing list is no rule.
            let turn = presence((old, new));
            return self.turned(pointer, "the list", (old, new), turn, side);
        };
        let remaining = |from: &[Value], other: &[Value]| -> Vec<usize> {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            other.iter().for_each(|one| *counts.entry(canonical(one)).or_default() += 1);
            let mut is_there = |one: &Value| match counts.get_mut(&canonical(one)) {
                Some(count @ 1..) => {
                    *count -= 1;
                    true
                }
                _ => false,
            };
            (0..).zip(from).filter(|(_, one)| !is_there(one)).map(|(index, _)| index).collect()
        };
        let (removed, added) = (remaining(was, is), remaining(is, was));
        match (removed.as_slice(), added.as_slice()) {
            ([], []) => self.turned(pointer, "the order of the list", (old, new), KeywordChange::Same, side),
            (removed, added) if removed.len() == added.len() => {
                for (was_at, is_at) in removed.iter().zip(added) {
                    self.schema(&format!("{pointer}/{is_at}"), (was.get(*was_at), is.get(*is_at)), side);
                }
            }
            (removed, added) => {
                self.suspicious(pointer, (old, new));
                let turn = match (removed, added) {
                    ([], _) => more,
                    (_, []) => more.flipped(),
                    _ => KeywordChange::Other,
                };
                self.turned(pointer, "the list", (old, new), turn, side);
            }
        }
    }

    /// Compares the schemas of the items of a tuple by position.
    fn tuple(&mut self, pointer: &str, (old, new): BeforeAfter<'_>, side: Side) {
        match (old.and_then(Value::as_array), new.and_then(Value::as_array)) {
            (Some(was), Some(is)) if was.len() == is.len() => {
                let pairs = (0..).zip(was.iter().zip(is)).filter(|(_, (was, is))| was != is);
                for (index, (was, is)) in pairs {
                    self.schema(&format!("{pointer}/{index}"), (Some(was), Some(is)), side);
                }
            }
            _ => {
                self.suspicious(pointer, (old, new));
                self.turned(pointer, "the items", (old, new), KeywordChange::Other, side);
            }
        }
    }
}

/// Returns the target of a reference, merged with the other keywords of the reference.
fn beside(reference: &Value, target: &Value) -> Value {
    let mut whole = target.clone();
    if let (Value::Object(whole), Value::Object(own)) = (&mut whole, reference) {
        let own = own.iter().filter(|(key, _)| *key != "$ref");
        whole.extend(own.map(|(key, value)| (key.clone(), value.clone())));
    }
    whole
}
