//! Reads arguments that are sent as strings: values of different types that are sent as the same string are
//! equivalent.
//!
//! In a path, a query, a header or a form, `7` and `"7"` are sent as the same string, so either is accepted for an
//! integer. A value is converted only if the schema does not allow its own type, and if the conversion is
//! unambiguous:
//!
//! - a string that is an integer, a decimal number, `true` or `false`, in the form in which it is sent,
//! - an integer, `true` or `false` where a string is expected; fractions are not converted, since `1.10` and `1.1`
//!   are the same number,
//! - any of these, to one of the enumerated values,
//! - a single item where an array is expected; a string only if it contains no comma,
//! - a string that contains the JSON of the expected array or object, and
//! - `null` for a value that may be absent and cannot be `null`.
//!
//! The result is validated afterwards, like any value.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::describe::remove_duplicates;
use super::fits;
use super::integers::rounded_integers;
use crate::base::frozen::{List, Text};
use crate::schema::shape::schema::allows_null;
use crate::schema::shape::{
    Access, ArrayRules, Def, Extra, Kind, Literal, ObjectRules, Shape, find_def, resolved,
};

/// Maximum depth to which references and unions are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;
/// Maximum number of alternatives that are tried.
const MAX_LEAVES: usize = 64;

/// Returns the arguments as the tool takes them, with those of these names converted.
#[must_use]
pub fn coerce_strings<'v>(
    arguments: &'v Value,
    shape: &Shape,
    defs: &List<Def>,
    texts: &[Text],
) -> Cow<'v, Value> {
    let mut result = Cow::Borrowed(arguments);
    let (Value::Object(members), false) = (arguments, texts.is_empty()) else { return result };
    let Some(Kind::Object(rules)) = resolved(shape, defs).map(|shape| &shape.kind) else { return result };
    for (key, value) in members {
        let Some(field) = rules.field(key, Access::ReadOnly) else { continue };
        if !texts.iter().any(|name| *name == *field.wire_name()) {
            continue;
        }
        let is_absent = value.is_null() && !field.required && !allows_null(&field.shape, defs);
        let coerced = Coercer { defs }.coerce(value, &field.shape);
        if let (true, Value::Object(changed)) = (is_absent || coerced.is_some(), result.to_mut()) {
            match coerced {
                Some(coerced) if !is_absent => drop(changed.insert(key.clone(), coerced)),
                _ => drop(changed.shift_remove(key)),
            }
        }
    }
    result
}

/// Converts a value of this shape that is sent as a string; `None` if it stays unchanged.
#[must_use]
pub fn read_text(value: &Value, shape: &Shape, defs: &List<Def>) -> Option<Value> {
    Coercer { defs }.coerce(value, shape)
}

struct Coercer<'a> {
    defs: &'a List<Def>,
}

impl<'a> Coercer<'a> {
    fn coerce(&self, value: &Value, shape: &'a Shape) -> Option<Value> {
        if value.is_null() {
            return None;
        }
        let leaves = self.leaves(shape)?;
        if let Some(enumerated) = self.coerce_to_enum(value, &leaves, shape) {
            return Some(enumerated);
        }
        if !leaves.iter().any(|leaf| allows_type(value, leaf)) {
            let scalar =
                self.only_conversion(leaves.iter().filter_map(|leaf| coerce_scalar(value, leaf)), shape);
            let compound = || leaves.iter().filter_map(|leaf| self.coerce_compound(value, leaf));
            return scalar.or_else(|| self.only_conversion(compound(), shape));
        }
        match (value, leaves.as_slice()) {
            (Value::Array(items), [Shape { kind: Kind::Array(rules), .. }]) => {
                self.coerce_items(items, rules)
            }
            (Value::Object(members), [Shape { kind: Kind::Object(rules), .. }]) => {
                self.coerce_members(members, rules)
            }
            _ => None,
        }
    }

    /// Returns the alternative shapes of a value; `None` if they are unknown.
    fn leaves(&self, shape: &'a Shape) -> Option<Vec<&'a Shape>> {
        let mut leaves = Vec::new();
        self.collect_leaves(shape, 0, &mut leaves).then_some(leaves)
    }

    fn collect_leaves(&self, shape: &'a Shape, depth: usize, leaves: &mut Vec<&'a Shape>) -> bool {
        if depth > MAX_DEPTH || leaves.len() > MAX_LEAVES {
            return false;
        }
        match &shape.kind {
            Kind::Any | Kind::Raw(_) => false,
            Kind::Ref(name) => {
                find_def(self.defs, name).is_some_and(|target| self.collect_leaves(target, depth + 1, leaves))
            }
            Kind::Union(union) => {
                union.variants.iter().all(|variant| self.collect_leaves(variant, depth + 1, leaves))
            }
            // A value that matches all parts has the type of each; the other rules are validated afterwards.
            Kind::All(parts) => parts.iter().any(|part| {
                let length = leaves.len();
                let is_complete = self.collect_leaves(part, depth + 1, leaves);
                if !is_complete {
                    leaves.truncate(length);
                }
                is_complete
            }),
            _ => {
                leaves.push(shape);
                true
            }
        }
    }

    /// Returns the only conversion that is valid, or else the only conversion, whose problems validation reports.
    fn only_conversion(&self, candidates: impl Iterator<Item = Value>, shape: &Shape) -> Option<Value> {
        let mut conversions: Vec<Value> = candidates.collect();
        remove_duplicates(&mut conversions);
        if conversions.len() > 1 {
            conversions.retain(|candidate| fits(candidate, shape, self.defs));
        }
        conversions.pop().filter(|_| conversions.is_empty())
    }

    /// Converts a value to an array or an object.
    fn coerce_compound(&self, value: &Value, leaf: &'a Shape) -> Option<Value> {
        if let (Value::String(text), Kind::Array(_) | Kind::Tuple(_) | Kind::Object(_)) = (value, &leaf.kind)
            && text.trim_start().starts_with(['[', '{'])
        {
            let is_exact =
                |parsed: &Value| allows_type(parsed, leaf) && rounded_integers(text, parsed).is_empty();
            let parsed = serde_json::from_str(text).ok().filter(is_exact)?;
            return Some(self.coerce(&parsed, leaf).unwrap_or(parsed));
        }
        let Kind::Array(rules) = &leaf.kind else { return None };
        let item = match value {
            Value::String(text) if text.is_empty() || text.contains(',') => return None,
            Value::Array(_) | Value::Object(_) | Value::Null => return None,
            value => self.coerce(value, &rules.items).unwrap_or_else(|| value.clone()),
        };
        let types = self.leaves(&rules.items);
        let is_allowed = types.is_none_or(|types| types.iter().any(|leaf| allows_type(&item, leaf)));
        is_allowed.then(|| Value::Array(vec![item]))
    }

    /// Converts the items of an array. They are sent as strings unless they are arrays or objects.
    fn coerce_items(&self, items: &[Value], rules: &'a ArrayRules) -> Option<Value> {
        let coerced: Vec<Option<Value>> =
            items.iter().map(|item| self.coerce_inner(item, &rules.items)).collect();
        let all_items = || {
            coerced.iter().zip(items).map(|(coerced, item)| coerced.clone().unwrap_or_else(|| item.clone()))
        };
        coerced.iter().any(Option::is_some).then(|| all_items().collect())
    }

    fn coerce_members(&self, members: &Map<String, Value>, rules: &'a ObjectRules) -> Option<Value> {
        let mut coerced = Cow::Borrowed(members);
        for (key, value) in members {
            let shape = match (rules.field(key, Access::ReadOnly), &rules.extra) {
                (Some(field), _) => &field.shape,
                (None, Extra::Of(shape)) => shape,
                _ => continue,
            };
            if let Some(converted) = self.coerce_inner(value, shape) {
                coerced.to_mut().insert(key.clone(), converted);
            }
        }
        matches!(coerced, Cow::Owned(_)).then(|| Value::Object(coerced.into_owned()))
    }

    /// Converts a scalar in an array or an object. Nested arrays and objects are JSON.
    fn coerce_inner(&self, value: &Value, shape: &'a Shape) -> Option<Value> {
        let leaves = self.leaves(shape)?;
        if let Some(enumerated) = self.coerce_to_enum(value, &leaves, shape) {
            return Some(enumerated);
        }
        match leaves.iter().any(|leaf| allows_type(value, leaf)) {
            true => None,
            false => self.only_conversion(leaves.iter().filter_map(|leaf| coerce_scalar(value, leaf)), shape),
        }
    }

    /// Returns the enumerated value with the same text, if the value is not enumerated itself and no other
    /// alternative accepts its type.
    fn coerce_to_enum(&self, value: &Value, leaves: &[&'a Shape], shape: &Shape) -> Option<Value> {
        let (lists, others): (Vec<&Shape>, Vec<&Shape>) =
            leaves.iter().copied().partition(|leaf| matches!(leaf.kind, Kind::Enum(_)));
        if lists.is_empty() {
            return None;
        }
        let is_unchanged =
            others.iter().any(|leaf| allows_type(value, leaf)) || fits(value, shape, self.defs);
        (!is_unchanged).then(|| {
            self.only_conversion(lists.iter().filter_map(|leaf| coerce_scalar(value, leaf)), shape)
        })?
    }
}

/// Whether a shape that is neither a union nor a reference allows the type of a value.
fn allows_type(value: &Value, leaf: &Shape) -> bool {
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

/// Converts a scalar to the type of a shape, with the same text.
fn coerce_scalar(value: &Value, leaf: &Shape) -> Option<Value> {
    let text = text_of(value)?;
    match &leaf.kind {
        Kind::String(_) => Some(Value::String(text)),
        Kind::Boolean => text.parse().ok().map(Value::Bool),
        Kind::Integer(_) => parse_integer(&text),
        Kind::Number(_) => parse_integer(&text).or_else(|| parse_decimal(&text)),
        Kind::Enum(values) => {
            let mut matching = values
                .iter()
                .map(Literal::to_json)
                .filter(|candidate| text_of(candidate).as_ref() == Some(&text));
            matching.next().filter(|_| matching.next().is_none())
        }
        _ => None,
    }
}

/// Returns the text of a scalar, if its original notation is certain.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// Parses a 64-bit integer in the form in which it is sent: without `+`, spaces and leading zeros.
fn parse_integer(text: &str) -> Option<Value> {
    let signed = text.parse::<i64>().ok().filter(|number| number.to_string() == text).map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().filter(|number| number.to_string() == text).map(Value::from))
}

/// Parses a decimal fraction that a float represents as written, except for trailing zeros.
fn parse_decimal(text: &str) -> Option<Value> {
    let (integer_part, fraction) = text.split_once('.')?;
    let is_decimal = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse::<f64>().ok().filter(|number| is_decimal && number.is_finite())?;
    let significant = fraction.trim_end_matches('0');
    let canonical = if significant.is_empty() {
        integer_part.to_owned()
    } else {
        format!("{integer_part}.{significant}")
    };
    (number.to_string() == canonical).then(|| Value::from(number))
}
