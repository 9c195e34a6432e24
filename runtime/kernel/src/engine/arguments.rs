//! Helpers for engines to read the arguments of a call.

use serde_json::{Map, Value};

use crate::base::frozen::Text;
use crate::call::error::ToolError;
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use crate::spec::ToolSpec;
use crate::spec::template::{MissingValue, Reference, Root};

/// Returns checked arguments, with the schema's defaults for omitted arguments.
#[doc(hidden)]
pub fn complete(spec: &ToolSpec, params: Value) -> Map<String, Value> {
    match spec.with_defaults(params) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// Returns the error for an unusable value of a call.
#[doc(hidden)]
pub fn unusable(reference: &Reference, kind: ArgumentProblemKind, message: impl Into<String>) -> ToolError {
    let message = message.into();
    match &reference.root {
        Root::Argument(name) => {
            let problem = ArgumentProblem { pointer: String::new(), kind, message };
            let add_key = |problem: ArgumentProblem, key: &Text| problem.within(key);
            let problem = reference.path.iter().rev().fold(problem, add_key);
            ToolError::from_problems(vec![problem.within(name)])
        }
        Root::Step(_) | Root::Item => ToolError::failed(format!("{reference}: {message}")),
    }
}

/// Returns the error for a required value that is missing.
#[doc(hidden)]
pub fn missing(MissingValue(reference): MissingValue) -> ToolError {
    unusable(&reference, ArgumentProblemKind::Missing, "there is no value, and the call needs one")
}
