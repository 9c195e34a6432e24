//! Checks and decodes a model's arguments against a [`Shape`].
//!
//! Arguments are checked first, and then converted to the form the tool takes. Both steps agree with JSON Schema
//! 2020-12 on the plain rendering of the shape, with these deliberate differences:
//!
//! - `format` is checked for the ranges of integers (`int32`, `uint64` and the like), and is otherwise an annotation.
//!   An integer beyond 64 bits is refused, since no [`Value`] holds it as it is. Of the rules in
//!   [`Kind::Raw`](super::Kind::Raw), references that the tree does not follow are not checked, nor are conditions
//!   whose answer is not known for sure.
//! - Patterns that do not parse are ignored, and a text that takes too many steps to be held against one
//!   [passes](decode_owned). A value that takes too many steps to be checked as a whole is refused.
//! - `multipleOf` with decimals such as `0.1` allows for the error of floating point numbers.
//! - Fields are also accepted under their wire names and aliases; read-only fields are unknown.
//! - With a discriminator, only the variant it names is tried.
//!
//! What is wrong with a value of a union is reported for the variant that was meant: the one with its tag, its key or
//! its JSON type, then the one that knows most of its keys. If none was meant, all are reported.
//!
//! Arguments that are sent as texts are read first, by `texts`.
//!
//! A value may fit several variants of `oneOf`: it is rendered as `anyOf` unless no value can.

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

/// Checks arguments and returns them in the form the tool takes: fields under their wire names, `5.0` as `5` for an
/// integer, without each `null` that the dialect makes a model send for an optional field, and with values that it
/// makes a model write in another form (as JSON text, as pairs, under another key) converted back. Nothing else is
/// changed and no default is filled in. Problems are at the places where the model wrote the values.
///
/// # Errors
///
/// Returns every problem at once, in the order of the arguments, but no more than the first hundred.
pub fn decode(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
) -> Result<Value, Vec<ArgumentProblem>> {
    decode_telling(arguments, shape, defs, dialect, &mut Vec::new())
}

fn decode_telling(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
    untried: &mut Vec<ArgumentProblem>,
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
    let Some(read) = read::read(arguments, shape, defs, dialect) else {
        let problems = checker.problems_of(arguments, shape);
        untried.append(&mut checker.untried);
        return if problems.is_empty() { checker.transformed(arguments, shape) } else { Err(problems) };
    };
    let problems = checker.problems_of(&read.value, shape).into_iter().map(|problem| read.placed(problem));
    let problems: Vec<ArgumentProblem> = read.problems.iter().cloned().chain(problems).collect();
    untried.extend(std::mem::take(&mut checker.untried).into_iter().map(|passed| read.placed(passed)));
    if problems.is_empty() { checker.transformed(&read.value, shape) } else { Err(problems) }
}

/// As [`decode`], for owned arguments: those that need no change are returned untouched. Adds to `untried` each text and
/// each key that passed though nothing is known about it, since holding it against its pattern takes too many steps; the
/// operator of the tool should read of it.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_owned(
    arguments: Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
    untried: &mut Vec<ArgumentProblem>,
) -> Result<Value, Vec<ArgumentProblem>> {
    if arguments.is_object() && fast_path::is_exact(&arguments, shape, defs, dialect) {
        return Ok(arguments);
    }
    decode_telling(&arguments, shape, defs, dialect, untried)
}

/// Returns every problem with a result of a tool, in the sense of JSON Schema: write-only fields are unknown.
#[must_use]
pub fn result_problems(result: &Value, shape: &Shape, defs: &List<Def>) -> Vec<ArgumentProblem> {
    match fast_path::is_exact_result(result, shape, defs) {
        true => Vec::new(),
        false => all_result_problems(result, shape, defs),
    }
}

/// The same the long way, which tells.
fn all_result_problems(result: &Value, shape: &Shape, defs: &List<Def>) -> Vec<ArgumentProblem> {
    let mut checker = Checker::new(defs, &JSON_SCHEMA);
    (checker.hidden, checker.is_result) = (Access::WriteOnly, true);
    checker.problems_of(result, shape)
}

#[cfg(test)]
pub(in crate::schema::shape) mod tests;
