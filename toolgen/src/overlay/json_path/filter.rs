//! The filters of a query.

use std::borrow::Cow;

use serde_json::Value;
use toolgen_core::internal::is_found;

use super::{Match, Segment, run};
use crate::source::Pointer;

/// A condition on a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Any(Vec<Test>),
    All(Vec<Test>),
    Not(Box<Test>),
    Compare(Operand, Comparison, Operand),
    /// The query matches something.
    Exists(Query),
    /// A string matches a regular expression, completely or in part.
    Matches {
        text: Operand,
        pattern: Operand,
        is_full: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value to compare.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Literal(Value),
    /// The single value that the query matches.
    Query(Query),
    /// The length of a string, an array or an object.
    Length(Box<Operand>),
    /// The number of values that the query matches.
    Count(Query),
}

/// A query within a filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    /// Whether it starts at the document (`$`) and not at the value being tested (`@`).
    pub(super) absolute: bool,
    pub(super) segments: Vec<Segment>,
}

impl Query {
    fn find<'v>(&self, value: &'v Value, root: &'v Value) -> Vec<Match<'v>> {
        let value = if self.absolute { root } else { value };
        run(&self.segments, Match { value, pointer: Pointer::ROOT }, root)
    }
}

impl Operand {
    /// Returns the value, if there is one.
    fn value<'v>(&'v self, value: &'v Value, root: &'v Value) -> Option<Cow<'v, Value>> {
        match self {
            Operand::Literal(literal) => Some(Cow::Borrowed(literal)),
            Operand::Query(query) => match query.find(value, root).as_slice() {
                [only] => Some(Cow::Borrowed(only.value)),
                _ => None,
            },
            Operand::Length(operand) => {
                let length = match &*operand.value(value, root)? {
                    Value::String(text) => text.chars().count(),
                    Value::Array(items) => items.len(),
                    Value::Object(members) => members.len(),
                    _ => return None,
                };
                Some(Cow::Owned(Value::from(length)))
            }
            Operand::Count(query) => Some(Cow::Owned(Value::from(query.find(value, root).len()))),
        }
    }
}

impl Test {
    pub(super) fn matches(&self, value: &Value, root: &Value) -> bool {
        match self {
            Test::Any(tests) => tests.iter().any(|test| test.matches(value, root)),
            Test::All(tests) => tests.iter().all(|test| test.matches(value, root)),
            Test::Not(test) => !test.matches(value, root),
            Test::Compare(left, comparison, right) => {
                compare(left.value(value, root).as_deref(), *comparison, right.value(value, root).as_deref())
            }
            Test::Exists(query) => !query.find(value, root).is_empty(),
            Test::Matches { text, pattern, is_full } => {
                let operands = (text.value(value, root), pattern.value(value, root));
                let (Some(text), Some(pattern)) = operands else { return false };
                let (Value::String(text), Value::String(pattern)) = (&*text, &*pattern) else { return false };
                let pattern = if *is_full {
                    Cow::Owned(format!("^(?:{pattern})$"))
                } else {
                    Cow::Borrowed(pattern.as_str())
                };
                is_found(&pattern, text)
            }
        }
    }
}

fn compare(left: Option<&Value>, comparison: Comparison, right: Option<&Value>) -> bool {
    match comparison {
        Comparison::Equal => are_equal(left, right),
        Comparison::NotEqual => !are_equal(left, right),
        Comparison::Less => is_less(left, right),
        Comparison::LessOrEqual => is_less(left, right) || are_equal(left, right),
        Comparison::Greater => is_less(right, left),
        Comparison::GreaterOrEqual => is_less(right, left) || are_equal(left, right),
    }
}

/// Whether two values are equal; two missing values are equal.
fn are_equal(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(Value::Number(left)), Some(Value::Number(right))) => {
            left == right || left.as_f64().is_some_and(|value| right.as_f64() == Some(value))
        }
        (left, right) => left == right,
    }
}

fn is_less(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(Value::Number(left)), Some(Value::Number(right))) => left.as_f64() < right.as_f64(),
        (Some(Value::String(left)), Some(Value::String(right))) => left < right,
        _ => false,
    }
}
