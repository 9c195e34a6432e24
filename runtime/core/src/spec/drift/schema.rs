//! Compares schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::keyword_change::{KeywordChange, Side, as_bool, compare_presence, compare_values, rule_change};
use super::{BeforeAfter, ChangeClass, NamedSchemas, ToolChanges, changed_members, differ};
use crate::base::canonical::canonical;
use crate::schema::shape::pointer::{child, referenced};

/// Returns the named schemas that a schema contains.
pub(in crate::spec) fn named_schemas_in(schema: Option<&Value>) -> NamedSchemas<'_> {
    let mut by_name = NamedSchemas::new();
    for key in ["definitions", "$defs"] {
        let members = schema.and_then(|schema| schema.get(key)).and_then(Value::as_object);
        by_name.extend(members.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema)));
    }
    by_name
}

impl ToolChanges<'_> {
    /// Compares two schemas at the same location.
    pub(in crate::spec) fn compare_schemas(&mut self, pointer: &str, values: BeforeAfter<'_>, side: Side) {
        let old_count = self.changes.len();
        match values {
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => {
                if !self.compare_references(pointer, old, new, side) {
                    for (key, values) in changed_members(old, new) {
                        self.compare_keyword(&child(pointer, key), key, values, (old, new), side);
                    }
                }
            }
            (Some(Value::Bool(_) | Value::Object(_)), Some(Value::Bool(_) | Value::Object(_))) => {
                self.report_suspicious(pointer, values);
                let change = match (as_bool(values.0), as_bool(values.1)) {
                    (old, new) if old == new => KeywordChange::Same,
                    (_, Some(true)) | (Some(false), _) => KeywordChange::Wider,
                    _ => KeywordChange::Narrower,
                };
                self.add_keyword_change(pointer, "the schema", values, change, side);
            }
            _ => self.add_unknown(pointer, values),
        }
        if self.changes.len() == old_count && differ(values) {
            self.add_unknown(pointer, values);
        }
    }

    /// Compares the schemas of results, which are optional.
    pub(in crate::spec) fn compare_outputs(&mut self, pointer: &str, values: BeforeAfter<'_>) {
        match values {
            (None, Some(_)) => {
                self.report_suspicious(pointer, values);
                self.add(pointer, ChangeClass::Compatible, "the tool now declares a schema of its results");
            }
            (Some(_), None) => {
                self.add(
                    pointer,
                    ChangeClass::Breaking,
                    "the tool no longer declares a schema of its results",
                );
            }
            _ => self.compare_schemas(pointer, values, Side::Output),
        }
    }

    /// Compares the targets of references, if they differ: a different name alone changes nothing. Returns whether the
    /// targets were compared.
    fn compare_references(&mut self, pointer: &str, old: &Value, new: &Value, side: Side) -> bool {
        let name = |schema: &Value| schema.get("$ref").and_then(Value::as_str).and_then(referenced);
        let (old_name, new_name) = (name(old), name(new));
        if old_name == new_name {
            return false;
        }
        let resolve = |schema: &Value, name: &Option<String>, by_name: &NamedSchemas<'_>| match name {
            Some(name) => by_name.get(name.as_str()).map(|target| merge_reference(schema, target)),
            None => Some(schema.clone()),
        };
        let (Some(old), Some(new)) =
            (resolve(old, &old_name, &self.named_schemas.0), resolve(new, &new_name, &self.named_schemas.1))
        else {
            return false;
        };
        let pair = old_name.zip(new_name);
        if let Some(class) = pair.as_ref().and_then(|pair| self.renamed.get(pair)).copied() {
            self.add(pointer, class, "the schema also has another name here");
        } else if differ((Some(&old), Some(&new))) {
            // A recursive use of the same pair is not another change.
            self.renamed.extend(pair.clone().map(|pair| (pair, ChangeClass::Text)));
            let old_count = self.changes.len();
            self.compare_schemas(pointer, (Some(&old), Some(&new)), side);
            let worst = self.changes.iter().skip(old_count).map(|change| change.class).max();
            self.renamed.extend(pair.zip(worst));
        } else {
            self.add(pointer, ChangeClass::Text, "the schema was renamed, but not changed");
        }
        true
    }

    fn add_keyword_change(
        &mut self,
        pointer: &str,
        subject: &str,
        values: BeforeAfter<'_>,
        change: KeywordChange,
        side: Side,
    ) {
        self.add_with_reason(pointer, change.class(side), subject, values);
    }

    /// Compares the values of one keyword. `schemas` are the schemas that contain it.
    fn compare_keyword(
        &mut self,
        pointer: &str,
        key: &str,
        values: BeforeAfter<'_>,
        schemas: (&Value, &Value),
        side: Side,
    ) {
        let (old, new) = values;
        let allow_all = Value::Bool(true);
        let subject = format!("`{key}`");
        let change = match key {
            "description" | "title" | "$comment" | "examples" | "deprecated" => {
                return self.add_text_change(pointer, values);
            }
            "properties" => return self.compare_properties(pointer, values, schemas.0, side),
            "$defs" | "definitions" => return self.compare_named_schemas(pointer, values, side),
            "items" | "additionalProperties" | "propertyNames" => {
                return self.compare_schemas(
                    pointer,
                    (old.or(Some(&allow_all)), new.or(Some(&allow_all))),
                    side,
                );
            }
            "anyOf" | "x-anyOf" => {
                return self.compare_alternatives(pointer, values, KeywordChange::Wider, side);
            }
            "allOf" | "x-all" => {
                return self.compare_alternatives(pointer, values, KeywordChange::Narrower, side);
            }
            // A value that two variants allow is not allowed: one more variant may allow fewer values in total.
            "oneOf" | "x-oneOf" => {
                return self.compare_alternatives(pointer, values, KeywordChange::Other, Side::Either);
            }
            "prefixItems" => return self.compare_tuples(pointer, values, side),
            "default" => {
                self.report_suspicious(pointer, values);
                let class = match (side, old) {
                    (Side::Input, None) => ChangeClass::Compatible,
                    (Side::Output, _) => ChangeClass::Text,
                    _ => {
                        let reason = "a call that omits the argument now has another meaning";
                        return self.add_with_reason(
                            pointer,
                            (ChangeClass::Breaking, reason),
                            &subject,
                            values,
                        );
                    }
                };
                return self.add_value_change(pointer, class, &subject, values);
            }
            "enum" | "const" | "x-enum" => {
                self.report_suspicious(pointer, values);
                compare_values(values, key == "const")
            }
            "multipleOf" | "pattern" | "format" | "contentEncoding" | "contentMediaType" => {
                self.report_suspicious(pointer, values);
                compare_presence(values)
            }
            _ => match rule_change(key, values, side) {
                Some(change) => change,
                None => return self.add_unknown(pointer, values),
            },
        };
        self.add_keyword_change(pointer, &subject, values, change, side);
    }

    /// Compares the fields of an object.
    fn compare_properties(
        &mut self,
        pointer: &str,
        (old, new): BeforeAfter<'_>,
        old_schema: &Value,
        side: Side,
    ) {
        let empty = Value::Object(Map::new());
        let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
        if !old.is_object() || !new.is_object() {
            return self.add_unknown(pointer, (Some(old), Some(new)));
        }
        let is_closed =
            old_schema.get("additionalProperties").is_some_and(|extra| extra != &Value::Bool(true));
        let changed = changed_members(old, new);
        if changed.is_empty() {
            self.add(pointer, ChangeClass::Text, "`properties` is written differently");
        }
        for (key, values) in changed {
            let pointer = child(pointer, key);
            match values {
                (Some(_), Some(_)) => self.compare_schemas(&pointer, values, side),
                (None, _) => {
                    self.report_suspicious(&pointer, values);
                    if self.report_suspicious_name(&pointer, key) {
                        continue;
                    }
                    // A caller that validates a result by the old schema rejects a field that the schema does not
                    // allow.
                    let is_compatible = side == Side::Input || (side == Side::Output && !is_closed);
                    let class = if is_compatible { ChangeClass::Compatible } else { ChangeClass::Breaking };
                    self.add(&pointer, class, format!("`{key}` was added"));
                }
                (_, None) => self.add(&pointer, ChangeClass::Breaking, format!("`{key}` was removed")),
            }
        }
    }

    /// Compares named schemas. A new one has no effect by itself: it is used only by references, which are separate
    /// changes.
    fn compare_named_schemas(&mut self, pointer: &str, (old, new): BeforeAfter<'_>, side: Side) {
        let empty = Value::Object(Map::new());
        let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
        if !old.is_object() || !new.is_object() {
            return self.add_unknown(pointer, (Some(old), Some(new)));
        }
        let changed = changed_members(old, new);
        if changed.is_empty() {
            self.add(pointer, ChangeClass::Text, "the named schemas are written differently");
        }
        for (key, values) in changed {
            let pointer = child(pointer, key);
            match values {
                (Some(_), Some(_)) => self.compare_schemas(&pointer, values, side),
                (None, _) => {
                    self.report_suspicious(&pointer, values);
                    self.add(
                        &pointer,
                        ChangeClass::Compatible,
                        format!("the named schema `{key}` was added"),
                    );
                }
                _ => {
                    self.add(
                        &pointer,
                        ChangeClass::Breaking,
                        format!("the named schema `{key}` was removed"),
                    );
                }
            }
        }
    }

    /// Compares lists of alternatives, or of schemas that must all match. `on_addition` is the effect of an additional
    /// item.
    fn compare_alternatives(
        &mut self,
        pointer: &str,
        (old, new): BeforeAfter<'_>,
        on_addition: KeywordChange,
        side: Side,
    ) {
        let (Some(Value::Array(old_items)), Some(Value::Array(new_items))) = (old, new) else {
            self.report_suspicious(pointer, (old, new));
            // A missing list restricts nothing.
            let change = compare_presence((old, new));
            return self.add_keyword_change(pointer, "the list", (old, new), change, side);
        };
        let unmatched = |items: &[Value], others: &[Value]| -> Vec<usize> {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            others.iter().for_each(|item| *counts.entry(canonical(item)).or_default() += 1);
            let mut is_matched = |item: &Value| match counts.get_mut(&canonical(item)) {
                Some(count @ 1..) => {
                    *count -= 1;
                    true
                }
                _ => false,
            };
            (0..).zip(items).filter(|(_, item)| !is_matched(item)).map(|(index, _)| index).collect()
        };
        let (removed, added) = (unmatched(old_items, new_items), unmatched(new_items, old_items));
        match (removed.as_slice(), added.as_slice()) {
            ([], []) => self.add_keyword_change(
                pointer,
                "the order of the list",
                (old, new),
                KeywordChange::Same,
                side,
            ),
            (removed, added) if removed.len() == added.len() => {
                for (old_index, new_index) in removed.iter().zip(added) {
                    self.compare_schemas(
                        &format!("{pointer}/{new_index}"),
                        (old_items.get(*old_index), new_items.get(*new_index)),
                        side,
                    );
                }
            }
            (removed, added) => {
                self.report_suspicious(pointer, (old, new));
                let change = match (removed, added) {
                    ([], _) => on_addition,
                    (_, []) => on_addition.flipped(),
                    _ => KeywordChange::Other,
                };
                self.add_keyword_change(pointer, "the list", (old, new), change, side);
            }
        }
    }

    /// Compares the schemas of the items of a tuple by position.
    fn compare_tuples(&mut self, pointer: &str, (old, new): BeforeAfter<'_>, side: Side) {
        match (old.and_then(Value::as_array), new.and_then(Value::as_array)) {
            (Some(old_items), Some(new_items)) if old_items.len() == new_items.len() => {
                let pairs = (0..)
                    .zip(old_items.iter().zip(new_items))
                    .filter(|(_, (old_item, new_item))| old_item != new_item);
                for (index, (old_item, new_item)) in pairs {
                    self.compare_schemas(
                        &format!("{pointer}/{index}"),
                        (Some(old_item), Some(new_item)),
                        side,
                    );
                }
            }
            _ => {
                self.report_suspicious(pointer, (old, new));
                self.add_keyword_change(pointer, "the items", (old, new), KeywordChange::Other, side);
            }
        }
    }
}

/// Returns the target of a reference, merged with the other keywords of the reference.
fn merge_reference(reference: &Value, target: &Value) -> Value {
    let mut merged = target.clone();
    if let (Value::Object(merged), Value::Object(siblings)) = (&mut merged, reference) {
        let siblings = siblings.iter().filter(|(key, _)| *key != "$ref");
        merged.extend(siblings.map(|(key, value)| (key.clone(), value.clone())));
    }
    merged
}
