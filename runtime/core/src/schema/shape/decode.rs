//! Validates and decodes a model's arguments against a [`Shape`].
//!
//! Arguments are validated first, and then converted to the form that the tool takes. Both steps agree with JSON
//! Schema 2020-12 on the plain rendering of the shape, with these deliberate differences:
//!
//! - `format` is checked only for the ranges of integers (`int32`, `uint64` and similar) and is otherwise an
//!   annotation. An integer beyond 64 bits is rejected, since a [`Value`] cannot represent it. Of the rules in
//!   [`Kind::Raw`](super::Kind::Raw), unresolved references are not checked, nor are conditions whose result is
//!   uncertain.
//! - Patterns that do not parse are ignored, and a string that takes too many steps to match [is
//!   accepted](decode_owned). A value that takes too many steps to check as a whole is rejected.
//! - `multipleOf` with decimals such as `0.1` tolerates the error of floating point numbers.
//! - Fields are also accepted under their wire names and aliases; read-only fields are unknown.
//! - With a discriminator, only the variant that it names is tried.
//!
//! The problems of a value of a union are those of the intended variant: the one selected by its tag, its key or its
//! JSON type, or else the one that has most of the keys. If none is selected, the message lists all variants.
//!
//! Arguments that are sent as strings are parsed first, by `string_coercion`.
//!
//! A value may match several variants of `oneOf`: it is rendered as `anyOf` unless the variants are disjoint.

pub(crate) mod borrowed;
pub(crate) mod check;
mod closest_variant;
mod conditions;
pub(crate) mod describe;
pub(crate) mod fast_path;
pub(crate) mod integers;
mod literals;
pub(super) mod object_variants;
mod objects;
pub(crate) mod string_coercion;
pub(crate) mod transform;
mod unions;

use serde_json::Value;

use super::codec::read;
use super::{Access, Def, Shape};
use crate::base::frozen::List;
use crate::schema::dialect::{Dialect, JSON_SCHEMA};

use check::Checker;
pub(crate) use check::fits;
pub use check::{ArgumentProblem, ArgumentProblemKind};
pub(super) use check::{fits_as, named_variant, problems_as};

/// Validates arguments and returns them in the form that the tool takes: with fields under their wire names, `5.0` as
/// `5` for an integer, and without each `null` that the dialect requires for an absent optional field. Values that
/// the dialect requires in another form (as JSON text, as pairs, under another key) are converted back. Nothing else
/// is changed, and no default is filled in. Problems have the location at which the model wrote the value.
///
/// # Errors
///
/// Returns all problems together, in the order of the arguments, but at most 100.
pub fn decode(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
) -> Result<Value, Vec<ArgumentProblem>> {
    decode_reporting(arguments, shape, defs, dialect, &mut Vec::new())
}

fn decode_reporting(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
    unchecked: &mut Vec<ArgumentProblem>,
) -> Result<Value, Vec<ArgumentProblem>> {
    let mut checker = Checker::new(defs, dialect);
    if !arguments.is_object() {
        return Err(vec![ArgumentProblem {
            pointer: String::new(),
            kind: ArgumentProblemKind::Type,
            message: format!(
                "expected an object with the arguments, got {}",
                describe::describe_value(arguments)
            ),
        }]);
    }
    let Some(decoded) = read::read(arguments, shape, defs, dialect) else {
        let problems = checker.problems_of(arguments, shape);
        unchecked.append(&mut checker.unchecked);
        return if problems.is_empty() { checker.try_transform(arguments, shape) } else { Err(problems) };
    };
    let problems =
        checker.problems_of(&decoded.value, shape).into_iter().map(|problem| decoded.relocated(problem));
    let problems: Vec<ArgumentProblem> = decoded.problems.iter().cloned().chain(problems).collect();
    unchecked
        .extend(std::mem::take(&mut checker.unchecked).into_iter().map(|problem| decoded.relocated(problem)));
    if problems.is_empty() { checker.try_transform(&decoded.value, shape) } else { Err(problems) }
}

/// Like [`decode`], for owned arguments: arguments that need no change are returned untouched. Adds to `unchecked` each
/// string and each key that was accepted without a check, because matching it against its pattern takes too many
/// steps. The operator of the tool should be informed of these.
///
/// # Errors
///
/// Like [`decode`].
pub fn decode_owned(
    arguments: Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
    unchecked: &mut Vec<ArgumentProblem>,
) -> Result<Value, Vec<ArgumentProblem>> {
    if arguments.is_object() && fast_path::is_exact(&arguments, shape, defs, dialect) {
        return Ok(arguments);
    }
    decode_reporting(&arguments, shape, defs, dialect, unchecked)
}

/// Returns all problems of a tool's result, in the sense of JSON Schema: write-only fields are unknown.
#[must_use]
pub fn result_problems(result: &Value, shape: &Shape, defs: &List<Def>) -> Vec<ArgumentProblem> {
    match fast_path::is_exact_result(result, shape, defs) {
        true => Vec::new(),
        false => all_result_problems(result, shape, defs),
    }
}

/// The slow path, which reports problems.
fn all_result_problems(result: &Value, shape: &Shape, defs: &List<Def>) -> Vec<ArgumentProblem> {
    let mut checker = Checker::new(defs, &JSON_SCHEMA);
    (checker.hidden, checker.is_result) = (Access::WriteOnly, true);
    checker.problems_of(result, shape)
}

#[cfg(test)]
pub(in crate::schema::shape) mod tests;
