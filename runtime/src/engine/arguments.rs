//! The arguments of a call as an engine reads them.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::frozen::Text;
use crate::call::error::ToolError;
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use crate::schema::shape::{Field, Kind, resolved};
use crate::spec::ToolSpec;
use crate::spec::template::{Reference, Root, Unfilled};

/// The defaults of a tool's arguments, by their wire names.
#[derive(Clone)]
pub(super) struct Defaults(Arc<[(Text, Value)]>);

impl Defaults {
    /// Collects the defaults of the schema.
    pub(super) fn of(spec: &ToolSpec) -> Defaults {
        let Some(Kind::Object(rules)) = resolved(&spec.input, &spec.defs).map(|shape| &shape.kind) else {
            return Defaults(Arc::default());
        };
        let default = |field: &Field| {
            Some((field.wire_name().to_owned().into(), field.shape.default.as_ref()?.to_json()))
        };
        Defaults(rules.fields.iter().filter_map(default).collect())
    }

    /// Adds the defaults of the arguments that are not given.
    pub(super) fn fill(&self, params: &mut Value) {
        let Value::Object(arguments) = params else { return };
        for (name, value) in self.0.iter() {
            arguments.entry(name.as_str()).or_insert_with(|| value.clone());
        }
    }

    /// Returns decoded arguments with the defaults of those that are not given.
    pub(super) fn complete(&self, mut params: Value) -> Map<String, Value> {
        self.fill(&mut params);
        match params {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        }
    }
}

/// Returns the error for a value of a call that cannot be used.
pub(super) fn unusable(
    reference: &Reference,
    kind: ArgumentProblemKind,
    message: impl Into<String>,
) -> ToolError {
    let message = message.into();
    match &reference.root {
        Root::Argument(name) => {
            let problem = ArgumentProblem { pointer: String::new(), kind, message };
            let within = |problem: ArgumentProblem, key: &Text| problem.within(key);
            let problem = reference.path.iter().rev().fold(problem, within);
            ToolError::from_problems(vec![problem.within(name)])
        }
        Root::Step(_) | Root::Item => ToolError::failed(format!("{reference}: {message}")),
    }
}

/// Returns the error for a value that is needed and not there.
pub(super) fn missing(Unfilled(reference): Unfilled) -> ToolError {
    unusable(&reference, ArgumentProblemKind::Missing, "there is no value, and the call needs one")
}
