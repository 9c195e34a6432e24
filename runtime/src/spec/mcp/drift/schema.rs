//! Changes of schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::super::canonical::canonical;
use super::{Class, Found, members, told};

/// Who must keep to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The caller: more is allowed is compatible.
    Input,
    /// The server: less is allowed is compatible.
    Output,
    /// A place where neither is known to be.
    Either,
}

/// What became of the values that a keyword allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The same ones, written differently.
    Same,
    Wider,
    Narrower,
    /// Others.
    Other,
}

impl Turn {
    fn flipped(self) -> Turn {
        match self {
            Turn::Wider => Turn::Narrower,
            Turn::Narrower => Turn::Wider,
            other => other,
        }
    }

    fn class(self, side: Side) -> Class {
        match (self, side) {
            (Turn::Same, _) => Class::Text,
            (Turn::Wider, Side::Input) | (Turn::Narrower, Side::Output) => Class::Compatible,
            _ => Class::Breaking,
        }
    }
}

/// The types of JSON Schema, an integer being a number as well.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

type Given<'v> = Option<&'v Value>;

impl Found<'_> {
    /// Compares two schemas that stand at one place.
    pub(super) fn schema(&mut self, pointer: &str, old: Given<'_>, new: Given<'_>, side: Side) {
        let before = self.changes.len();
        match (old, new) {
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => {
                for (key, was, is) in members(old, new) {
                    let at = format!("{pointer}/{}", escaped(key));
                    self.keyword(&at, key, (was, is), (old, new), side);
                }
            }
            (Some(Value::Bool(_) | Value::Object(_)), Some(Value::Bool(_) | Value::Object(_))) => {
                self.suspicious(pointer, old, new);
                let turn = match (as_bool(old), as_bool(new)) {
                    (old, new) if old == new => Turn::Same,
                    (_, Some(true)) | (Some(false), _) => Turn::Wider,
                    _ => Turn::Narrower,
                };
                self.turned(pointer, "the schema", (old, new), turn, side);
            }
            _ => self.unknown(pointer, old, new),
        }
        if self.changes.len() == before && old.map(canonical) != new.map(canonical) {
            self.unknown(pointer, old, new);
        }
    }

    fn turned(
        &mut self,
        pointer: &str,
        what: &str,
        (old, new): (Given<'_>, Given<'_>),
        turn: Turn,
        side: Side,
    ) {
        self.add(pointer, turn.class(side), &told(what, old, new));
    }

    /// Compares the values of one keyword. `whole` are the schemas it stands in.
    fn keyword(
        &mut self,
        pointer: &str,
        key: &str,
        (old, new): (Given<'_>, Given<'_>),
        whole: (&Value, &Value),
        side: Side,
    ) {
        let what = format!("`{key}`");
        let turn = match key {
            "description" | "title" | "$comment" | "examples" | "deprecated" => {
                return self.text(pointer, old, new);
            }
            "properties" => return self.properties(pointer, (old, new), whole.0, side),
            "$defs" | "definitions" => return self.named(pointer, old, new, side),
            "items" | "additionalProperties" => {
                let all = Value::Bool(true);
                return self.schema(pointer, old.or(Some(&all)), new.or(Some(&all)), side);
            }
            "anyOf" => return self.alternatives(pointer, (old, new), Turn::Wider, side),
            "allOf" => return self.alternatives(pointer, (old, new), Turn::Narrower, side),
            // A value that two of them allow is not allowed: more in one may be less in all.
            "oneOf" => return self.alternatives(pointer, (old, new), Turn::Other, Side::Either),
            "default" => {
                self.suspicious(pointer, old, new);
                let class = match (side, old) {
                    (Side::Input, None) => Class::Compatible,
                    (Side::Output, _) => Class::Text,
                    // A call that leaves the argument out means something else.
                    _ => Class::Breaking,
                };
                return self.add(pointer, class, &told(&what, old, new));
            }
            "type" => types(old, new),
            "enum" | "const" => {
                self.suspicious(pointer, old, new);
                listed(old, new, key == "const")
            }
            "required" => sets(texts_of(old, &[]), texts_of(new, &[])).map_or(Turn::Other, Turn::flipped),
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                bound(old, new, false)
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                bound(old, new, true)
            }
            "multipleOf" | "pattern" | "format" | "contentEncoding" | "contentMediaType" => {
                self.suspicious(pointer, old, new);
                presence(old, new)
            }
            "uniqueItems" => match (old.unwrap_or(&Value::Bool(false)), new.unwrap_or(&Value::Bool(false))) {
                (Value::Bool(old), Value::Bool(new)) if old == new => Turn::Same,
                (Value::Bool(_), Value::Bool(new)) => {
                    if *new {
                        Turn::Narrower
                    } else {
                        Turn::Wider
                    }
                }
                _ => Turn::Other,
            },
            _ => return self.unknown(pointer, old, new),
        };
        self.turned(pointer, &what, (old, new), turn, side);
    }

    /// Compares the fields of an object.
    fn properties(&mut self, pointer: &str, (old, new): (Given<'_>, Given<'_>), whole: &Value, side: Side) {
        let none = Value::Object(Map::new());
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        if !old.is_object() || !new.is_object() {
            return self.unknown(pointer, Some(old), Some(new));
        }
        let closed = whole.get("additionalProperties").is_some_and(|extra| extra != &Value::Bool(true));
        let changed = members(old, new);
        if changed.is_empty() {
            self.add(pointer, Class::Text, "`properties` is written differently");
        }
        for (key, old, new) in changed {
            let at = format!("{pointer}/{}", escaped(key));
            match (old, new) {
                (Some(_), Some(_)) => self.schema(&at, old, new, side),
                (None, _) => {
                    self.suspicious(&at, old, new);
                    if self.of_name(&at, key) {
                        continue;
                    }
                    // Whoever checks a result by the schema he knows refuses a field that it does not allow.
                    let fits = side == Side::Input || (side == Side::Output && !closed);
                    let class = if fits { Class::Compatible } else { Class::Breaking };
                    self.add(&at, class, &format!("`{key}` was added"));
                }
                (_, None) => self.add(&at, Class::Breaking, &format!("`{key}` was removed")),
            }
        }
    }

    /// Reports a name that is suspicious.
    fn of_name(&mut self, pointer: &str, name: &str) -> bool {
        let found = super::of_text(name, self.others);
        if let Some(what) = &found {
            self.add(pointer, Class::Security, &format!("the name {what}"));
        }
        found.is_some()
    }

    /// Compares named schemas. One that is new is only used by what refers to it, which is another change.
    fn named(&mut self, pointer: &str, old: Given<'_>, new: Given<'_>, side: Side) {
        let none = Value::Object(Map::new());
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        if !old.is_object() || !new.is_object() {
            return self.unknown(pointer, Some(old), Some(new));
        }
        let changed = members(old, new);
        if changed.is_empty() {
            self.add(pointer, Class::Text, "the named schemas are written differently");
        }
        for (key, old, new) in changed {
            let at = format!("{pointer}/{}", escaped(key));
            match (old, new) {
                (Some(_), Some(_)) => self.schema(&at, old, new, side),
                (None, _) => {
                    self.suspicious(&at, old, new);
                    self.add(&at, Class::Compatible, &format!("the named schema `{key}` was added"));
                }
                _ => self.add(&at, Class::Breaking, &format!("the named schema `{key}` was removed")),
            }
        }
    }

    /// Compares lists of alternatives, or of schemas that all hold. `more` is what one more of them means.
    fn alternatives(&mut self, pointer: &str, (old, new): (Given<'_>, Given<'_>), more: Turn, side: Side) {
        let (Some(Value::Array(was)), Some(Value::Array(is))) = (old, new) else {
            self.suspicious(pointer, old, new);
            // None at all is no rule.
            let turn = presence(old, new);
            return self.turned(pointer, "the list", (old, new), turn, side);
        };
        let left = |from: &[Value], other: &[Value]| -> Vec<usize> {
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
        let (removed, added) = (left(was, is), left(is, was));
        match (removed.as_slice(), added.as_slice()) {
            ([], []) => self.turned(pointer, "the order of the list", (old, new), Turn::Same, side),
            (removed, added) if removed.len() == added.len() => {
                for (was_at, is_at) in removed.iter().zip(added) {
                    self.schema(&format!("{pointer}/{is_at}"), was.get(*was_at), is.get(*is_at), side);
                }
            }
            (removed, added) => {
                self.suspicious(pointer, old, new);
                let turn = match (removed, added) {
                    ([], _) => more,
                    (_, []) => more.flipped(),
                    _ => Turn::Other,
                };
                self.turned(pointer, "the list", (old, new), turn, side);
            }
        }
    }
}

/// Returns a schema that allows everything or nothing as what it is.
fn as_bool(schema: Given<'_>) -> Option<bool> {
    match schema {
        Some(Value::Bool(all)) => Some(*all),
        Some(Value::Object(members)) if members.is_empty() => Some(true),
        _ => None,
    }
}

/// Compares sets of allowed values.
fn sets(old: Option<BTreeSet<String>>, new: Option<BTreeSet<String>>) -> Option<Turn> {
    let (old, new) = (old?, new?);
    Some(match (old.is_subset(&new), new.is_subset(&old)) {
        (true, true) => Turn::Same,
        (true, false) => Turn::Wider,
        (false, true) => Turn::Narrower,
        (false, false) => Turn::Other,
    })
}

/// Returns the texts of a list, or of one text. `None` if it has something else.
fn texts_of(value: Given<'_>, default: &[&str]) -> Option<BTreeSet<String>> {
    match value {
        None => Some(default.iter().map(|text| (*text).to_owned()).collect()),
        Some(Value::String(text)) => Some(BTreeSet::from([text.clone()])),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    }
}

fn types(old: Given<'_>, new: Given<'_>) -> Turn {
    let all = |value: Given<'_>| {
        let mut types = texts_of(value, &TYPES)?;
        if types.contains("number") {
            types.insert("integer".to_owned());
        }
        types.iter().all(|one| TYPES.contains(&one.as_str())).then_some(types)
    };
    sets(all(old), all(new)).unwrap_or(Turn::Other)
}

/// Compares lists of allowed values, or single ones. No list allows everything.
fn listed(old: Given<'_>, new: Given<'_>, single: bool) -> Turn {
    let values = |value: &Value| -> Option<BTreeSet<String>> {
        match value {
            _ if single => Some(BTreeSet::from([canonical(value)])),
            Value::Array(items) => Some(items.iter().map(canonical).collect()),
            _ => None,
        }
    };
    match (old, new) {
        (Some(old), Some(new)) => sets(values(old), values(new)).unwrap_or(Turn::Other),
        _ => presence(old, new),
    }
}

/// Compares bounds: none allows the most.
fn bound(old: Given<'_>, new: Given<'_>, upper: bool) -> Turn {
    match (old.map(Value::as_f64), new.map(Value::as_f64)) {
        (Some(Some(old)), Some(Some(new))) if old < new => {
            if upper {
                Turn::Wider
            } else {
                Turn::Narrower
            }
        }
        (Some(Some(old)), Some(Some(new))) if old > new => {
            if upper {
                Turn::Narrower
            } else {
                Turn::Wider
            }
        }
        (Some(Some(_)), None) | (None, Some(Some(_))) => presence(old, new),
        _ => Turn::Other,
    }
}

/// Compares rules of which it is only known that none allows the most.
fn presence(old: Given<'_>, new: Given<'_>) -> Turn {
    match (old, new) {
        (None, Some(_)) => Turn::Narrower,
        (Some(_), None) => Turn::Wider,
        _ => Turn::Other,
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
