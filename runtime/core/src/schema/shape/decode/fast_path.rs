//! The fast path for the common case: arguments that need no change.

use std::cell::Cell;

use serde_json::Value;

use crate::base::frozen::List;
use crate::schema::dialect::Dialect;
use crate::schema::shape::decode::borrowed::BorrowedValue;
use crate::schema::shape::{Access, Def, Extra, Kind, Literal, Number, ObjectRules, Shape, find_def};

/// Maximum nesting of values on the fast path.
const MAX_DEPTH: usize = 32;
/// Maximum number of steps for patterns and enumerations on the fast path. The slow path reports what exceeds its own
/// limit.
const MAX_STEPS: u64 = 1 << 20;

/// How many enumerated strings are compared in the time of one of these steps.
const COMPARISONS_PER_STEP: u64 = 8;

/// The parameters of a check, and its remaining budget.
struct CheckContext<'a> {
    /// Fields with this access are unknown.
    hidden: Access,
    depth: usize,
    /// The remaining steps for patterns and enumerations.
    remaining: &'a Cell<u64>,
}

impl<'a> CheckContext<'a> {
    fn new(hidden: Access, remaining: &'a Cell<u64>) -> CheckContext<'a> {
        CheckContext { hidden, depth: 0, remaining }
    }

    fn deeper(&self) -> CheckContext<'_> {
        CheckContext { depth: self.depth + 1, ..*self }
    }

    /// Counts steps. Returns whether enough steps remained.
    fn spend(&self, steps: u64) -> bool {
        let remaining_steps = self.remaining.get().checked_sub(steps);
        self.remaining.set(remaining_steps.unwrap_or(0));
        remaining_steps.is_some()
    }
}

/// Whether a value is valid and decoding would not change it. `false` is not a decision: the slow path handles
/// problems, and valid values that are less simple.
pub fn is_exact<T: Tree>(value: &T, shape: &Shape, defs: &List<Def>, dialect: &Dialect) -> bool {
    dialect.is_plain()
        && fits(value, shape, defs, &CheckContext::new(Access::ReadOnly, &Cell::new(MAX_STEPS)))
}

/// Like [`is_exact`], for the result of a tool.
pub(super) fn is_exact_result(value: &Value, shape: &Shape, defs: &List<Def>) -> bool {
    fits(value, shape, defs, &CheckContext::new(Access::WriteOnly, &Cell::new(MAX_STEPS)))
}

/// JSON in one of its representations.
pub trait Tree: Sized {
    /// Returns the kind of the value.
    fn view(&self) -> View<'_, Self>;

    /// Returns the entries of an object; none for other values.
    fn entries(&self) -> impl Iterator<Item = (&str, &Self)>;
}

/// The kind of a JSON value.
#[derive(Debug)]
pub enum View<'a, T> {
    Null,
    Bool,
    Number(&'a serde_json::Number),
    Text(&'a str),
    List(&'a [T]),
    Object,
    /// None of these kinds.
    Unknown,
}

impl Tree for Value {
    fn view(&self) -> View<'_, Value> {
        match self {
            Value::Null => View::Null,
            Value::Bool(_) => View::Bool,
            Value::Number(number) => View::Number(number),
            Value::String(text) => View::Text(text),
            Value::Array(items) => View::List(items),
            Value::Object(_) => View::Object,
        }
    }

    fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }
}

impl<'t> Tree for BorrowedValue<'t> {
    fn view(&self) -> View<'_, BorrowedValue<'t>> {
        match self {
            BorrowedValue::Null => View::Null,
            BorrowedValue::Bool(_) => View::Bool,
            BorrowedValue::Number(number) => View::Number(number),
            BorrowedValue::Text(text) => View::Text(text),
            BorrowedValue::List(items) => View::List(items),
            BorrowedValue::Object(_) => View::Object,
            BorrowedValue::Value(_) => View::Unknown,
        }
    }

    fn entries(&self) -> impl Iterator<Item = (&str, &BorrowedValue<'t>)> {
        let entries = match self {
            BorrowedValue::Object(entries) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().map(|(key, value)| (&**key, value))
    }
}

fn fits<T: Tree>(value: &T, shape: &Shape, defs: &List<Def>, context: &CheckContext<'_>) -> bool {
    if context.depth > MAX_DEPTH {
        return false;
    }
    let view = value.view();
    match (&shape.kind, view) {
        (Kind::Ref(name), view) if !shape.nullable || !matches!(view, View::Null) => {
            find_def(defs, name).is_some_and(|target| fits(value, target, defs, &context.deeper()))
        }
        (_, View::Null) => shape.nullable,
        (Kind::Any, View::Bool | View::Text(_)) | (Kind::Boolean, View::Bool) => true,
        (Kind::String(rules), View::Text(text)) => {
            rules.allow_all() || {
                let checked = rules.check(text);
                // The slow path reports uncertain results.
                context.spend(checked.steps) && checked.problems.is_empty() && checked.is_conclusive
            }
        }
        (Kind::Integer(rules), View::Number(number)) => {
            !number.is_f64() && Number::of(number).is_some_and(|number| rules.problem(number).is_none())
        }
        (Kind::Number(rules), View::Number(number)) => {
            !may_be_rounded(number)
                && Number::of(number).is_some_and(|number| rules.problem(number).is_none())
        }
        (Kind::Enum(values), View::Text(text)) => {
            context.spend(values.len() as u64 / COMPARISONS_PER_STEP)
                && values.iter().any(|literal| matches!(literal, Literal::String(string) if *string == text))
        }
        (Kind::Array(rules), View::List(items)) => {
            rules.only_item_checks_remain(items.len())
                && items.iter().all(|item| fits(item, &rules.items, defs, &context.deeper()))
        }
        (Kind::Object(rules), View::Object) => fits_object(value, rules, defs, context),
        _ => false,
    }
}

/// Whether a number may have been an integer that no [`Value`] can represent. Only the JSON text shows that.
fn may_be_rounded(number: &serde_json::Number) -> bool {
    number.is_f64() && number.as_f64().is_some_and(|float| float.abs() >= 2_f64.powi(63))
}

fn fits_object<T: Tree>(
    object: &T,
    rules: &ObjectRules,
    defs: &List<Def>,
    context: &CheckContext<'_>,
) -> bool {
    // Relations concern fields; other keys do not matter.
    if !rules.only_field_checks_remain() || (rules.fields.is_empty() && !rules.relations.is_empty()) {
        return false;
    }
    // The positions of the fields that were found: a JSON text may contain a key twice.
    let mut seen: u64 = 0;
    // Most fields are in the order of the shape.
    let mut next = 0;
    for (key, value) in object.entries() {
        let has_name = |index: &usize| rules.fields.get(*index).is_some_and(|field| field.name == *key);
        let position = Some(next).filter(has_name).or_else(|| (0..rules.fields.len()).find(has_name));
        let is_valid = match position.and_then(|index| Some((index, rules.fields.get(index)?))) {
            Some((index, field)) => {
                next = index + 1;
                let bit = u32::try_from(index).ok().and_then(|index| 1_u64.checked_shl(index)).unwrap_or(0);
                let is_duplicate = seen & bit != 0 || bit == 0;
                seen |= bit;
                !is_duplicate
                    && field.access != context.hidden
                    && field.wire.is_empty()
                    && fits(value, &field.shape, defs, &context.deeper())
            }
            // A wire name or an alias, which the slow path handles.
            None => match &rules.extra {
                Extra::Of(shape) => rules.fields.is_empty() && fits(value, shape, defs, &context.deeper()),
                Extra::Open => rules.fields.is_empty(),
                Extra::Closed => false,
            },
        };
        if !is_valid {
            return false;
        }
    }
    let is_seen =
        |index: usize| u32::try_from(index).is_ok_and(|index| seen.checked_shr(index).unwrap_or(0) & 1 == 1);
    let has_required =
        rules.fields.iter().enumerate().all(|(index, field)| !field.required || is_seen(index));
    let is_set =
        |name: &str| object.entries().any(|(key, value)| key == name && !matches!(value.view(), View::Null));
    has_required && rules.relations.iter().all(|relation| relation.problem(is_set).is_none())
}
