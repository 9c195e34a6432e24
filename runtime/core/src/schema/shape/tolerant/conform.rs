//! Leaves out the parts of a value that deviate from the tolerant form of its shape.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::ptr;

use serde_json::Value;

use super::{Members, Scalar, View, view};
use crate::base::frozen::List;
use crate::schema::shape::{Def, Shape, pointer};

/// A part of a result that is left out of its structured form, because it has another type than declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Omission {
    /// The location in the result, as a JSON pointer; empty for the result as a whole. Long keys are cut.
    pub pointer: String,
    /// The declared type, such as `an object`.
    pub expected: String,
    /// The type of the value.
    pub got: &'static str,
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Omission { pointer, expected, got } = self;
        let location = if pointer.is_empty() { "the result" } else { pointer };
        write!(f, "{location}: expected {expected}, got {got}")
    }
}

/// Returns a value without the parts that have another type than its shape declares: members of objects are removed,
/// and items of arrays become `null`. Returns no value if the value itself has another type. Also returns what was
/// left out, in the order of the value.
#[must_use]
pub(crate) fn conform(value: Value, shape: &Shape, defs: &List<Def>) -> (Option<Value>, Vec<Omission>) {
    let (path, costs, omitted, omissions) = Default::default();
    let mut reader = Reader { defs, path, costs, omitted, omissions };
    if !reader.collect(&value, shape) {
        reader.omit(&value, shape);
        return (None, reader.omissions);
    }
    let Reader { omitted, omissions, .. } = reader;
    if omissions.is_empty() {
        return (Some(value), omissions);
    }
    (Some(without(&value, &omitted)), omissions)
}

struct Reader<'a> {
    defs: &'a List<Def>,
    path: String,
    /// The number of parts of a value that a union leaves out, by the addresses of the value and of the union.
    costs: HashMap<(*const Value, *const Shape), Option<usize>>,
    /// The addresses of the values that are left out.
    omitted: HashSet<*const Value>,
    omissions: Vec<Omission>,
}

impl<'a> Reader<'a> {
    /// Collects the parts to leave out of a value. Returns false if the value itself has another type.
    fn collect(&mut self, value: &Value, shape: &'a Shape) -> bool {
        if value.is_null() {
            return true;
        }
        match (view(shape, self.defs), value) {
            (View::Any, _) => true,
            (View::Scalar(scalar, _), _) => scalar.accepts(value),
            (View::Array(items), Value::Array(values)) => {
                values.iter().enumerate().for_each(|(index, value)| self.part(index, value, items));
                true
            }
            (View::Tuple(items, rest), Value::Array(values)) => {
                for (index, value) in values.iter().enumerate() {
                    if let Some(shape) = items.get(index).or(rest) {
                        self.part(index, value, shape);
                    }
                }
                true
            }
            (View::Object(members), Value::Object(values)) => {
                for (name, value) in values {
                    if let Some(shape) = members.shape(name) {
                        self.part(name, value, shape);
                    }
                }
                true
            }
            (View::Union(variants), _) => match self.best(value, &variants) {
                Some((_, variant)) => self.collect(value, variant),
                None => false,
            },
            _ => false,
        }
    }

    fn part(&mut self, token: impl fmt::Display, value: &Value, shape: &'a Shape) {
        let length = self.path.len();
        pointer::push_truncated(&mut self.path, &token.to_string());
        if !self.collect(value, shape) {
            self.omit(value, shape);
        }
        self.path.truncate(length);
    }

    fn omit(&mut self, value: &Value, shape: &Shape) {
        self.omitted.insert(ptr::from_ref(value));
        let expected = expected(shape, self.defs);
        self.omissions.push(Omission { pointer: self.path.clone(), expected, got: type_of(value) });
    }

    /// Returns the variant that leaves out the fewest parts of a value, and their number.
    fn best(&mut self, value: &Value, variants: &[&'a Shape]) -> Option<(usize, &'a Shape)> {
        let costs = variants.iter().filter_map(|variant| Some((self.cost(value, variant)?, *variant)));
        // The first of several.
        costs.min_by_key(|(cost, _)| *cost)
    }

    /// Returns the number of parts that a shape leaves out of a value; `None` if the value itself has another type.
    fn cost(&mut self, value: &Value, shape: &'a Shape) -> Option<usize> {
        if value.is_null() {
            return Some(0);
        }
        match (view(shape, self.defs), value) {
            (View::Any, _) => Some(0),
            (View::Scalar(scalar, _), _) => scalar.accepts(value).then_some(0),
            (View::Array(items), Value::Array(values)) => {
                Some(values.iter().map(|value| self.part_cost(value, Some(items))).sum())
            }
            (View::Tuple(items, rest), Value::Array(values)) => {
                let values = values.iter().enumerate();
                Some(values.map(|(at, value)| self.part_cost(value, items.get(at).or(rest))).sum())
            }
            (View::Object(members), Value::Object(values)) => {
                Some(values.iter().map(|(name, value)| self.part_cost(value, members.shape(name))).sum())
            }
            (View::Union(variants), _) => {
                let key = (ptr::from_ref(value), ptr::from_ref(shape));
                if let Some(known) = self.costs.get(&key) {
                    return *known;
                }
                let cost = self.best(value, &variants).map(|(cost, _)| cost);
                self.costs.insert(key, cost);
                cost
            }
            _ => None,
        }
    }

    fn part_cost(&mut self, value: &Value, shape: Option<&'a Shape>) -> usize {
        shape.map_or(0, |shape| self.cost(value, shape).unwrap_or(1))
    }
}

/// Copies a value without the parts at these addresses.
fn without(value: &Value, omitted: &HashSet<*const Value>) -> Value {
    let is_kept = |value: &Value| !omitted.contains(&ptr::from_ref(value));
    match value {
        Value::Array(values) => {
            let item = |value| if is_kept(value) { without(value, omitted) } else { Value::Null };
            values.iter().map(item).collect()
        }
        Value::Object(values) => {
            let kept = values.iter().filter(|(_, value)| is_kept(value));
            Value::Object(kept.map(|(name, value)| (name.clone(), without(value, omitted))).collect())
        }
        other => other.clone(),
    }
}

/// Describes the type that a shape declares.
fn expected(shape: &Shape, defs: &List<Def>) -> String {
    match view(shape, defs) {
        View::Any => "any value".to_owned(),
        View::Scalar(Scalar::Boolean, _) => "a boolean".to_owned(),
        View::Scalar(Scalar::Integer, _) => "an integer".to_owned(),
        View::Scalar(Scalar::Number, _) => "a number".to_owned(),
        View::Scalar(Scalar::String, _) => "a string".to_owned(),
        View::Array(_) | View::Tuple(..) => "an array".to_owned(),
        View::Object(Members { .. }) => "an object".to_owned(),
        View::Union(variants) => {
            let types: BTreeSet<String> = variants.iter().map(|variant| expected(variant, defs)).collect();
            types.into_iter().collect::<Vec<_>>().join(" or ")
        }
    }
}

/// Returns the message about a result that is not an object.
#[must_use]
pub(crate) fn wrong_root(result: &Value) -> String {
    let expected = "an object".to_owned();
    Omission { pointer: String::new(), expected, got: type_of(result) }.to_string()
}

/// Returns the type of a value with its article, for messages.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
