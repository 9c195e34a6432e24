//! Coerces defaults and examples that are invalid under their own schema, or drops them. The targets of references
//! must be known.

use serde_json::Value;

use super::children::map_children;
use super::decode::string_coercion::read_text;
use super::decode::{ArgumentProblem, fits, problems_as};
use super::{Access, Def, Kind, Literal, Shape, prose, resolved};
use crate::base::frozen::List;

/// Maximum nesting of shapes that are changed.
const MAX_DEPTH: usize = 64;

/// Returns the shape with valid defaults and examples, and the problems of the others. `None` if all are valid as
/// written.
#[must_use]
pub fn with_valid_values(shape: &Shape, defs: &List<Def>) -> Option<(Shape, Vec<String>)> {
    let mut values = InvalidValues::default();
    let shape = values.with_valid_literals(shape, defs, 0);
    (values.any_coerced || !values.problems.is_empty()).then_some((shape, values.problems))
}

/// Returns the arguments of a call, with invalid arguments coerced.
#[must_use]
pub fn coerce_arguments(arguments: &Value, input: &Shape, defs: &List<Def>) -> Value {
    let mut suggestion = arguments.clone();
    if let (Value::Object(members), Some(Kind::Object(rules))) =
        (&mut suggestion, resolved(input, defs).map(|input| &input.kind))
    {
        for (key, value) in members {
            let Some(field) = rules.field(key, Access::ReadOnly) else { continue };
            if invalid_reason(value, &field.shape, defs).is_some()
                && let Some(coerced) = coerce_value(value, &field.shape, defs)
            {
                *value = coerced;
            }
        }
    }
    suggestion
}

/// Coerces a default or an example that is invalid as written. A string is read as the JSON value that it contains,
/// or as array items that are separated by commas; a single item becomes an array; a number becomes a string. `None`
/// if no result is valid.
pub(in crate::schema::shape) fn coerce_value(
    value: &Value,
    shape: &Shape,
    defs: &List<Def>,
) -> Option<Value> {
    let comma_separated = || {
        let items = value.as_str().filter(|text| text.contains(','))?.split(',');
        let items: Value = items.map(|text| Value::from(text.trim())).collect();
        Some(read_text(&items, shape, defs).unwrap_or(items))
    };
    let text = value.is_number().then(|| Value::from(value.to_string()));
    let candidates = [read_text(value, shape, defs), comma_separated(), text];
    candidates.into_iter().flatten().find(|candidate| invalid_reason(candidate, shape, defs).is_none())
}

/// Returns why a value in a document is valid neither in a request nor in a response: each of them may have fields
/// that the other must not have.
pub(in crate::schema::shape) fn invalid_reason(
    value: &Value,
    shape: &Shape,
    defs: &List<Def>,
) -> Option<String> {
    if fits(value, shape, defs) {
        return None;
    }
    let ArgumentProblem { pointer, message, .. } =
        problems_as(value, shape, defs, Access::WriteOnly).into_iter().next()?;
    Some(if pointer.is_empty() { message } else { format!("at {pointer}, {message}") })
}

/// The result of a pass over a shape.
#[derive(Default)]
struct InvalidValues {
    /// The invalid values, with reasons.
    problems: Vec<String>,
    /// Whether a value was coerced.
    any_coerced: bool,
}

impl InvalidValues {
    fn with_valid_literals(&mut self, shape: &Shape, defs: &List<Def>, depth: usize) -> Shape {
        if depth > MAX_DEPTH {
            return shape.clone();
        }
        let kind =
            map_children(&shape.kind, &mut |_, inner| self.with_valid_literals(inner, defs, depth + 1));
        let examples =
            shape.examples.iter().filter_map(|example| self.valid_literal("example", example, shape, defs));
        let examples = examples.collect();
        let default =
            shape.default.as_ref().and_then(|default| self.valid_literal("default", default, shape, defs));
        Shape { kind, examples, default, ..shape.clone() }
    }

    fn valid_literal(
        &mut self,
        what: &str,
        literal: &Literal,
        shape: &Shape,
        defs: &List<Def>,
    ) -> Option<Literal> {
        let value = literal.to_json();
        // `null` means that there is no default.
        let is_none = what == "default" && value.is_null();
        let Some(reason) = invalid_reason(&value, shape, defs).filter(|_| !is_none) else {
            return Some(literal.clone());
        };
        if let Some(coerced) = coerce_value(&value, shape, defs) {
            self.any_coerced = true;
            return Some(Literal::of(&coerced));
        }
        self.problems.push(format!("the {what} {} does not fit: {reason}", prose::value(literal)));
        None
    }
}
