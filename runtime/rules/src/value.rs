//! The values of conditions when a call is decided.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value};
use toolgen_core::Text;
use toolgen_core::schema::shape::Literal;

/// A constant of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Const {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    List(Vec<Const>),
}

impl Const {
    /// Returns the constant of a scalar.
    pub(crate) fn of(literal: &Literal) -> Option<Const> {
        match literal.to_json() {
            Value::Null => Some(Const::Null),
            Value::Bool(value) => Some(Const::Bool(value)),
            Value::Number(number) => match number.as_i64() {
                Some(value) => Some(Const::Int(value)),
                None => number.as_f64().filter(|_| !number.is_u64()).map(Const::Double),
            },
            Value::String(text) => Some(Const::Text(text)),
            Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(crate) fn value(&self) -> Val<'_> {
        match self {
            Const::Null => Val::Null,
            Const::Bool(value) => Val::Bool(*value),
            Const::Int(value) => Val::Int(*value),
            Const::Double(value) => Val::Double(*value),
            Const::Text(text) => Val::Text(Cow::Borrowed(text)),
            Const::List(items) => Val::Constants(items),
        }
    }
}

/// A value. Nothing of a call is copied.
#[derive(Clone, Debug)]
pub(crate) enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above the largest `Int`.
    Large(u64),
    Double(f64),
    Text(Cow<'a, str>),
    List(&'a [Value]),
    Constants(&'a [Const]),
    Scopes(&'a [Text]),
    Values(Vec<Val<'a>>),
    Object(&'a Map<String, Value>),
}

impl<'a> Val<'a> {
    pub(crate) fn of(value: &'a Value) -> Val<'a> {
        match value {
            Value::Null => Val::Null,
            Value::Bool(value) => Val::Bool(*value),
            Value::Number(number) => {
                if let Some(value) = number.as_i64() {
                    Val::Int(value)
                } else if let Some(value) = number.as_u64() {
                    Val::Large(value)
                } else {
                    Val::Double(number.as_f64().unwrap_or(f64::NAN))
                }
            }
            Value::String(text) => Val::Text(Cow::Borrowed(text)),
            Value::Array(items) => Val::List(items),
            Value::Object(members) => Val::Object(members),
        }
    }

    /// Returns the type for a message.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Val::Null => "null",
            Val::Bool(_) => "a boolean",
            Val::Int(_) | Val::Large(_) => "an integer",
            Val::Double(_) => "a number",
            Val::Text(_) => "a string",
            Val::List(_) | Val::Constants(_) | Val::Scopes(_) | Val::Values(_) => "a list",
            Val::Object(_) => "an object",
        }
    }

    /// Returns the items of a list.
    pub(crate) fn items(&self) -> Option<Vec<Val<'a>>> {
        match self {
            Val::List(items) => Some(items.iter().map(Val::of).collect()),
            Val::Constants(items) => Some(items.iter().map(Const::value).collect()),
            Val::Scopes(items) => {
                Some(items.iter().map(|item| Val::Text(Cow::Borrowed(item.as_str()))).collect())
            }
            Val::Values(items) => Some(items.clone()),
            _ => None,
        }
    }

    /// Returns whether a list contains a value, or an object a member; `None` for other values.
    pub(crate) fn contains(&self, wanted: &Val<'_>) -> Option<bool> {
        Some(match self {
            Val::List(items) => items.iter().any(|item| Val::of(item).equals(wanted)),
            Val::Constants(items) => items.iter().any(|item| item.value().equals(wanted)),
            Val::Scopes(items) => {
                matches!(wanted, Val::Text(text) if items.iter().any(|item| item.as_str() == text.as_ref()))
            }
            Val::Values(items) => items.iter().any(|item| item.equals(wanted)),
            Val::Object(members) => matches!(wanted, Val::Text(text) if members.contains_key(text.as_ref())),
            _ => return None,
        })
    }

    /// Returns the number of characters, items or members.
    pub(crate) fn size(&self) -> Option<usize> {
        Some(match self {
            Val::Text(text) => text.chars().count(),
            Val::List(items) => items.len(),
            Val::Constants(items) => items.len(),
            Val::Scopes(items) => items.len(),
            Val::Values(items) => items.len(),
            Val::Object(members) => members.len(),
            _ => return None,
        })
    }

    pub(crate) fn equals(&self, other: &Val<'_>) -> bool {
        match (self, other) {
            (Val::Null, Val::Null) => true,
            (Val::Bool(left), Val::Bool(right)) => left == right,
            (Val::Text(left), Val::Text(right)) => left == right,
            (Val::Object(left), Val::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(name, value)| {
                        right.get(name).is_some_and(|other| Val::of(value).equals(&Val::of(other)))
                    })
            }
            (left, right) => match (left.size(), right.size()) {
                (None, None) => left.compare(right) == Some(Ordering::Equal),
                (Some(left_size), Some(right_size)) if left_size == right_size => {
                    let (left, right) = (left.items(), right.items());
                    left.zip(right).is_some_and(|(left, right)| {
                        left.iter().zip(&right).all(|(left, right)| left.equals(right))
                    })
                }
                _ => false,
            },
        }
    }

    /// Compares numbers by their mathematical values, and strings by their characters.
    pub(crate) fn compare(&self, other: &Val<'_>) -> Option<Ordering> {
        match (self, other) {
            (Val::Int(left), Val::Int(right)) => Some(left.cmp(right)),
            (Val::Large(left), Val::Large(right)) => Some(left.cmp(right)),
            (Val::Int(_), Val::Large(_)) => Some(Ordering::Less),
            (Val::Large(_), Val::Int(_)) => Some(Ordering::Greater),
            (Val::Double(left), Val::Double(right)) => left.partial_cmp(right),
            (Val::Int(left), Val::Double(right)) => compare_exactly((*left).into(), *right),
            (Val::Large(left), Val::Double(right)) => compare_exactly((*left).into(), *right),
            (Val::Double(_), Val::Int(_) | Val::Large(_)) => other.compare(self).map(Ordering::reverse),
            (Val::Text(left), Val::Text(right)) => Some(left.as_ref().cmp(right.as_ref())),
            _ => None,
        }
    }

    /// Returns the value as JSON, for reports.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Val::Null => Value::Null,
            Val::Bool(value) => (*value).into(),
            Val::Int(value) => (*value).into(),
            Val::Large(value) => (*value).into(),
            Val::Double(value) => (*value).into(),
            Val::Text(text) => text.as_ref().into(),
            Val::Object(members) => Value::Object((*members).clone()),
            list => list.items().unwrap_or_default().iter().map(Val::to_json).collect(),
        }
    }
}

/// Compares an integer with a float, without rounding.
fn compare_exactly(int: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.abs() >= 2f64.powi(64) {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
    let whole = float.trunc() as i128;
    Some(int.cmp(&whole).then_with(|| 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal)))
}
