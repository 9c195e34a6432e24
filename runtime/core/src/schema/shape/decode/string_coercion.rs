//! Reads arguments that are sent as texts: one written in another type with the same text means the same.
//!
//! `7` and `"7"` are one text in a path, a query, a header or a form, so nothing is lost by taking either for an
//! integer. A value is read only if the schema does not allow the type in which it is written, and if there is only
//! one reading:
//!
//! - a text that is an integer, a decimal number, `true` or `false` in the form in which it is sent,
//! - an integer, `true` or `false` where a text is expected; a fraction is not read, since `1.10` and `1.1` are the same number,
//! - any of these that is one of the listed values,
//! - one item where a list is expected; a text only if it holds no comma,
//! - a text that is the JSON of the list or the object that is expected, and
//! - `null` for what may be left out and cannot be `null`.
//!
//! Whether what was read is allowed is checked afterwards, as for any value.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::describe::unique;
use super::fits;
use super::integers::rounded_integers;
use crate::base::frozen::{List, Text};
use crate::schema::shape::schema::takes_null;
use crate::schema::shape::{
    Access, ArrayRules, Def, Extra, Kind, Literal, ObjectRules, Shape, find_def, resolved,
};

/// References and choices nested deeper than this are not followed: they may be cyclic.
const MAX_DEPTH: usize = 16;
/// The most alternatives that are tried.
const MAX_LEAVES: usize = 64;

/// Returns the arguments, with those of these names, as the tool takes them, converted.
#[must_use]
pub fn read_texts<'v>(
    arguments: &'v Value,
    shape: &Shape,
    defs: &List<Def>,
    texts: &[Text],
) -> Cow<'v, Value> {
    let mut read = Cow::Borrowed(arguments);
    let (Value::Object(given), false) = (arguments, texts.is_empty()) else { return read };
    let Some(Kind::Object(rules)) = resolved(shape, defs).map(|shape| &shape.kind) else { return read };
    for (key, value) in given {
        let Some(field) = rules.field(key, Access::ReadOnly) else { continue };
        if !texts.iter().any(|name| *name == *field.wire_name()) {
            continue;
        }
        let absent = value.is_null() && !field.required && !takes_null(&field.shape, defs);
        let new = Reader { defs }.value(value, &field.shape);
        if let (true, Value::Object(changed)) = (absent || new.is_some(), read.to_mut()) {
            match new {
                Some(new) if !absent => drop(changed.insert(key.clone(), new)),
                _ => drop(changed.shift_remove(key)),
            }
        }
    }
    read
}

/// Returns what a value means in a place of this shape if only its text counts; `None` if it stays as it is.
#[must_use]
pub fn read_text(value: &Value, shape: &Shape, defs: &List<Def>) -> Option<Value> {
    Reader { defs }.value(value, shape)
}

struct Reader<'a> {
    defs: &'a List<Def>,
}

impl<'a> Reader<'a> {
    fn value(&self, value: &Value, shape: &'a Shape) -> Option<Value> {
        if value.is_null() {
            return None;
        }
        let leaves = self.leaves(shape)?;
        if let Some(listed) = self.listed(value, &leaves, shape) {
            return Some(listed);
        }
        if !leaves.iter().any(|leaf| takes_type(value, leaf)) {
            let scalar = self.only(leaves.iter().filter_map(|leaf| scalar(value, leaf)), shape);
            let compound = || leaves.iter().filter_map(|leaf| self.compound(value, leaf));
            return scalar.or_else(|| self.only(compound(), shape));
        }
        match (value, leaves.as_slice()) {
            (Value::Array(items), [Shape { kind: Kind::Array(rules), .. }]) => self.items(items, rules),
            (Value::Object(members), [Shape { kind: Kind::Object(rules), .. }]) => {
                self.members(members, rules)
            }
            _ => None,
        }
    }

    /// Returns the shapes any of which a value may have; `None` if that is not known.
    fn leaves(&self, shape: &'a Shape) -> Option<Vec<&'a Shape>> {
        let mut leaves = Vec::new();
        self.add(shape, 0, &mut leaves).then_some(leaves)
    }

    fn add(&self, shape: &'a Shape, depth: usize, leaves: &mut Vec<&'a Shape>) -> bool {
        if depth > MAX_DEPTH || leaves.len() > MAX_LEAVES {
            return false;
        }
        match &shape.kind {
            Kind::Any | Kind::Raw(_) => false,
            Kind::Ref(name) => {
                find_def(self.defs, name).is_some_and(|target| self.add(target, depth + 1, leaves))
            }
            Kind::Union(union) => union.variants.iter().all(|variant| self.add(variant, depth + 1, leaves)),
            // What fits all of them is of the type of each; the others are checked afterwards.
            Kind::All(parts) => parts.iter().any(|part| {
                let known = leaves.len();
                let added = self.add(part, depth + 1, leaves);
                if !added {
                    leaves.truncate(known);
                }
                added
            }),
            _ => {
                leaves.push(shape);
                true
            }
        }
    }

    /// Returns the only reading that fits, or the only one at all, whose problems the check then reports.
    fn only(&self, readings: impl Iterator<Item = Value>, shape: &Shape) -> Option<Value> {
        let mut all: Vec<Value> = readings.collect();
        unique(&mut all);
        if all.len() > 1 {
            all.retain(|reading| fits(reading, shape, self.defs));
        }
        all.pop().filter(|_| all.is_empty())
    }

    /// Returns a value as the list or object that it stands for.
    fn compound(&self, value: &Value, leaf: &'a Shape) -> Option<Value> {
        if let (Value::String(text), Kind::Array(_) | Kind::Tuple(_) | Kind::Object(_)) = (value, &leaf.kind)
            && text.trim_start().starts_with(['[', '{'])
        {
            let exact = |read: &Value| takes_type(read, leaf) && rounded_integers(text, read).is_empty();
            let read = serde_json::from_str(text).ok().filter(exact)?;
            return Some(self.value(&read, leaf).unwrap_or(read));
        }
        let Kind::Array(rules) = &leaf.kind else { return None };
        let one = match value {
            Value::String(text) if text.is_empty() || text.contains(',') => return None,
            Value::Array(_) | Value::Object(_) | Value::Null => return None,
            value => self.value(value, &rules.items).unwrap_or_else(|| value.clone()),
        };
        let types = self.leaves(&rules.items);
        let fits = types.is_none_or(|types| types.iter().any(|leaf| takes_type(&one, leaf)));
        fits.then(|| Value::Array(vec![one]))
    }

    /// Reads the items of a list, which are texts unless they are lists or objects themselves.
    fn items(&self, items: &[Value], rules: &'a ArrayRules) -> Option<Value> {
        let read: Vec<Option<Value>> = items.iter().map(|item| self.inner(item, &rules.items)).collect();
        let all = || read.iter().zip(items).map(|(read, item)| read.clone().unwrap_or_else(|| item.clone()));
        read.iter().any(Option::is_some).then(|| all().collect())
    }

    fn members(&self, members: &Map<String, Value>, rules: &'a ObjectRules) -> Option<Value> {
        let mut read = Cow::Borrowed(members);
        for (key, value) in members {
            let shape = match (rules.field(key, Access::ReadOnly), &rules.extra) {
                (Some(field), _) => &field.shape,
                (None, Extra::Of(shape)) => shape,
                _ => continue,
            };
            if let Some(new) = self.inner(value, shape) {
                read.to_mut().insert(key.clone(), new);
            }
        }
        matches!(read, Cow::Owned(_)).then(|| Value::Object(read.into_owned()))
    }

    /// Reads a scalar within a list or an object: lists and objects there are JSON.
    fn inner(&self, value: &Value, shape: &'a Shape) -> Option<Value> {
        let leaves = self.leaves(shape)?;
        if let Some(listed) = self.listed(value, &leaves, shape) {
            return Some(listed);
        }
        match leaves.iter().any(|leaf| takes_type(value, leaf)) {
            true => None,
            false => self.only(leaves.iter().filter_map(|leaf| scalar(value, leaf)), shape),
        }
    }

    /// Returns the listed value that has the same text, if the value is not one of those listed and nothing else takes
    /// its type.
    fn listed(&self, value: &Value, leaves: &[&'a Shape], shape: &Shape) -> Option<Value> {
        let (lists, others): (Vec<&Shape>, Vec<&Shape>) =
            leaves.iter().copied().partition(|leaf| matches!(leaf.kind, Kind::Enum(_)));
        if lists.is_empty() {
            return None;
        }
        let stays = others.iter().any(|leaf| takes_type(value, leaf)) || fits(value, shape, self.defs);
        (!stays).then(|| self.only(lists.iter().filter_map(|leaf| scalar(value, leaf)), shape))?
    }
}

/// Whether a shape that is not a choice allows values of the type of this one.
fn takes_type(value: &Value, leaf: &Shape) -> bool {
    match (&leaf.kind, value) {
        (_, Value::Null) => leaf.nullable || leaf.kind == Kind::Null,
        (Kind::Boolean, Value::Bool(_))
        | (Kind::Integer(_) | Kind::Number(_), Value::Number(_))
        | (Kind::String(_), Value::String(_))
        | (Kind::Array(_) | Kind::Tuple(_), Value::Array(_))
        | (Kind::Object(_), Value::Object(_)) => true,
        (Kind::Enum(values), value) => values.iter().any(|literal| match (literal, value) {
            (Literal::Bool(_), Value::Bool(_))
            | (Literal::Number(_), Value::Number(_))
            | (Literal::String(_), Value::String(_)) => true,
            (Literal::Json(_), _) => value.is_array() || value.is_object(),
            _ => false,
        }),
        _ => false,
    }
}

/// Returns a scalar as one of the type of a shape that has the same text.
fn scalar(value: &Value, leaf: &Shape) -> Option<Value> {
    let text = text_of(value)?;
    match &leaf.kind {
        Kind::String(_) => Some(Value::String(text)),
        Kind::Boolean => text.parse().ok().map(Value::Bool),
        Kind::Integer(_) => integer(&text),
        Kind::Number(_) => integer(&text).or_else(|| decimal(&text)),
        Kind::Enum(values) => {
            let mut same =
                values.iter().map(Literal::to_json).filter(|known| text_of(known).as_ref() == Some(&text));
            same.next().filter(|_| same.next().is_none())
        }
        _ => None,
    }
}

/// Returns the text of a scalar, if it was certainly written like that.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// Reads an integer of 64 bits that is written as it is sent: without `+`, blanks and zeros before it.
fn integer(text: &str) -> Option<Value> {
    let signed = text.parse::<i64>().ok().filter(|read| read.to_string() == text).map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().filter(|read| read.to_string() == text).map(Value::from))
}

/// Reads a decimal fraction that a floating point number holds as it is written, except for zeros at its end.
fn decimal(text: &str) -> Option<Value> {
    let (whole, fraction) = text.split_once('.')?;
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let read = text.parse::<f64>().ok().filter(|read| digits && read.is_finite())?;
    let rest = fraction.trim_end_matches('0');
    let written = if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") };
    (read.to_string() == written).then(|| Value::from(read))
}
